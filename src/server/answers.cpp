// What the API answers about runs: the list, one run, its report, a stretch of a series.
#include "server/answers.h"

#include <cmath>

#include "osler/diagnosis/tree.h"
#include "osler/report/render.h"
#include "osler/run/role.h"
#include "server/json.h"

namespace osler::server {
namespace {

constexpr std::size_t kLongestText = 4096;  // of a configuration value or a mark; a page has no use for more

std::string_view kind_name(Mark::Kind kind) {
  switch (kind) {
    case Mark::Kind::restart:
      return "restart";
    case Mark::Kind::finished:
      return "finished";
    case Mark::Kind::crashed:
      return "crashed";
    case Mark::Kind::note:
      break;
  }
  return "note";
}

Json series_list(const Run& run) {
  Json list = Json::array();
  for (const Series& series : run.all_series()) {
    const Summary& summary = series.summary();
    const auto total = summary.total();
    if (!total) continue;
    const auto recent = summary.recent();
    list.push_back({{"name", series.name()},
                    {"role", to_string(guess_role(series.name()).role)},
                    {"points", summary.points()},
                    {"first_step", total->first_step},
                    {"last_step", total->last_step},
                    {"nonfinite", total->nonfinite},
                    {"newest", recent.empty() ? Json(nullptr) : any_number(recent.back().value)}});
  }
  return list;
}

Json marks_list(const Run& run) {
  Json list = Json::array();
  for (const Mark& mark : run.marks()) {
    list.push_back({{"kind", kind_name(mark.kind)}, {"step", mark.step}, {"text", mark.text.substr(0, kLongestText)}});
  }
  return list;
}

Json way_list(const Report& report) {
  Json list = Json::array();
  for (const TreeStep& step : walk_tree(report)) {
    list.push_back({{"id", step.node->id}, {"answer", to_string(step.answer)}, {"because", step.because}});
  }
  return list;
}

}  // namespace

std::string runs_json(const Library& library) {
  // The revision first: a card that changes in between is then told again, never missed.
  std::string text = "{\"revision\":" + std::to_string(library.revision()) + ",\"runs\":[";
  bool first = true;
  for (const std::string& card : library.cards_json()) {
    if (!first) text += ',';
    first = false;
    text += card;
  }
  return text + "]}";
}

Result<std::string> run_json(Library& library, std::string_view id) {
  std::string text;
  const auto seen = library.with_run(id, [&](const Run& run, const Report& report) {
    Json configuration = Json::object();
    for (const auto& [key, value] : run.configuration()) configuration[key] = value.substr(0, kLongestText);
    text = written({{"id", id},
                    {"name", run.name},
                    {"format", run.format},
                    {"status", to_string(report.status)},
                    {"headline", report.headline},
                    {"sources", run.sources},
                    {"steps", {{"first", report.steps.first}, {"last", report.steps.last}}},
                    {"series", series_list(run)},
                    {"marks", marks_list(run)},
                    {"configuration", std::move(configuration)},
                    {"way", way_list(report)}});
  });
  if (!seen) return seen.error();
  return text;
}

Result<std::string> report_json(Library& library, std::string_view id) {
  std::string text;
  const auto seen = library.with_run(id, [&](const Run&, const Report& report) { text = render_json_line(report); });
  if (!seen) return seen.error();
  return text;
}

Result<std::string> series_json(Library& library, std::string_view id, const std::string& series,
                                const WindowRequest& request) {
  const auto spans = library.window(id, series, request);
  if (!spans) return spans.error();
  Json first = Json::array();
  Json last = Json::array();
  Json time = Json::array();
  Json low = Json::array();
  Json high = Json::array();
  Json mean = Json::array();
  Json points = Json::array();
  Json nonfinite = Json::array();
  const auto finite = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  for (const WindowSpan& span : *spans) {
    first.push_back(span.first_step);
    last.push_back(span.last_step);
    time.push_back(finite(span.first_time));
    low.push_back(finite(span.min));
    high.push_back(finite(span.max));
    mean.push_back(finite(span.mean));
    points.push_back(span.points);
    nonfinite.push_back(span.nonfinite);
  }
  return written({{"name", series},
                  {"first_step", std::move(first)},
                  {"last_step", std::move(last)},
                  {"time", std::move(time)},
                  {"min", std::move(low)},
                  {"max", std::move(high)},
                  {"mean", std::move(mean)},
                  {"points", std::move(points)},
                  {"nonfinite", std::move(nonfinite)}});
}

}  // namespace osler::server
