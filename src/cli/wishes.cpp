// What the user wants of a diagnosis, from words on the command line to options; an unknown word gets suggestions.
#include "cli/wishes.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <optional>

#include "cli/suggest.h"
#include "osler/base/file_system.h"
#include "osler/formats/format.h"
#include "osler/report/baseline.h"
#include "osler/run/role.h"

namespace osler::cli {
namespace {

Error wrong(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message), ""};
}

/// The two sides of the first '=' in a word.
std::optional<std::pair<std::string, std::string>> sides(const std::string& word) {
  const std::size_t sign = word.find('=');
  if (sign == std::string::npos || sign == 0 || sign + 1 == word.size()) return std::nullopt;
  return std::pair{word.substr(0, sign), word.substr(sign + 1)};
}

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <typename Table>
std::vector<std::string> ids_of(const Table& table) {
  std::vector<std::string> ids;
  for (const auto& [stem, descriptor] : table) ids.emplace_back(descriptor.id);
  return ids;
}

Result<RoleOverride> role_override(const std::string& word) {
  const auto parts = sides(word);
  if (!parts) return wrong(fmt::format("--role {}: write ROLE=SERIES, for example train-loss=my_loss", word));
  const std::optional<Role> role = role_from(parts->first);
  if (role) return RoleOverride{*role, parts->second};
  const std::string hint = did_you_mean(parts->first, role_names());
  return wrong(fmt::format("--role {}: there is no role '{}'{}", word, parts->first,
                           hint.empty() ? "; see: osler list roles" : hint));
}

/// What may have been meant by the unknown setting `name`.
std::string setting_hint(const std::string& name) {
  const std::size_t dot = std::min(name.find('.'), name.size());
  const Finding* finding = find_finding(name.substr(0, dot));
  if (finding == nullptr) return did_you_mean(name.substr(0, dot), finding_ids());
  std::vector<std::string> own;
  for (const Setting& setting : finding->settings) own.emplace_back(setting.name);
  const std::string hint = dot < name.size() ? did_you_mean(name.substr(dot + 1), own) : "";
  return hint.empty() ? fmt::format("; see: osler explain {}", finding->id) : hint;
}

Result<void> add_setting(const std::string& word, DiagnosisOptions& options) {
  const auto parts = sides(word);
  if (!parts) return wrong(fmt::format("--set {}: write FINDING.SETTING=NUMBER", word));
  const auto& [name, text] = *parts;
  const std::vector<std::string> names = setting_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return wrong(fmt::format("--set {}: there is no setting '{}'{}", word, name, setting_hint(name)));
  }
  const std::optional<double> value = number(text);
  if (!value) return wrong(fmt::format("--set {}: '{}' is not a number", word, text));
  options.settings[name] = *value;
  return {};
}

Result<void> read_baseline(const std::string& path, DiagnosisOptions& options) {
  constexpr std::uint64_t kMostBytes = 64 * 1024 * 1024;
  if (path.empty()) return {};
  const auto text = read_whole(real_file_system(), path, kMostBytes);
  if (!text) return text.error();
  auto ranges = parse_baseline(*text, path);
  if (!ranges) return ranges.error();
  options.baseline = std::move(*ranges);
  return {};
}

}  // namespace

void add_meaning_options(CLI::App& verb, Wishes& wishes) {
  verb.add_option("--role", wishes.roles, "What a series means, for example train-loss=my_obj; repeatable")
      ->type_name("ROLE=SERIES")
      ->allow_extra_args(false);
  verb.add_option("--domain", wishes.domain, "The kind of training, for example language-model or reinforcement")
      ->type_name("KIND");
  verb.add_option("--set", wishes.settings, "Change a setting (osler explain FINDING); repeatable")
      ->type_name("FINDING.SETTING=NUMBER")
      ->allow_extra_args(false);
  verb.add_option("--baseline", wishes.baseline, "Compare with your own healthy runs (osler baseline learn)")
      ->type_name("FILE");
}

void add_wish_options(CLI::App& verb, Wishes& wishes) {
  add_meaning_options(verb, wishes);
  verb.add_option("--format", wishes.format, "Read as this format instead of looking (osler list formats)")
      ->type_name("ID");
  verb.add_option("--only", wishes.only, "Check only this finding (osler list findings); repeatable")
      ->type_name("ID")
      ->allow_extra_args(false);
}

Result<DiagnosisOptions> to_options(const Wishes& wishes) {
  DiagnosisOptions options;
  for (const std::string& word : wishes.roles) {
    const bool if_there = word.starts_with('?');
    auto role = role_override(if_there ? word.substr(1) : word);
    if (!role) return role.error();
    (if_there ? options.roles_if_there : options.roles).push_back(std::move(*role));
  }
  if (!wishes.domain.empty()) {
    options.domain = domain_from(wishes.domain);
    if (!options.domain) {
      return wrong(fmt::format(
          "--domain {}: there is no such kind; write classification, regression, language-model, preference-tuning, "
          "reward-tuning, reinforcement, adversarial, detection, segmentation, sequence, contrastive, autoencoder or "
          "unknown",
          wishes.domain));
    }
  }
  for (const std::string& word : wishes.settings) {
    if (const auto added = add_setting(word, options); !added) return added.error();
  }
  for (const std::string& id : wishes.only) {
    if (find_finding(id) == nullptr) {
      const std::string hint = did_you_mean(id, finding_ids());
      return wrong(
          fmt::format("--only {}: there is no such finding{}", id, hint.empty() ? "; see: osler list findings" : hint));
    }
    options.only.push_back(id);
  }
  if (const auto read = read_baseline(wishes.baseline, options); !read) return read.error();
  return options;
}

Result<Severity> to_severity(const std::string& word) {
  if (const auto severity = severity_from(word)) return *severity;
  return wrong(fmt::format("--fail-on {}: use note, warning or critical", word));
}

Result<void> check_format(const std::string& id) {
  if (id.empty() || find_format(id) != nullptr) return {};
  const std::string hint = did_you_mean(id, format_ids());
  return wrong(
      fmt::format("--format {}: there is no such format{}", id, hint.empty() ? "; see: osler list formats" : hint));
}

Result<void> check_series(const DiagnosisOptions& options, const Run& run) {
  for (const RoleOverride& role : options.roles) {
    if (run.find(role.series) != nullptr) continue;
    std::vector<std::string> names;
    for (const Series& series : run.all_series()) names.push_back(series.name());
    std::string hint = did_you_mean(role.series, names);
    if (hint.empty()) {
      constexpr std::size_t kShown = 8;
      const bool more = names.size() > kShown;
      names.resize(std::min(names.size(), kShown));
      hint = fmt::format("; the log has: {}{}", fmt::join(names, ", "), more ? ", ..." : "");
    }
    return Error{ErrorCode::invalid_argument, fmt::format("there is no series '{}'{}", role.series, hint), run.name};
  }
  return {};
}

std::vector<std::string> role_names() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Role::other); ++i) names.emplace_back(to_string(static_cast<Role>(i)));
  return names;
}

std::vector<std::string> finding_ids() {
  return ids_of(findings());
}
std::vector<std::string> cause_ids() {
  return ids_of(causes());
}
std::vector<std::string> format_ids() {
  return ids_of(formats());
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const auto& [stem, finding] : findings()) {
    for (const Setting& setting : finding.settings) names.push_back(fmt::format("{}.{}", finding.id, setting.name));
  }
  return names;
}

}  // namespace osler::cli
