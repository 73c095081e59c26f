// Making knobs from members of a recipe.
#pragma once

#include <charconv>
#include <cmath>
#include <type_traits>

#include "osler/gallery/recipe.h"

namespace osler::gallery {

/// A number of a text, all of it; nothing when it is none or not finite.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);
/// The shortest decimal that reads back as `value`.
[[nodiscard]] std::string written(double value);

/// A knob for a flag: on or off.
template <auto Member>
[[nodiscard]] Knob flag(std::string_view name, std::string_view doc) {
  Knob knob;
  knob.name = name;
  knob.doc = doc;
  knob.kind = Knob::Kind::flag;
  knob.choices = {"off", "on"};
  knob.get = [](const Recipe& recipe) -> std::string { return recipe.*Member ? "on" : "off"; };
  knob.set = [](Recipe& recipe, std::string_view value) {
    const bool on = value == "on" || value == "true";
    if (!on && value != "off" && value != "false") return false;
    recipe.*Member = on;
    return true;
  };
  return knob;
}

/// Whether a text stands for "not set", as an optional member may be.
[[nodiscard]] bool is_none(std::string_view text);

template <auto Member>
bool set_number(Recipe& recipe, std::string_view text) {
  using Value = std::remove_reference_t<decltype(recipe.*Member)>;
  constexpr bool kOptional =
      std::is_same_v<Value, std::optional<double>> || std::is_same_v<Value, std::optional<std::int64_t>>;
  if constexpr (kOptional) {
    if (is_none(text)) {
      recipe.*Member = std::nullopt;
      return true;
    }
  }
  const auto value = parse_number(text);
  if (!value) return false;
  constexpr bool kWhole = std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, std::optional<std::int64_t>>;
  if constexpr (kWhole) {
    recipe.*Member = static_cast<std::int64_t>(std::llround(*value));
  } else {
    recipe.*Member = *value;
  }
  return true;
}

template <auto Member>
std::string get_number(const Recipe& recipe) {
  using Value = std::remove_cvref_t<decltype(recipe.*Member)>;
  if constexpr (std::is_same_v<Value, double> || std::is_same_v<Value, std::int64_t>) {
    return written(static_cast<double>(recipe.*Member));
  } else {
    const auto& value = recipe.*Member;
    return value ? written(static_cast<double>(*value)) : "none";
  }
}

/// A knob for a number, whole or not, within bounds that keep a training small.
template <auto Member>
[[nodiscard]] Knob number(std::string_view name, double least, double most, std::string_view doc,
                          bool logarithmic = false) {
  Knob knob;
  knob.name = name;
  knob.doc = doc;
  using Value = std::remove_cvref_t<decltype(std::declval<Recipe>().*Member)>;
  constexpr bool kWhole = std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, std::optional<std::int64_t>>;
  knob.kind = kWhole ? Knob::Kind::whole : Knob::Kind::number;
  knob.least = least;
  knob.most = most;
  knob.logarithmic = logarithmic;
  knob.get = get_number<Member>;
  knob.set = set_number<Member>;
  return knob;
}

/// The names of an enumeration's values, in their order. Specialised beside the knobs.
template <typename Enum>
[[nodiscard]] std::span<const std::string_view> names_of();

template <auto Member>
[[nodiscard]] Knob choice(std::string_view name, std::string_view doc) {
  using Enum = std::remove_cvref_t<decltype(std::declval<Recipe>().*Member)>;
  Knob knob;
  knob.name = name;
  knob.doc = doc;
  knob.kind = Knob::Kind::choice;
  const auto names = names_of<Enum>();
  knob.choices.assign(names.begin(), names.end());
  knob.get = [](const Recipe& recipe) {
    return std::string(names_of<Enum>()[static_cast<std::size_t>(recipe.*Member)]);
  };
  knob.set = [](Recipe& recipe, std::string_view value) {
    const auto all = names_of<Enum>();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] == value) {
        recipe.*Member = static_cast<Enum>(i);
        return true;
      }
    }
    return false;
  };
  return knob;
}

}  // namespace osler::gallery
