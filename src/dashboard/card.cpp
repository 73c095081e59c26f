// Card: what the list of runs shows of one run, small enough to be kept for every run.
#include "dashboard/card.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "dashboard/json.h"
#include "osler/run/experiment.h"
#include "osler/run/role.h"

namespace osler::dashboard {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kSparkColumns = 60;
constexpr double kLogarithmicFrom = 30;

/// A place between 0 (the lowest value of the curve) and 1 as a letter; a full stop where there is no finite value.
char letter(double place) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (!std::isfinite(place)) return '.';
  return kLetters[static_cast<std::size_t>(std::lround(place * static_cast<double>(kLetters.size() - 1)))];
}

/// The first curve of the report in few columns: lowest and highest value of each. Thousands of them are sent with the
/// list of runs and each is drawn as high as a line of text, so a column's value is a letter and not a number.
Json spark_json(const Report& report) {
  if (report.sketches.empty() || report.sketches.front().columns.empty()) return nullptr;
  const Sketch& sketch = report.sketches.front();
  const std::size_t size = sketch.columns.size();
  std::vector<std::pair<double, double>> columns(std::min(size, kSparkColumns), {kNothing, kNothing});
  double least = kNothing;
  double most = kNothing;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto& [low, high] = columns[i];
    for (std::size_t at = i * size / columns.size(); at < (i + 1) * size / columns.size(); ++at) {
      low = std::fmin(low, sketch.columns[at].low);
      high = std::fmax(high, sketch.columns[at].high);
    }
    least = std::fmin(least, low);
    most = std::fmax(most, high);
  }
  // A loss that spans decades says more on a logarithmic scale.
  const bool logarithmic = least > 0 && most / least > kLogarithmicFrom;
  const auto fit = [&](double value) {
    return logarithmic ? std::log(value) : value / 2;
  };  // half: the range is finite
  const auto place = [&](double value) {
    return most > least || std::isnan(value) ? (fit(value) - fit(least)) / (fit(most) - fit(least)) : 0.5;
  };
  std::string low;
  std::string high;
  for (const auto& column : columns) {
    low += letter(place(column.first));
    high += letter(place(column.second));
  }
  return {{"series", sketch.series}, {"low", low}, {"high", high}};
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

/// The loss as the headline and the figures tell it: the level of the last tenth, or that it is not finite any more.
double shown_loss(double newest, const Report& report) {
  const auto final = report.metrics.find("final-train-loss");
  return std::isfinite(newest) && final != report.metrics.end() ? final->second : newest;
}

/// Configuration and figures, as far as somebody would want them as columns: long values are no numbers to sort by.
std::string row_json(const Run& run, const Report& report) {
  constexpr std::size_t kMostEntries = 60;
  constexpr std::size_t kLongestKey = 60;
  constexpr std::size_t kLongestValue = 40;
  Json configuration = Json::object();
  for (const auto& [key, value] : run.configuration()) {
    if (configuration.size() >= kMostEntries) break;
    const bool fits = key.size() <= kLongestKey && value.size() <= kLongestValue;
    if (fits && !is_experiment_key(key)) configuration[key] = value;
  }
  Json metrics = Json::object();
  for (const auto& [name, value] : report.metrics) metrics[name] = any_number(value);
  return written({{"configuration", std::move(configuration)}, {"metrics", std::move(metrics)}});
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

Card archived_card(Card card) {
  card.archived = true;
  card.json.insert(1, "\"archived\":true,");  // a card has other keys
  return card;
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
  // Networks that play against each other have no loss that could be told; one that is NaN is.
  const bool has_loss = report.roles.contains(std::string(to_string(Role::train_loss)));
  json["loss"] = has_loss ? any_number(shown_loss(card.loss, report)) : Json();
  json["spark"] = spark_json(report);
  card.json = written(json);
  card.row = row_json(run, report);
  return card;
}

}  // namespace osler::dashboard
