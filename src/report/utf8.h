// UTF-8, one code point at a time, and how many terminal cells each takes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace osler::layout {

/// What stands at the front of a text.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;  ///< how many bytes it took; 1 for a byte that is not UTF-8
  bool valid = false;
};

/// The first code point of `text`, which must not be empty. Overlong forms and surrogates are not valid.
[[nodiscard]] CodePoint decode(std::string_view text);

void append_utf8(std::string& text, char32_t value);

/// How many cells a terminal gives a printable code point: 0 (combining), 1 or 2 (East Asian wide, emoji).
[[nodiscard]] int cells(char32_t value);

}  // namespace osler::layout
