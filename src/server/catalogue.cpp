// The catalogue and the diagnosis tree as the API gives them.
#include "osler/diagnosis/catalogue.h"

#include "osler/diagnosis/tree.h"
#include "server/answers.h"
#include "server/json.h"

namespace osler::server {
namespace {

Json finding_json(const Finding& finding) {
  Json needs = Json::array();
  for (const Need need : finding.needs) needs.push_back(to_string(need));
  Json settings = Json::array();
  for (const Setting& setting : finding.settings) {
    settings.push_back({{"name", setting.name}, {"value", any_number(setting.value)}, {"reason", setting.reason}});
  }
  return {{"id", finding.id},
          {"title", finding.title},
          {"needs", std::move(needs)},
          {"doc", finding.doc},
          {"settings", std::move(settings)}};
}

Json cause_json(const Cause& cause) {
  Json pulls = Json::array();
  for (const Pull& pull : cause.pulls) {
    pulls.push_back(
        {{"finding", pull.finding}, {"if_found", pull.if_found}, {"if_absent", pull.if_absent}, {"why", pull.why}});
  }
  return {{"id", cause.id},       {"title", cause.title},      {"doc", cause.doc},
          {"prior", cause.prior}, {"pulls", std::move(pulls)}, {"settle", cause.settle}};
}

}  // namespace

std::string catalogue_json() {
  Json all_findings = Json::array();
  for (const auto& finding : findings()) all_findings.push_back(finding_json(finding.descriptor));
  Json all_causes = Json::array();
  for (const auto& cause : causes()) all_causes.push_back(cause_json(cause.descriptor));
  return written({{"findings", std::move(all_findings)}, {"causes", std::move(all_causes)}});
}

std::string tree_json() {
  Json nodes = Json::array();
  for (const TreeNode& node : diagnosis_tree()) {
    nodes.push_back({{"id", node.id},
                     {"text", node.text},
                     {"findings", node.findings},
                     {"yes", node.yes},
                     {"no", node.no},
                     {"causes", node.causes}});
  }
  return written({{"nodes", std::move(nodes)}});
}

}  // namespace osler::server
