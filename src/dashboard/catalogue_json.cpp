// The catalogue and the diagnosis tree as the dashboard reads them.
#include "dashboard/catalogue_json.h"

#include <functional>

#include "dashboard/json.h"
#include "osler/diagnosis/catalogue.h"
#include "osler/diagnosis/tree.h"

namespace osler::dashboard {
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

/// Id and title alone; without a text the dashboard knows that this is not the whole page.
template <typename Page>
Json title_json(const Page& page) {
  return {{"id", page.id}, {"title", page.title}};
}

std::string pages_json(const std::function<bool(std::string_view)>& whole) {
  Json all_findings = Json::array();
  for (const auto& finding : findings()) {
    const Finding& page = finding.descriptor;
    all_findings.push_back(whole(page.id) ? finding_json(page) : title_json(page));
  }
  Json all_causes = Json::array();
  for (const auto& cause : causes()) {
    const Cause& page = cause.descriptor;
    all_causes.push_back(whole(page.id) ? cause_json(page) : title_json(page));
  }
  return written({{"findings", std::move(all_findings)}, {"causes", std::move(all_causes)}});
}

}  // namespace

std::string catalogue_json() {
  return pages_json([](std::string_view) { return true; });
}

std::string catalogue_json(const std::set<std::string, std::less<>>& chosen) {
  return pages_json([&](std::string_view id) { return chosen.contains(id); });
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

}  // namespace osler::dashboard
