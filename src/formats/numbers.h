// Numbers as logs spell them.
#pragma once

#include <string>
#include <string_view>

namespace osler {

/// What a cell of a table holds.
enum class CellKind {
  number,
  absent,  ///< empty, None, null, N/A: nothing was recorded
  text,
};

/// A cell as a number.
struct CellValue {
  CellKind kind = CellKind::absent;
  double value = 0;
};

/// Reads a cell: `1e-4`, `+3`, `inf`, `-Infinity`, `nan`, `1.#QNAN`, `1,234.5`, `1'234.5`, `97 %`, `tensor(0.5)`, with
/// blanks around it. With `decimal_comma`, `0,5` is one half and `1.234,5` above a thousand.
[[nodiscard]] CellValue read_cell(std::string_view text, bool decimal_comma = false);

/// `text` without blanks at its ends.
[[nodiscard]] std::string_view trim(std::string_view text);

/// Some text from a log, made fit for a message: printable, on one line, at most `limit` bytes of it.
[[nodiscard]] std::string quotable(std::string_view text, std::size_t limit = 40);

}  // namespace osler
