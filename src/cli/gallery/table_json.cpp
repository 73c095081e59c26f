// Visits as JSON, with the sums that say whether the gallery holds.
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/gallery/show.h"

namespace osler::cli {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json course_json(const gallery::CourseResult& result) {
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
                 {"sick", course_json(visit.sick)}};
  if (!visit.treated) return object;
  Json changes = Json::array();
  for (const auto& change : gallery::differences(made.patient->recipe, visit.treated_recipe)) {
    changes.push_back({{"name", change.name}, {"from", change.from}, {"to", change.to}});
  }
  object["treated_by"] = visit.prescribed ? "patient's own treatment" : "report";
  object["changes"] = std::move(changes);
  object["treated"] = course_json(*visit.treated);
  object["recovered"] = visit.recovered;
  object["not_recovered"] = visit.not_recovered;
  return object;
}

/// How many visits there were of a kind, and with how many it was so.
struct Share {
  std::size_t yes = 0;
  std::size_t all = 0;

  void add(bool so) {
    yes += so ? 1 : 0;
    ++all;
  }
  [[nodiscard]] Json json() const { return {{"yes", yes}, {"of", all}}; }
};

Json summary_json(const std::vector<Made>& all) {
  Share found, first, among_three, recovered, by_report, clean;
  for (const Made& made : all) {
    if (made.patient->healthy()) {
      clean.add(made.visit.clean);
      continue;
    }
    found.add(made.visit.finding_seen);
    if (made.patient->has_cause()) {
      first.add(made.visit.cause_rank == 0U);
      among_three.add(made.visit.cause_rank && *made.visit.cause_rank <= 2);
    }
    if (!made.visit.treated) continue;
    recovered.add(made.visit.recovered);
    by_report.add(made.visit.recovered && !made.visit.prescribed);
  }
  return {{"finding_seen", found.json()},
          {"cause_first", first.json()},
          {"cause_among_three", among_three.json()},
          {"recovered", recovered.json()},
          {"recovered_by_report", by_report.json()},
          {"healthy_clean", clean.json()}};
}

}  // namespace

std::string table_json(const std::vector<Made>& all) {
  Json visits = Json::array();
  for (const Made& made : all) visits.push_back(visit_json(made));
  const Json table = {{"schema", "osler-gallery/1"}, {"visits", std::move(visits)}, {"summary", summary_json(all)}};
  return table.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace osler::cli
