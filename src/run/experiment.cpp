// Experiments as JSON within a run's configuration.
#include "osler/run/experiment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace osler {
namespace {

using nlohmann::json;
using Outcome = Experiment::Outcome;

constexpr std::string_view kPrefix = "osler/experiment/";
// More than any probe of ours writes; a bound on what a hostile file can make a reader keep.
constexpr std::size_t kMostNumbers = 1'000'000;

constexpr std::array kOutcomes = {std::pair(Outcome::passed, std::string_view("passed")),
                                  std::pair(Outcome::failed, std::string_view("failed")),
                                  std::pair(Outcome::undecided, std::string_view("undecided")),
                                  std::pair(Outcome::stopped, std::string_view("stopped"))};

json written(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number;
}

std::optional<double> read_number(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::string read_text(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Outcome read_outcome(const json& object) {
  const std::string name = read_text(object, "outcome");
  const auto* const found =
      std::find_if(kOutcomes.begin(), kOutcomes.end(), [&](const auto& pair) { return pair.second == name; });
  return found != kOutcomes.end() ? found->first : Outcome::undecided;
}

/// The objects of an array member; other things in it are passed over.
std::vector<json> read_objects(const json& object, const char* name) {
  std::vector<json> objects;
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return objects;
  std::copy_if(found->begin(), found->end(), std::back_inserter(objects),
               [](const json& item) { return item.is_object(); });
  return objects;
}

std::optional<double> read_bound(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() ? read_number(*found) : std::nullopt;
}

}  // namespace

std::string_view to_string(Experiment::Outcome outcome) {
  const auto* const found =
      std::find_if(kOutcomes.begin(), kOutcomes.end(), [&](const auto& pair) { return pair.first == outcome; });
  return found->second;
}

std::optional<double> Experiment::value(std::string_view name) const {
  const auto found = std::find_if(values.begin(), values.end(), [&](const Value& value) { return value.name == name; });
  return found != values.end() ? std::optional(found->value) : std::nullopt;
}

const Experiment::Column* Experiment::column(std::string_view name) const {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
  return found != columns.end() ? &*found : nullptr;
}

std::string experiment_key(std::string_view probe) {
  return std::string(kPrefix) + std::string(probe);
}

bool is_experiment_key(std::string_view key) {
  return key.substr(0, kPrefix.size()) == kPrefix;
}

std::string to_json(const Experiment& experiment) {
  json object = {{"probe", experiment.probe},     {"step", experiment.step}, {"outcome", to_string(experiment.outcome)},
                 {"verdict", experiment.verdict}, {"values", json::array()}, {"columns", json::array()},
                 {"checks", json::array()}};
  for (const Experiment::Value& value : experiment.values) {
    json item = {{"name", value.name}, {"value", written(value.value)}};
    if (value.low) item["low"] = written(*value.low);
    if (value.high) item["high"] = written(*value.high);
    object["values"].push_back(std::move(item));
  }
  for (const Experiment::Column& column : experiment.columns) {
    json numbers = json::array();
    for (const double number : column.values) numbers.push_back(written(number));
    object["columns"].push_back({{"name", column.name}, {"values", std::move(numbers)}});
  }
  for (const Experiment::Check& check : experiment.checks) {
    object["checks"].push_back({{"id", check.id}, {"outcome", to_string(check.outcome)}, {"text", check.text}});
  }
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Experiment> experiment_from_json(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return Error{ErrorCode::corrupt, "not an experiment: no JSON object", {}};
  Experiment experiment;
  experiment.probe = read_text(object, "probe");
  if (experiment.probe.empty()) return Error{ErrorCode::corrupt, "not an experiment: no \"probe\"", {}};
  if (const auto step = object.find("step"); step != object.end() && step->is_number_integer()) {
    experiment.step = step->get<std::int64_t>();
  }
  experiment.outcome = read_outcome(object);
  experiment.verdict = read_text(object, "verdict");
  for (const json& item : read_objects(object, "values")) {
    const auto value = read_bound(item, "value");
    if (value)
      experiment.values.push_back({read_text(item, "name"), *value, read_bound(item, "low"), read_bound(item, "high")});
  }
  std::size_t numbers = 0;
  for (const json& item : read_objects(object, "columns")) {
    Experiment::Column column{read_text(item, "name"), {}};
    const auto values = item.find("values");
    if (values == item.end() || !values->is_array()) continue;
    numbers += values->size();
    if (numbers > kMostNumbers)
      return Error{ErrorCode::corrupt, "an experiment with more than " + std::to_string(kMostNumbers) + " numbers", {}};
    for (const json& value : *values) {
      column.values.push_back(read_number(value).value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    experiment.columns.push_back(std::move(column));
  }
  for (const json& item : read_objects(object, "checks")) {
    experiment.checks.push_back({read_text(item, "id"), read_outcome(item), read_text(item, "text")});
  }
  return experiment;
}

std::vector<Experiment> experiments(const Run& run) {
  std::vector<Experiment> found;
  const auto& configuration = run.configuration();
  for (auto entry = configuration.lower_bound(kPrefix); entry != configuration.end() && is_experiment_key(entry->first);
       ++entry) {
    if (auto read = experiment_from_json(entry->second)) found.push_back(std::move(*read));
  }
  return found;
}

std::optional<Experiment> experiment(const Run& run, std::string_view probe) {
  const auto entry = run.configuration().find(experiment_key(probe));
  if (entry == run.configuration().end()) return std::nullopt;
  auto read = experiment_from_json(entry->second);
  return read ? std::optional(std::move(*read)) : std::nullopt;
}

}  // namespace osler
