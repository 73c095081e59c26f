// Arguments: each taken with its type checked, so that a wrong one is named.
#include "cli/mcp/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/suggest.h"

namespace osler::cli::mcp {
namespace {

Error wrong(const std::string& name, const std::string& what) {
  return {ErrorCode::invalid_argument, what, name};
}

}  // namespace

Result<void> Arguments::check(const Json& schema) const {
  const Json& properties = schema["properties"];
  for (const Json& name : schema["required"]) {
    if (!given_.contains(name.get<std::string>())) return wrong(name, "is needed and not given");
  }
  for (const auto& [name, value] : given_.items()) {
    if (properties.contains(name)) continue;
    std::vector<std::string> known;
    for (const auto& [each, described] : properties.items()) known.push_back(each);
    const std::string hint = did_you_mean(name, known);
    return wrong(name, fmt::format("there is no such argument{}",
                                   hint.empty() ? fmt::format("; there are: {}", fmt::join(known, ", ")) : hint));
  }
  return {};
}

Result<std::string> Arguments::text_or(const char* name, const std::string& standard) const {
  const auto found = given_.find(name);
  if (found == given_.end()) return standard;
  const auto* const text = found->get_ptr<const std::string*>();
  if (text == nullptr) return wrong(name, "must be a string");
  if (text->find('\0') != std::string::npos) return wrong(name, "may hold no zero byte");
  return *text;
}

Result<std::string> Arguments::detail(std::initializer_list<const char*> words) const {
  auto word = text_or("detail", *words.begin());
  if (!word) return word;
  const bool known = std::any_of(words.begin(), words.end(), [&](const char* each) { return *word == each; });
  return known ? word : wrong("detail", fmt::format("must be one of {}", fmt::join(words, ", ")));
}

Result<std::vector<std::string>> Arguments::texts(const char* name) const {
  std::vector<std::string> all;
  const auto found = given_.find(name);
  if (found == given_.end()) return all;
  if (!found->is_array()) return wrong(name, "must be an array of strings");
  for (const Json& each : *found) {
    if (!each.is_string()) return wrong(name, "must be an array of strings");
    all.push_back(each);
  }
  return all;
}

Result<Wishes> Arguments::wishes() const {
  Wishes wishes;
  auto only = texts("only");
  auto domain = text("domain");
  auto format = text("format");
  if (!only) return only.error();
  if (!domain) return domain.error();
  if (!format) return format.error();
  wishes.only = std::move(*only);
  wishes.domain = std::move(*domain);
  wishes.format = std::move(*format);
  if (const auto roles = given_.find("roles"); roles != given_.end()) {
    if (!roles->is_object()) return wrong("roles", "must be an object of role and series");
    for (const auto& [role, series] : roles->items()) {
      if (!series.is_string()) return wrong("roles", "must name a series for each role");
      wishes.roles.push_back(role + "=" + series.get<std::string>());
    }
  }
  if (const auto settings = given_.find("settings"); settings != given_.end()) {
    if (!settings->is_object()) return wrong("settings", "must be an object of setting and number");
    for (const auto& [name, value] : settings->items()) {
      if (!value.is_number()) return wrong("settings", fmt::format("{} must be a number", name));
      wishes.settings.push_back(fmt::format("{}={}", name, value.get<double>()));
    }
  }
  return wishes;
}

Result<Drawing> Arguments::drawing() const {
  Drawing drawing;
  auto kind = text_or("kind", drawing.kind);
  auto finding = text("finding");
  auto experiment = text("experiment");
  auto series = texts("series");
  for (const auto* each : {&kind, &finding, &experiment}) {
    if (!*each) return each->error();
  }
  if (!series) return series.error();
  drawing.kind = std::move(*kind);
  drawing.finding = std::move(*finding);
  drawing.experiment = std::move(*experiment);
  drawing.series = std::move(*series);
  return drawing;
}

Result<FigureStyle> Arguments::style() const {
  // Pictures are paid for by their size: one pixel per unit, no wider than a page.
  constexpr std::int64_t kNarrowest = 320;
  constexpr std::int64_t kWidest = 2000;
  FigureStyle style;
  style.width = 800;
  style.scale = 1;
  const auto word = text_or("theme", "light");
  if (!word) return word.error();
  const auto theme = to_theme(*word);
  if (!theme) return wrong("theme", theme.error().message);
  style.theme = *theme;
  if (const auto width = given_.find("width"); width != given_.end()) {
    if (!width->is_number_integer() || *width < kNarrowest || *width > kWidest) {
      return wrong("width", fmt::format("must be a whole number from {} to {}", kNarrowest, kWidest));
    }
    style.width = *width;
  }
  return style;
}

}  // namespace osler::cli::mcp
