// Scanning a line: where its numbers are, and what it looks like without them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace osler::text {

/// How a number is written.
enum class Written : std::uint8_t { integer, real, nonfinite };

/// One number of a line.
struct Number {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;       ///< of the digits
  std::uint32_t unit_end = 0;  ///< of a unit glued to them ("ms", "%"), else the same as `end`
  Written written = Written::integer;
  bool thousands = false;      ///< has commas between groups of three digits
  bool decimal_comma = false;  ///< "0,5" is one half
};

/// What scan_line found. Kept by the caller, so that no line needs memory of its own.
struct Scan {
  std::vector<Number> numbers;
  /// Lines that differ in nothing but their numbers, dates, clock times, padding and progress bars have the same shape.
  std::uint64_t shape = 0;
};

/// Finds the numbers of a line. What belongs to a word (`top5`, `cuda11.8`, `0x7f`), a date, a clock time, a version or
/// an address is none; `nan` and `inf` are where they stand as a value, not in running text.
void scan_line(std::string_view line, Scan& scan);

/// The value of a number, with k, M, G, B and T taken for thousands, millions and so on.
[[nodiscard]] double value_of(std::string_view line, const Number& number);

/// Whether the character can be part of a word: letters, digits, underscore, '@', and everything beyond ASCII.
[[nodiscard]] bool is_word_character(char character);
/// The end of the word at `from`: joined by single - . / ' + where a word character follows.
[[nodiscard]] std::size_t end_of_word(std::string_view line, std::size_t from);

}  // namespace osler::text
