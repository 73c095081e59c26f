// Card: what the list of runs shows of one run, small enough to be kept for every run.
#include "dashboard/card.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dashboard/json.h"
#include "osler/run/role.h"

namespace osler::dashboard {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kSparkColumns = 60;

/// The first curve of the report in few columns: lowest and highest value of each, null where nothing is finite.
Json spark_json(const Report& report) {
  if (report.sketches.empty() || report.sketches.front().columns.empty()) return nullptr;
  const Sketch& sketch = report.sketches.front();
  const std::size_t size = sketch.columns.size();
  const std::size_t count = std::min(size, kSparkColumns);
  Json low = Json::array();
  Json high = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    double least = kNothing;
    double most = kNothing;
    for (std::size_t at = i * size / count; at < (i + 1) * size / count; ++at) {
      least = std::fmin(least, sketch.columns[at].low);
      most = std::fmax(most, sketch.columns[at].high);
    }
    low.push_back(short_number(least));
    high.push_back(short_number(most));
  }
  return {{"series", sketch.series}, {"low", std::move(low)}, {"high", std::move(high)}};
}

/// The newest value of the best series in a role; NaN when there is none.
double newest(const Run& run, const Report& report, Role role) {
  const auto names = report.roles.find(std::string(to_string(role)));
  if (names == report.roles.end() || names->second.empty()) return kNothing;
  const Series* series = run.find(names->second.front());
  if (series == nullptr || series->summary().empty()) return kNothing;
  const auto recent = series->summary().recent();
  return recent.empty() ? kNothing : recent.back().value;
}

Json base_json(const Card& card, double modified_seconds, const std::string& headline) {
  return {{"id", card.id},         {"name", card.name},    {"format", card.format},
          {"status", card.status}, {"headline", headline}, {"modified", modified_seconds}};
}

Card without_report(const std::string& id, const std::string& name, const std::string& format, double modified_seconds,
                    const char* status, const std::string& headline) {
  Card card{.id = id, .name = name, .format = format, .status = status, .loss = kNothing, .gradient_norm = kNothing};
  card.json = written(base_json(card, modified_seconds, headline));
  return card;
}

}  // namespace

Card unexamined_card(const std::string& id, const std::string& name, const std::string& format,
                     double modified_seconds) {
  return without_report(id, name, format, modified_seconds, "unexamined", "not examined yet");
}

Card unreadable_card(const std::string& id, const std::string& name, const std::string& format, double modified_seconds,
                     const std::string& why) {
  return without_report(id, name, format, modified_seconds, "unreadable", why);
}

Card examined_card(const std::string& id, const std::string& name, double modified_seconds, const Run& run,
                   const Report& report) {
  Card card{.id = id, .name = name, .format = report.format, .status = std::string(to_string(report.status))};
  card.last_step = report.steps.last;
  card.loss = newest(run, report, Role::train_loss);
  card.gradient_norm = newest(run, report, Role::gradient_norm);
  for (const Observation& finding : report.findings) ++card.findings[static_cast<std::size_t>(finding.severity)];
  Json json = base_json(card, modified_seconds, report.headline);
  json["steps"] = {{"first", report.steps.first}, {"last", report.steps.last}, {"count", report.steps.count}};
  Json counts = Json::object();
  for (const Severity severity : {Severity::note, Severity::warning, Severity::critical}) {
    counts[std::string(to_string(severity))] = card.findings[static_cast<std::size_t>(severity)];
  }
  json["findings"] = std::move(counts);
  json["loss"] = any_number(card.loss);
  json["spark"] = spark_json(report);
  card.json = written(json);
  return card;
}

}  // namespace osler::dashboard
