// The catalogue as lists, for `osler list` and `osler explain` without an id.
#include "cli/listing.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/wishes.h"
#include "osler/diagnosis/catalogue.h"
#include "osler/formats/format.h"
#include "osler/run/role.h"
#include "report/layout.h"

namespace osler::cli {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

std::string_view meaning(Role role) {
  switch (role) {
    case Role::train_loss:
      return "loss on training data";
    case Role::validation_loss:
      return "loss on validation data";
    case Role::train_accuracy:
      return "accuracy on training data";
    case Role::validation_accuracy:
      return "accuracy on validation data";
    case Role::train_metric:
      return "another figure of merit on training data";
    case Role::validation_metric:
      return "another figure of merit on validation data";
    case Role::learning_rate:
      return "learning rate";
    case Role::gradient_norm:
      return "norm of the whole gradient";
    case Role::clip_threshold:
      return "threshold at which gradients are clipped";
    case Role::loss_scale:
      return "loss scale of mixed-precision training";
    case Role::epoch:
      return "epoch";
    case Role::step_time:
      return "seconds or milliseconds per step";
    case Role::throughput:
      return "samples, tokens or steps per second";
    case Role::reward:
      return "reward or return of reinforcement learning";
    case Role::layer_gradient:
      return "a statistic of one layer's gradient";
    case Role::layer_weight:
      return "a statistic of one layer's weights";
    case Role::layer_update:
      return "a statistic of one layer's updates";
    case Role::layer_activation:
      return "a statistic of one layer's activations";
    case Role::other:
      break;
  }
  return "recorded, but nothing the diagnosis reads";
}

std::vector<std::string> needs_of(const Finding& finding) {
  std::vector<std::string> needs;
  for (const Need need : finding.needs) needs.emplace_back(to_string(need));
  return needs;
}

Rows rows_of(std::string_view kind) {
  Rows rows;
  if (kind == "findings") {
    for (const auto& [stem, finding] : findings()) {
      rows.push_back(
          {std::string(finding.id), fmt::format("{}", fmt::join(needs_of(finding), ", ")), std::string(finding.title)});
    }
  } else if (kind == "causes") {
    for (const auto& [stem, cause] : causes()) rows.push_back({std::string(cause.id), std::string(cause.title)});
  } else if (kind == "formats") {
    for (const auto& [stem, format] : formats()) rows.push_back({std::string(format.id), std::string(format.title)});
  } else {
    for (int i = 0; i <= static_cast<int>(Role::other); ++i) {
      const auto role = static_cast<Role>(i);
      rows.push_back({std::string(to_string(role)), std::string(meaning(role))});
    }
  }
  return rows;
}

std::vector<std::string> header_of(std::string_view kind) {
  if (kind == "findings") return {"finding", "needs", "what is seen"};
  if (kind == "causes") return {"cause", "what is behind it"};
  if (kind == "formats") return {"format", "what it is"};
  return {"role", "what the series holds"};
}

Json finding_json(const Finding& finding) {
  Json settings = Json::array();
  for (const Setting& setting : finding.settings) {
    settings.push_back({{"name", setting.name}, {"value", setting.value}, {"reason", setting.reason}});
  }
  return {{"id", finding.id},
          {"title", finding.title},
          {"needs", needs_of(finding)},
          {"settings", std::move(settings)},
          {"doc", finding.doc}};
}

template <typename Entry>
Json page_json(const Entry& entry) {
  return {{"id", entry.id}, {"title", entry.title}, {"doc", entry.doc}};
}

Json items_json(std::string_view kind) {
  Json items = Json::array();
  if (kind == "findings") {
    for (const auto& [stem, finding] : findings()) items.push_back(finding_json(finding));
  } else if (kind == "causes") {
    for (const auto& [stem, cause] : causes()) items.push_back(page_json(cause));
  } else if (kind == "formats") {
    for (const auto& [stem, format] : formats()) items.push_back(page_json(format));
  } else {
    for (const std::vector<std::string>& row : rows_of(kind)) items.push_back({{"id", row[0]}, {"title", row[1]}});
  }
  return items;
}

void write_list(layout::Sheet& sheet, std::string_view kind) {
  Rows rows = rows_of(kind);
  for (std::vector<std::string>& row : rows) {
    for (std::string& cell : row) cell = layout::clean(cell, sheet.unicode());
  }
  layout::table(sheet, "", rows, header_of(kind));
}

}  // namespace

const std::vector<std::string>& list_kinds() {
  static const std::vector<std::string> kinds = {"findings", "causes", "formats", "roles"};
  return kinds;
}

std::string list_text(std::string_view kind, const TextOptions& options) {
  layout::Sheet sheet(options);
  write_list(sheet, kind);
  return sheet.str();
}

std::string list_catalogue(const TextOptions& options) {
  layout::Sheet sheet(options);
  for (const std::string& kind : list_kinds()) {
    sheet.blank();
    write_list(sheet, kind);
  }
  sheet.blank();
  sheet.paragraph("", sheet.painted("The page on any of them: osler explain ID", layout::Ink::faint));
  return sheet.str();
}

std::string list_json(const std::vector<std::string>& kinds) {
  Json lists = Json::object();
  for (const std::string& kind : kinds) lists[kind] = items_json(kind);
  return lists.dump(2) + "\n";
}

}  // namespace osler::cli
