// The words and the JSON of an alert.
#include "cli/watch/alert.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace osler::cli {

Alert make_alert(const Report& report, const Observation& finding) {
  Alert alert{report.run_name, report.status, report.headline, finding, {}};
  if (!report.causes.empty() && !report.causes.front().remedies.empty()) {
    alert.remedy = report.causes.front().remedies.front().text;
  }
  return alert;
}

std::string to_line(const Alert& alert) {
  return fmt::format("{}: {} at step {}: {}", alert.run, alert.finding.finding, alert.finding.first_step,
                     alert.finding.summary);
}

std::string to_message(const Alert& alert) {
  return "Osler: " + to_line(alert) + (alert.remedy.empty() ? "" : " First remedy: " + alert.remedy);
}

std::string to_json(const Alert& alert) {
  const nlohmann::ordered_json json = {{"schema", "osler-alert/1"},
                                       {"text", to_message(alert)},
                                       {"run", alert.run},
                                       {"status", to_string(alert.status)},
                                       {"headline", alert.headline},
                                       {"finding",
                                        {{"id", alert.finding.finding},
                                         {"severity", to_string(alert.finding.severity)},
                                         {"confidence", alert.finding.confidence},
                                         {"first_step", alert.finding.first_step},
                                         {"summary", alert.finding.summary}}},
                                       {"remedy", alert.remedy}};
  // Names from a log may hold bytes that are not UTF-8.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace osler::cli
