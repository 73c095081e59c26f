// The catalogue as lists, for `osler list` and `osler explain` without an id.
#include "cli/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/wishes.h"
#include "osler/diagnosis/catalogue.h"
#include "osler/formats/format.h"
#include "osler/run/role.h"
#include "report/layout.h"

namespace osler::cli {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

/// What each role means, in a few words.
constexpr std::pair<Role, std::string_view> kMeanings[] = {
    {Role::train_loss, "loss on training data"},
    {Role::validation_loss, "loss on validation data"},
    {Role::train_accuracy, "accuracy on training data"},
    {Role::validation_accuracy, "accuracy on validation data"},
    {Role::train_metric, "another figure of merit on training data"},
    {Role::validation_metric, "another figure of merit on validation data"},
    {Role::learning_rate, "learning rate"},
    {Role::gradient_norm, "norm of the whole gradient"},
    {Role::clip_threshold, "threshold at which gradients are clipped"},
    {Role::loss_scale, "loss scale of mixed-precision training"},
    {Role::epoch, "epoch"},
    {Role::step_time, "seconds or milliseconds per step"},
    {Role::throughput, "samples, tokens or steps per second"},
    {Role::reward, "reward or return of reinforcement learning"},
    {Role::utilization, "share of the hardware's arithmetic in use, or TFLOP/s"},
    {Role::tokens_seen, "tokens trained on so far"},
    {Role::evaluation_reward, "reward or return of evaluation episodes"},
    {Role::reward_deviation, "spread of the reward"},
    {Role::no_variance_share, "share of groups of answers that all earn the same reward"},
    {Role::reward_margin, "reward of the chosen less that of the rejected answer"},
    {Role::preference_reward, "implicit reward of the chosen or the rejected answer"},
    {Role::episode_length, "steps per episode"},
    {Role::exploration_rate, "chance of a random action"},
    {Role::policy_entropy, "entropy of the policy"},
    {Role::action_deviation, "standard deviation of a policy's actions"},
    {Role::policy_kl, "KL divergence of the policy across an update"},
    {Role::reference_kl, "KL divergence of a language model from its reference"},
    {Role::latent_kl, "KL divergence of a latent code from its prior"},
    {Role::clip_fraction, "share of samples whose ratio PPO clipped"},
    {Role::explained_variance, "variance of the returns that the value function explains"},
    {Role::policy_loss, "loss of the actor"},
    {Role::value_loss, "loss of the critic"},
    {Role::q_value, "value that the critic gives states or actions"},
    {Role::generator_loss, "loss of the generator"},
    {Role::discriminator_loss, "loss of the discriminator"},
    {Role::completion_length, "tokens per generated answer"},
    {Role::truncated_share, "share of generated answers that were cut off"},
    {Role::layer_gradient, "a statistic of one layer's gradient"},
    {Role::layer_weight, "a statistic of one layer's weights"},
    {Role::layer_update, "a statistic of one layer's updates"},
    {Role::layer_activation, "a statistic of one layer's activations"},
};

std::string_view meaning(Role role) {
  const auto* const found =
      std::find_if(std::begin(kMeanings), std::end(kMeanings), [&](const auto& entry) { return entry.first == role; });
  return found == std::end(kMeanings) ? "recorded, but nothing the diagnosis reads" : found->second;
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
