// A comparison as JSON, the contract "osler-comparison/1".
#include <cmath>
#include <nlohmann/json.hpp>

#include "osler/report/comparison.h"
#include "osler/report/render.h"
#include "report/json_numbers.h"

namespace osler {
namespace {

using Json = nlohmann::ordered_json;

Json side_json(const Side& side) {
  Json json = {{"series", side.series},
               {"start", json_number(side.start)},
               {"best", json_number(side.best)},
               {"end", json_number(side.end)},
               {"slope", json_number(side.slope)}};
  json["ending"] = nullptr;
  if (side.ending)
    json["ending"] = {{"motion", to_string(side.ending->motion)}, {"since", json_number(side.ending->since)}};
  json["last"] = json_number(side.last);
  json["lost_after"] = side.lost_after ? json_number(*side.lost_after) : Json(nullptr);
  json["floor"] = side.floor ? json_number(*side.floor) : Json(nullptr);
  return json;
}

Json series_json(const SeriesComparison& series) {
  Json json = {{"role", to_string(series.role)},
               {"a", side_json(series.a)},
               {"b", side_json(series.b)},
               {"to", json_number(series.to)},
               {"difference", json_number(series.difference)},
               {"standard_errors", json_number(series.difference_score)},
               {"parting", nullptr},
               {"identical_until", nullptr}};
  if (series.parting) {
    json["parting"] = {{"at", json_number(series.parting->at)},
                       {"standard_errors", json_number(series.parting->score)},
                       {"a", json_number(series.parting->a)},
                       {"b", json_number(series.parting->b)}};
  }
  if (series.identical_until) json["identical_until"] = json_number(*series.identical_until);
  return json;
}

}  // namespace

std::string render_json(const Comparison& comparison) {
  Json series = Json::array();
  for (const SeriesComparison& compared : comparison.series) series.push_back(series_json(compared));
  Json config = Json::array();
  for (const ConfigDifference& difference : comparison.config) {
    config.push_back({{"key", difference.key}, {"a", difference.a}, {"b", difference.b}});
  }
  const Json first = comparison.first ? Json(comparison.series[*comparison.first].a.series) : Json(nullptr);
  const Json json = {{"schema", "osler-comparison/1"},
                     {"axis", to_string(comparison.axis)},
                     {"from", json_number(comparison.from)},
                     {"to", json_number(comparison.to)},
                     {"headline", comparison.headline},
                     {"standing", to_string(comparison.standing)},
                     {"standing_reason", to_string(comparison.reason)},
                     {"verdict", comparison.verdict},
                     {"first", first},
                     {"facts", comparison.facts},
                     {"series", std::move(series)},
                     {"config", std::move(config)},
                     {"only_a", comparison.only_a},
                     {"only_b", comparison.only_b},
                     {"reports", {Json::parse(render_json(comparison.a)), Json::parse(render_json(comparison.b))}}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace osler
