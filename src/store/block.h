// Block: rows on their way to a table, column by column, as ClickHouse's Native format has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace osler::store {

/// What a column holds.
enum class Kind { u8, u32, u64, i64, f64, text, f64_list, text_list };

/// A column of a table, by name.
struct ColumnType {
  std::string_view name;
  Kind kind;
};

/// The type's name in SQL.
[[nodiscard]] std::string_view sql_type(Kind kind);

/// Rows with the same columns. Values are added row by row, one after the other in the order of the columns.
class Block {
 public:
  explicit Block(const std::vector<ColumnType>& columns);

  Block& u8(std::uint8_t value) { return fixed(value); }
  Block& u32(std::uint32_t value) { return fixed(value); }
  Block& u64(std::uint64_t value) { return fixed(value); }
  Block& i64(std::int64_t value) { return fixed(value); }
  Block& f64(double value) { return fixed(value); }
  Block& text(std::string_view value);
  Block& list(const std::vector<double>& values);
  Block& list(const std::vector<std::string>& values);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t bytes() const;
  void clear();
  /// The columns in brackets, for INSERT.
  [[nodiscard]] std::string column_list() const;
  /// One Native block.
  [[nodiscard]] std::string native() const;

 private:
  struct Column {
    ColumnType type;
    std::string ends;   // of lists: where each one ends, counted in elements
    std::string bytes;  // the values
    std::uint64_t elements = 0;
  };

  template <typename T>
  Block& fixed(T value) {
    columns_[next_].bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return step();
  }
  Block& step();

  std::vector<Column> columns_;
  std::size_t next_ = 0;
  std::size_t rows_ = 0;
};

/// Appends a number in the variable length that ClickHouse uses for lengths.
void append_length(std::string& out, std::uint64_t value);

}  // namespace osler::store
