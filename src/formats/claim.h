// Which format an input is in.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "osler/base/result.h"
#include "osler/formats/format.h"

namespace osler {

/// A format's claim on an input. No format: nobody claims it.
struct Claim {
  const Format* format = nullptr;
  Sniff strength = Sniff::no;
};

/// Asks all formats. Certain beats possible; of two formats that claim alike, one that refines the other wins.
[[nodiscard]] Claim claim(const Peek& peek);

/// The format with id `id`, or an error that lists the ids there are.
[[nodiscard]] Result<const Format*> format_by_name(std::string_view id);

/// Why an input with this head cannot be read, and what to do: for a person.
[[nodiscard]] Error unclaimed(const Peek& peek);

}  // namespace osler
