// One run as the dashboard reads it: what it has, a stretch of a series, layers by time, distributions.
#include "dashboard/run_json.h"

#include <algorithm>
#include <cmath>

#include "dashboard/json.h"
#include "osler/diagnosis/tree.h"
#include "osler/figures/figure.h"
#include "osler/run/role.h"
#include "run/mark_kind.h"
#include "run/series_names.h"

namespace osler::dashboard {
namespace {

constexpr std::size_t kLongestText = 4096;  // of a name, a configuration value or a mark; a page has no use for more

constexpr int kDigits = 7;  // of a value on an axis that may show a small part of its range

bool is_of_layer(Role role) {
  return role == Role::layer_gradient || role == Role::layer_weight || role == Role::layer_update ||
         role == Role::layer_activation;
}

/// A name too long for an address is cut, and the series then asked for by its number.
Json series_json(const Series& series, std::size_t number, Role role) {
  constexpr std::size_t kLongestName = 1000;
  const Summary& summary = series.summary();
  const auto total = summary.total();
  const bool cut = series.name().size() > kLongestName;
  return {{"name", cut ? series.name().substr(0, kLongestName) + "..." : series.name()},
          {"number", cut ? Json(number) : Json(nullptr)},
          {"role", to_string(role)},
          {"points", summary.points()},
          {"first_step", total->first_step},
          {"last_step", total->last_step},
          {"nonfinite", total->nonfinite}};
}

Json marks_list(const Run& run) {
  Json list = Json::array();
  for (const Mark& mark : run.marks()) {
    list.push_back({{"kind", to_string(mark.kind)}, {"step", mark.step}, {"text", mark.text.substr(0, kLongestText)}});
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

/// The thresholds that are a height in the chart of the series that a finding rests on.
Json levels_list(const Run& run, const Report& report) {
  Json list = Json::array();
  for (const Observation& finding : report.findings) {
    if (finding.evidence.empty() || !std::isfinite(finding.evidence.front().threshold)) continue;
    const auto figure = finding_figure(run, report, finding.finding);
    if (!figure || figure->panels.empty()) continue;
    for (const figure::Level& level : figure->panels.front().levels) {
      if (!level.always || level.value != finding.evidence.front().threshold) continue;
      list.push_back(
          {{"finding", finding.finding}, {"series", finding.evidence.front().series}, {"value", level.value}});
    }
  }
  return list;
}

Json histogram_names(const Run& run) {
  Json names = Json::array();
  for (const auto& [id, histograms] : run.histograms()) {
    if (!histograms.empty() && id < run.all_series().size()) names.push_back(run.all_series()[id].name());
  }
  return names;
}

/// Where a value that is not finite came from, as the monitor wrote it: a note of the step in which a series says so.
Json origin_json(const Run& run) {
  for (const Series& series : run.all_series()) {
    if (!series.name().starts_with(series_name::kOriginOf) || series.summary().empty()) continue;
    const std::int64_t step = series.summary().total()->first_step;
    const auto same = [step](const Mark& mark) { return mark.kind == Mark::Kind::note && mark.step == step; };
    const auto note = std::find_if(run.marks().begin(), run.marks().end(), same);
    const std::string text = note == run.marks().end() ? std::string() : note->text.substr(0, kLongestText);
    return {{"step", step}, {"cause", series.name().substr(series_name::kOriginOf.size())}, {"text", text}};
  }
  return nullptr;
}

/// The longest series whose points have wall times, for an axis in time; null when none has.
Json clock_json(const Run& run) {
  const Series* longest = nullptr;
  for (const Series& series : run.all_series()) {
    const auto total = series.summary().total();
    if (!total || !std::isfinite(total->last_time)) continue;
    if (longest == nullptr || series.summary().points() > longest->summary().points()) longest = &series;
  }
  return longest == nullptr ? Json(nullptr) : Json(longest->name());
}

/// Hundredths of a second: more digits than a drawing has would only make it longer.
Json time_json(double seconds) {
  return std::isfinite(seconds) ? Json(std::round(seconds * 100) / 100) : Json(nullptr);
}

/// The wall times of the first and the newest point; null where the log does not tell.
Json times_json(const Run& run) {
  double first = kNoTime;
  double last = kNoTime;
  for (const Series& series : run.all_series()) {
    const auto total = series.summary().total();
    if (!total) continue;
    first = std::fmin(first, total->first_time);
    last = std::fmax(last, total->last_time);
  }
  if (!std::isfinite(first) || !std::isfinite(last)) return nullptr;
  return {{"first", time_json(first)}, {"last", time_json(last)}};
}

/// A column that a reader can do without when `needed` is false for every span.
template <typename Needed, typename Value>
void add_column(Json& json, const char* name, std::span<const WindowSpan> spans, Needed needed, Value value) {
  if (std::none_of(spans.begin(), spans.end(), needed)) return;
  Json column = Json::array();
  for (const WindowSpan& span : spans) column.push_back(value(span));
  json[name] = std::move(column);
}

Json heat_map_json(const figure::Panel& panel, const figure::HeatMap& map) {
  Json cells = Json::array();
  for (const double cell : map.cells) cells.push_back(std::isinf(cell) ? Json("inf") : short_number(cell));
  return {{"heading", panel.heading}, {"rows", map.rows}, {"edges", map.edges}, {"log", map.log}, {"cells", cells}};
}

FigureWish wish_of(const StepWindow& window) {
  FigureWish wish;
  wish.from = window.from;
  wish.to = window.to;
  return wish;
}

}  // namespace

std::string run_json(std::string_view id, const Run& run, const Report& report, std::size_t most_series) {
  Json list = Json::array();
  std::size_t in_all = 0;
  std::size_t of_layers = 0;
  for (std::size_t number = 0; number < run.all_series().size(); ++number) {
    const Series& series = run.all_series()[number];
    if (series.summary().empty()) continue;
    ++in_all;
    const Role role = guess_role(series.name()).role;
    if (is_of_layer(role)) ++of_layers;
    if (list.size() < most_series) list.push_back(series_json(series, number, role));
  }
  Json configuration = Json::object();
  for (const auto& [key, value] : run.configuration()) {
    if (!is_experiment_key(key)) configuration[key.substr(0, kLongestText)] = value.substr(0, kLongestText);
  }
  return written(
      {{"id", id},
       {"name", report.run_name},
       {"format", report.format},
       {"status", to_string(report.status)},
       {"headline", report.headline},
       {"sources", report.sources},
       {"steps", {{"first", report.steps.first}, {"last", report.steps.last}, {"count", report.steps.count}}},
       {"series", std::move(list)},
       {"series_in_all", in_all},
       {"layer_series", of_layers},
       {"histograms", histogram_names(run)},
       {"levels", levels_list(run, report)},
       {"origin", origin_json(run)},
       {"clock", clock_json(run)},
       {"times", times_json(run)},
       {"marks", marks_list(run)},
       {"configuration", std::move(configuration)},
       {"way", way_list(report)}});
}

std::string columns_json(std::string_view name, std::span<const WindowSpan> spans) {
  const auto always = [](const WindowSpan&) { return true; };
  const auto several = [](const WindowSpan& span) { return span.points != 1; };
  const auto spread = [](const WindowSpan& span) { return span.min < span.max; };
  Json json = {{"name", name}, {"first_step", Json::array()}, {"mean", Json::array()}};
  add_column(json, "first_step", spans, always, [](const WindowSpan& span) { return Json(span.first_step); });
  add_column(json, "mean", spans, always, [](const WindowSpan& span) { return short_number(span.mean, kDigits); });
  add_column(json, "last_step", spans, several, [](const WindowSpan& span) { return Json(span.last_step); });
  add_column(json, "points", spans, several, [](const WindowSpan& span) { return Json(span.points); });
  add_column(json, "min", spans, spread, [](const WindowSpan& span) { return short_number(span.min, kDigits); });
  add_column(json, "max", spans, spread, [](const WindowSpan& span) { return short_number(span.max, kDigits); });
  add_column(
      json, "nonfinite", spans, [](const WindowSpan& span) { return span.nonfinite > 0; },
      [](const WindowSpan& span) { return Json(span.nonfinite); });
  add_column(
      json, "time", spans, [](const WindowSpan& span) { return std::isfinite(span.first_time); },
      [](const WindowSpan& span) { return time_json(span.first_time); });
  return written(json);
}

std::string heat_json(const Run& run, const Report& report, const StepWindow& window) {
  Json maps = Json::array();
  if (const auto figure = heatmap_figure(run, report, wish_of(window))) {
    for (const figure::Panel& panel : figure->panels) {
      if (const auto* map = std::get_if<figure::HeatMap>(&panel.content)) maps.push_back(heat_map_json(panel, *map));
    }
  }
  return written({{"maps", std::move(maps)}});
}

Result<std::string> ridge_json(const Run& run, const Report& report, const std::string& series,
                               const StepWindow& window) {
  FigureWish wish = wish_of(window);
  wish.series = {series};
  const auto figure = ridge_figure(run, report, wish);
  if (!figure) return figure.error();
  Json rows = Json::array();
  for (const figure::Panel& panel : figure->panels) {
    const auto* ridge = std::get_if<figure::Ridge>(&panel.content);
    if (ridge == nullptr) continue;
    for (const figure::Ridge::Row& row : ridge->rows) {
      Json edges = Json::array();
      Json masses = Json::array();
      for (const double edge : row.edges) edges.push_back(short_number(edge, kDigits));
      for (const double mass : row.masses) masses.push_back(short_number(mass));
      rows.push_back({{"step", row.step}, {"edges", std::move(edges)}, {"masses", std::move(masses)}});
    }
  }
  return written({{"name", series}, {"rows", std::move(rows)}});
}

}  // namespace osler::dashboard
