// LineParts: the numbers of a line, each with the words that name it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/text/key.h"
#include "formats/text/scan.h"
#include "formats/text/vocabulary.h"

namespace osler::text {

/// One number with what surrounds it.
struct Part {
  Key key;
  KeyTraits traits;
  std::string_view gap;            // the text between the number before and this one
  std::string_view name_for_next;  // where this number is a counter in the middle of a sentence
  bool counted_behind = false;     // the counter's name follows the number: "after 4 episodes: "
  bool numerator = false;          // of "3/10"
  bool behind = false;             // the name stands behind the number
  bool denominator = false;
};

/// The parts of a line, and how many of them have a name.
[[nodiscard]] std::vector<Part> parts_of(std::string_view line, const std::vector<Number>& numbers,
                                         std::uint8_t& named);

/// What is glued to the number: "%", "ms".
[[nodiscard]] std::string_view unit_of(std::string_view line, const Number& number);
/// "1 epoch: 50.2 secs" is a duration.
[[nodiscard]] bool lasts(std::string_view line, const Number& number);

}  // namespace osler::text
