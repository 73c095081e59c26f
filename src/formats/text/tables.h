// Tables drawn in text: "| key | value |" blocks, and columns under a header.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/text/scan.h"

namespace osler::text {

/// One number of a table with the name of its column or line.
struct TableCell {
  std::string name;
  double value = 0;
  std::int64_t total = 0;  ///< of a cell like "3/10", else 0
  bool integer = false;
};

/// Numbers that were printed together.
using TableRow = std::vector<TableCell>;

/// Reads tables line by line. A block of "| key | value |" lines is one row, complete when the block ends.
class Tables {
 public:
  /// Whether the line is fenced by '|'.
  [[nodiscard]] static bool fenced(std::string_view line);

  /// Takes a fenced line. True when it completed a row, which is in `row` then.
  bool fenced_line(std::string_view line, TableRow& row);
  /// Ends a block, since another kind of line came. True when that completed a row.
  bool end_block(TableRow& row);

  /// Offers a line without values as the header of columns to come.
  void offer_header(std::string_view line);
  /// Reads a line of bare numbers under the header. False when it is no row of that table.
  bool column_line(std::string_view line, TableRow& row);
  [[nodiscard]] bool has_header() const { return !header_.empty(); }

 private:
  bool read_cell(std::string_view text, TableCell& cell);
  bool row_under_header(const std::vector<std::string>& header, TableRow& row);

  std::vector<std::string> header_;  // of bare columns
  bool header_commas_ = false;
  int lines_since_row_ = 0;
  std::vector<std::string> fenced_header_;
  std::string group_;  // "rollout/" above indented keys
  TableRow block_;
  std::vector<std::string_view> cells_;
  Scan scan_;
};

}  // namespace osler::text
