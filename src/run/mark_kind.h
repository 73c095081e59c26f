// The words for the kinds of marks, in reports, in JSON and in JSON lines: a public contract.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "osler/run/event.h"

namespace osler {

inline constexpr std::array<std::pair<Mark::Kind, std::string_view>, 4> kMarkKinds = {
    {{Mark::Kind::note, "note"},
     {Mark::Kind::restart, "restart"},
     {Mark::Kind::finished, "finished"},
     {Mark::Kind::crashed, "crashed"}}};

[[nodiscard]] constexpr std::string_view to_string(Mark::Kind kind) {
  for (const auto& [known, word] : kMarkKinds) {
    if (known == kind) return word;
  }
  return kMarkKinds.front().second;
}

/// The kind that a word names; a note for any other word.
[[nodiscard]] constexpr Mark::Kind mark_kind(std::string_view word) {
  for (const auto& [kind, known] : kMarkKinds) {
    if (known == word) return kind;
  }
  return Mark::Kind::note;
}

}  // namespace osler
