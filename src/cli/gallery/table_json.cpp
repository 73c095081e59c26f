// Visits as JSON, with the sums that say whether the gallery holds.
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/gallery/show.h"
#include "cli/gallery/sums.h"

namespace osler::cli {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json training_json(const gallery::TrainingResult& result) {
  Json findings = Json::array();
  for (const Observation& seen : result.report.findings) {
    findings.push_back({{"id", seen.finding}, {"severity", to_string(seen.severity)}, {"confidence", seen.confidence}});
  }
  Json causes = Json::array();
  for (const WeighedCause& cause : result.report.causes) {
    if (causes.size() < 5) causes.push_back({{"id", cause.cause}, {"probability", cause.probability}});
  }
  return {{"status", to_string(result.report.status)},
          {"steps", result.steps},
          {"skipped", result.skipped},
          {"seconds", result.seconds},
          {"true_loss", number(result.true_loss)},
          {"true_accuracy", result.true_accuracy ? Json(*result.true_accuracy) : Json(nullptr)},
          {"findings", std::move(findings)},
          {"causes", std::move(causes)},
          {"origin", result.origin}};
}

Json visit_json(const Made& made) {
  const gallery::Visit& visit = made.visit;
  Json object = {{"patient", made.patient->id},
                 {"seed", visit.seed},
                 {"healthy_control", made.patient->healthy()},
                 {"as_expected", as_expected(made)},
                 {"expected_finding", made.patient->finding},
                 {"finding_seen", visit.finding_seen},
                 {"expected_cause", made.patient->cause},
                 {"cause_rank", visit.cause_rank ? Json(*visit.cause_rank + 1) : Json(nullptr)},
                 {"clean", visit.clean},
                 {"sick", training_json(visit.sick)}};
  if (!visit.treated) return object;
  Json changes = Json::array();
  for (const auto& change : gallery::differences(made.patient->recipe, visit.treated_recipe)) {
    changes.push_back({{"name", change.name}, {"from", change.from}, {"to", change.to}});
  }
  object["treated_by"] = visit.prescribed ? "patient's own treatment" : "report";
  object["changes"] = std::move(changes);
  object["treated"] = training_json(*visit.treated);
  object["recovered"] = visit.recovered;
  object["not_recovered"] = visit.not_recovered;
  return object;
}

Json share_json(const Share& share) {
  return {{"yes", share.yes}, {"of", share.all}};
}

Json summary_json(const Sums& sums) {
  return {{"finding_seen", share_json(sums.found)},
          {"cause_first", share_json(sums.first)},
          {"cause_among_three", share_json(sums.among_three)},
          {"recovered", share_json(sums.recovered)},
          {"recovered_by_report", share_json(sums.by_report)},
          {"healthy_clean", share_json(sums.clean)}};
}

}  // namespace

std::string table_json(const std::vector<Made>& all) {
  Json visits = Json::array();
  for (const Made& made : all) visits.push_back(visit_json(made));
  const Json table = {
      {"schema", "osler-gallery/1"}, {"visits", std::move(visits)}, {"summary", summary_json(sums_of(all))}};
  return table.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace osler::cli
