// Reports as SARIF 2.1.0, the exchange format of code scanners: a rule per finding of the catalogue, a result per
// finding of a run, located in its log file.
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "osler/base/version.h"
#include "osler/report/render.h"

namespace osler {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchemaUri =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// A path as a URI reference. Every byte outside RFC 3986's unreserved set is escaped, so a name can hold anything.
std::string uri_of(const std::string& path) {
  if (path == "-") return "stdin";
  constexpr std::string_view kSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char sign : path) {
    if (kSafe.find(sign) != std::string_view::npos) {
      uri += sign;
      continue;
    }
    const auto byte = static_cast<unsigned char>(sign);
    uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return uri;
}

Json locations_of(const Report& report) {
  Json locations = Json::array();
  const std::string& file = report.sources.empty() ? report.run_name : report.sources.front();
  locations.push_back({{"physicalLocation", {{"artifactLocation", {{"uri", uri_of(file)}}}}}});
  return locations;
}

const char* level_of(Severity severity) {
  constexpr std::array kLevels = {"note", "warning", "error"};
  return kLevels.at(static_cast<std::size_t>(severity));
}

Json rule_json(const Finding& finding) {
  Json needs = Json::array();
  for (const Need need : finding.needs) needs.push_back(to_string(need));
  return {{"id", finding.id},
          {"shortDescription", {{"text", finding.title}}},
          {"help", {{"text", finding.doc}, {"markdown", finding.doc}}},
          {"properties", {{"needs", std::move(needs)}}}};
}

/// The summary, and the most probable cause where one is likely enough to name.
std::string message_of(const Report& report, const Observation& finding) {
  std::string text = finding.summary.empty() ? finding.finding : finding.summary;
  if (report.causes.empty()) return text;
  const Cause* cause = find_cause(report.causes.front().cause);
  const std::string title = cause != nullptr ? std::string(cause->title) : report.causes.front().cause;
  return text + " Most probable cause: " + title + ".";
}

Json result_json(const Report& report, const Observation& finding, const std::map<std::string_view, int>& rules) {
  Json result = {{"ruleId", finding.finding}};
  if (const auto rule = rules.find(finding.finding); rule != rules.end()) result["ruleIndex"] = rule->second;
  result["level"] = level_of(finding.severity);
  result["message"] = {{"text", message_of(report, finding)}};
  result["locations"] = locations_of(report);
  if (std::isfinite(finding.confidence)) result["rank"] = std::round(finding.confidence * 1000) / 10;
  result["properties"] = {{"run", report.run_name},
                          {"firstStep", finding.first_step},
                          {"lastStep", finding.last_step},
                          {"qualifiers", Json(finding.qualifiers)},
                          {"layers", Json(finding.layers)}};
  return result;
}

/// What a reader of the results alone would miss: a run that could not be judged, and input that was damaged.
void add_notifications(Json& notifications, const Report& report) {
  const auto add = [&](const char* level, const std::string& text) {
    notifications.push_back({{"level", level}, {"message", {{"text", text}}}, {"locations", locations_of(report)}});
  };
  if (report.status == Status::insufficient_data) add("warning", "Cannot judge: " + report.headline);
  for (const Damage& damage : report.damage.items()) {
    const std::string line = damage.line > 0 ? " line " + std::to_string(damage.line) : "";
    add("warning", damage.source + line + ": " + damage.what);
  }
}

}  // namespace

std::string render_sarif(std::span<const Report> reports) {
  Json rules = Json::array();
  std::map<std::string_view, int> rule_index;
  for (const auto& [stem, finding] : findings()) {
    rule_index[finding.id] = static_cast<int>(rules.size());
    rules.push_back(rule_json(finding));
  }
  Json results = Json::array();
  Json notifications = Json::array();
  for (const Report& report : reports) {
    for (const Observation& finding : report.findings) results.push_back(result_json(report, finding, rule_index));
    add_notifications(notifications, report);
  }
  const Json log = {
      {"$schema", kSchemaUri},
      {"version", "2.1.0"},
      {"runs",
       {{{"tool", {{"driver", {{"name", "osler"}, {"version", version()}, {"rules", std::move(rules)}}}}},
         {"columnKind", "unicodeCodePoints"},
         {"invocations", {{{"executionSuccessful", true}, {"toolExecutionNotifications", std::move(notifications)}}}},
         {"results", std::move(results)}}}}};
  return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace osler
