// TableReader: reads delimited tables (CSV and its relatives) line by line.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/lines.h"
#include "formats/rows.h"
#include "osler/formats/format.h"

namespace osler {

/// How the lines of a table are made.
struct TableLayout {
  static constexpr char kBlanks = ' ';  ///< as delimiter: any run of blanks

  char delimiter = ',';
  bool has_header = false;
  std::size_t columns = 0;
  bool decimal_comma = false;  ///< 0,5 is one half
};

/// What is known of a table beforehand.
struct TableOptions {
  std::vector<std::string> header;  ///< names of the columns when the file has no header; then blanks separate
  std::vector<std::pair<std::string, std::string>> rename;  ///< columns to be called differently
  std::string only_column;  ///< name of a single column that has none, beside its step or alone
};

/// The fields of one line, without quotes and blanks around them.
[[nodiscard]] std::vector<std::string> split_fields(std::string_view line, char delimiter);

/// What makes sense of `lines` as a table of numbers; columns is 0 when nothing does.
[[nodiscard]] TableLayout guess_layout(const std::vector<std::string>& lines);

/// The first lines of an input that are no comments, decoded.
[[nodiscard]] std::vector<std::string> first_lines(const Peek& peek);

/// Whether the head of the input is nothing but the beginning of a long header: hundreds of short names.
[[nodiscard]] bool is_wide_header(const Peek& peek);

/// Whether a table with this header was written by a training.
[[nodiscard]] bool is_training_header(const std::vector<std::string>& names);

/// The names in the header of a table of numbers; empty when the input is none or has no header.
[[nodiscard]] std::vector<std::string> table_header(const Peek& peek);

/// A reader for any delimited table.
[[nodiscard]] std::unique_ptr<Reader> make_table_reader(TableOptions options = {});

}  // namespace osler
