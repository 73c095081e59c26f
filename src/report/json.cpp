// A report as JSON, the public contract "osler-report/1" (docs/report.schema.json).
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "osler/report/render.h"
#include "report/json_numbers.h"
#include "report/words.h"
#include "run/mark_kind.h"

namespace osler {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "osler-report/1";

/// Three digits: more would pretend to a precision that odds do not have.
double rounded(double value) {
  return std::round(value * 1000) / 1000;
}

/// A probability or confidence, inside 0 and 1 whatever arithmetic produced it.
double share(double value) {
  return std::isnan(value) ? 0.0 : rounded(std::clamp(value, 0.0, 1.0));
}

Json evidence_json(const Evidence& evidence) {
  // A threshold that is NaN means that nothing was compared, which is not a number but an absence.
  return {{"series", evidence.series},
          {"steps", {evidence.first_step, evidence.last_step}},
          {"observed", json_number(evidence.observed)},
          {"threshold", std::isnan(evidence.threshold) ? Json(nullptr) : json_number(evidence.threshold)},
          {"text", evidence.text}};
}

Json finding_json(const Observation& finding) {
  Json evidence = Json::array();
  for (const Evidence& fact : finding.evidence) evidence.push_back(evidence_json(fact));
  return {{"id", finding.finding},
          {"severity", to_string(finding.severity)},
          {"confidence", share(finding.confidence)},
          {"first_step", finding.first_step},
          {"last_step", finding.last_step},
          {"qualifiers", Json(finding.qualifiers)},
          {"layers", Json(finding.layers)},
          {"summary", finding.summary},
          {"evidence", std::move(evidence)}};
}

Json reasons_json(const std::vector<Reason>& reasons) {
  Json list = Json::array();
  for (const Reason& reason : reasons) {
    list.push_back({{"finding", reason.finding}, {"weight", rounded(reason.weight)}, {"text", reason.text}});
  }
  return list;
}

Json remedies_json(const std::vector<Remedy>& remedies) {
  Json list = Json::array();
  for (const Remedy& remedy : remedies) {
    Json item = {{"text", remedy.text}};
    if (remedy.change) {
      const Remedy::Change& change = *remedy.change;
      item["change"] = {
          {"name", change.name}, {"from", change.from.empty() ? Json(nullptr) : Json(change.from)}, {"to", change.to}};
    }
    if (remedy.code) item["code"] = {{"language", remedy.code->language}, {"text", remedy.code->text}};
    list.push_back(std::move(item));
  }
  return list;
}

Json cause_json(const WeighedCause& cause) {
  return {{"id", cause.cause},
          {"probability", share(cause.probability)},
          {"for", reasons_json(cause.speaks_for)},
          {"against", reasons_json(cause.speaks_against)},
          {"settle", {{"probe", cause.settle.probe}, {"text", cause.settle.text}}},
          {"remedies", remedies_json(cause.remedies)}};
}

Json checks_json(const Report& report) {
  Json not_run = Json::array();
  for (const NotRun& check : report.checks_not_run) {
    not_run.push_back({{"id", check.finding}, {"reason", check.reason}});
  }
  return {{"ran", Json(report.checks_ran)}, {"not_run", std::move(not_run)}};
}

/// One series as a string, several as an array.
Json roles_json(const Report& report) {
  Json roles = Json::object();
  for (const auto& [role, names] : report.roles) {
    if (!names.empty()) roles[role] = names.size() == 1 ? Json(names.front()) : Json(names);
  }
  return roles;
}

Json measures_json(const Report& report) {
  Json measures = Json::array();
  for (const Measured& measured : report.measures) {
    measures.push_back({{"id", measured.measure},
                        {"value", json_number(measured.value)},
                        {"quantile", measured.quantile ? Json(share(*measured.quantile)) : Json(nullptr)},
                        {"runs", measured.runs},
                        {"among", measured.among},
                        {"text", layout::in_words(measured)}});
  }
  return measures;
}

Json marks_json(const Report& report) {
  Json marks = Json::array();
  for (const Mark& mark : report.marks) {
    marks.push_back({{"kind", to_string(mark.kind)}, {"step", mark.step}, {"text", mark.text}});
  }
  return marks;
}

Json damage_json(const DamageReport& damage) {
  Json places = Json::array();
  for (const Damage& item : damage.items()) {
    places.push_back({{"source", item.source},
                      {"offset", item.offset},
                      {"line", item.line},
                      {"what", item.what},
                      {"lost_bytes", item.lost_bytes}});
  }
  return {{"total", damage.total()}, {"lost_bytes", damage.lost_bytes()}, {"places", std::move(places)}};
}

Json layer_json(const LayerRow& row) {
  const auto figure = [](const std::optional<double>& value) { return value ? json_number(*value) : Json(nullptr); };
  Json course = Json::array();
  for (const double value : row.gradient_course)
    course.push_back(std::isnan(value) ? Json(nullptr) : json_number(value));
  return {{"layer", row.layer},
          {"kind", row.kind},
          {"gradient_norm", figure(row.gradient_norm)},
          {"weight_norm", figure(row.weight_norm)},
          {"update_ratio", figure(row.update_ratio)},
          {"gradient_ratio", figure(row.gradient_ratio)},
          {"dead_share", figure(row.dead_share)},
          {"saturated_share", figure(row.saturated_share)},
          {"gradient_course", std::move(course)},
          {"status", row.status},
          {"why", row.why},
          {"finding", row.finding.empty() ? Json(nullptr) : Json(row.finding)},
          {"severity", row.severity ? Json(to_string(*row.severity)) : Json(nullptr)}};
}

Json layers_json(const LayerTable& table) {
  Json rows = Json::array();
  for (const LayerRow& row : table.rows) rows.push_back(layer_json(row));
  Json spans = Json::object();
  for (const LayerSpan& span : table.spans) {
    spans[span.figure] = {{"layers", span.layers},
                          {"lowest", json_number(span.lowest)},
                          {"median", json_number(span.median)},
                          {"highest", json_number(span.highest)},
                          {"lowest_layer", span.lowest_layer},
                          {"highest_layer", span.highest_layer}};
  }
  return {{"rows", std::move(rows)}, {"spans", std::move(spans)}};
}

Json prognosis_json(const Prognosis& prognosis) {
  return {{"series", prognosis.series},
          {"step", prognosis.step},
          {"from", prognosis.from},
          {"now", json_number(prognosis.now)},
          {"low", json_number(prognosis.low)},
          {"high", json_number(prognosis.high)},
          {"left", share(prognosis.left)},
          {"text", prognosis.text}};
}

Json experiments_json(const Report& report) {
  Json experiments = Json::array();
  for (const Experiment& experiment : report.experiments) experiments.push_back(Json::parse(to_json(experiment)));
  return experiments;
}

Json report_json(const Report& report) {
  Json findings = Json::array();
  for (const Observation& finding : report.findings) findings.push_back(finding_json(finding));
  Json causes = Json::array();
  for (const WeighedCause& cause : report.causes) causes.push_back(cause_json(cause));
  Json ruled_out = Json::array();
  for (const RuledOut& cause : report.ruled_out) ruled_out.push_back({{"id", cause.cause}, {"why", cause.why}});
  Json metrics = Json::object();
  for (const auto& [name, value] : report.metrics) metrics[name] = json_number(value);
  Json json = {
      {"schema", kSchema},
      {"run",
       {{"name", report.run_name},
        {"sources", Json(report.sources)},
        {"format", report.format},
        {"steps", {{"first", report.steps.first}, {"last", report.steps.last}, {"count", report.steps.count}}}}},
      {"status", to_string(report.status)},
      {"headline", report.headline},
      {"findings", std::move(findings)},
      {"causes", std::move(causes)},
      {"ruled_out", std::move(ruled_out)},
      {"checks", checks_json(report)},
      {"domain",
       {{"id", to_string(report.domain.domain)}, {"confidence", report.domain.confidence}, {"why", report.domain.why}}},
      {"roles", roles_json(report)},
      {"metrics", std::move(metrics)},
      {"measures", measures_json(report)},
      {"reference", report.reference},
      {"marks", marks_json(report)},
      {"experiments", experiments_json(report)},
      {"damage", damage_json(report.damage)}};
  if (!report.computed.empty()) json["computed"] = Json(report.computed);
  if (report.prognosis) json["prognosis"] = prognosis_json(*report.prognosis);
  if (report.layers) json["layers"] = layers_json(*report.layers);
  return json;
}

/// Names come from logs and may hold bytes that are not UTF-8; those are replaced, never an error.
std::string written(const Json& json, int indent = 2) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string render_json(const Report& report) {
  return written(report_json(report));
}

std::string render_json_line(const Report& report) {
  return written(report_json(report), -1);
}

std::string render_json(std::span<const Report> reports) {
  Json list = Json::array();
  for (const Report& report : reports) list.push_back(report_json(report));
  return written({{"schema", kSchema}, {"reports", std::move(list)}});
}

}  // namespace osler
