// Columns grow as strings of bytes in the layout that the server reads: both sides are little endian.
#include "store/block.h"

#include <bit>

namespace osler::store {

static_assert(std::endian::native == std::endian::little, "ClickHouse's Native format is little endian");

std::string_view sql_type(Kind kind) {
  switch (kind) {
    case Kind::u8:
      return "UInt8";
    case Kind::u32:
      return "UInt32";
    case Kind::u64:
      return "UInt64";
    case Kind::i64:
      return "Int64";
    case Kind::f64:
      return "Float64";
    case Kind::text:
      return "String";
    case Kind::f64_list:
      return "Array(Float64)";
    case Kind::text_list:
      return "Array(String)";
  }
  return "";
}

void append_length(std::string& out, std::uint64_t value) {
  constexpr std::uint64_t kMore = 0x80;
  while (value >= kMore) {
    out += static_cast<char>((value & (kMore - 1)) | kMore);
    value >>= 7U;
  }
  out += static_cast<char>(value);
}

namespace {

void append_text(std::string& out, std::string_view text) {
  append_length(out, text.size());
  out += text;
}

}  // namespace

Block::Block(const std::vector<ColumnType>& columns) {
  for (const ColumnType& type : columns) columns_.push_back({type, {}, {}, 0});
}

Block& Block::step() {
  if (++next_ == columns_.size()) {
    next_ = 0;
    ++rows_;
  }
  return *this;
}

Block& Block::text(std::string_view value) {
  append_text(columns_[next_].bytes, value);
  return step();
}

Block& Block::list(const std::vector<double>& values) {
  Column& column = columns_[next_];
  column.elements += values.size();
  column.ends.append(reinterpret_cast<const char*>(&column.elements), sizeof column.elements);
  column.bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  return step();
}

Block& Block::list(const std::vector<std::string>& values) {
  Column& column = columns_[next_];
  column.elements += values.size();
  column.ends.append(reinterpret_cast<const char*>(&column.elements), sizeof column.elements);
  for (const std::string& value : values) append_text(column.bytes, value);
  return step();
}

std::size_t Block::bytes() const {
  std::size_t sum = 0;
  for (const Column& column : columns_) sum += column.ends.size() + column.bytes.size();
  return sum;
}

void Block::clear() {
  for (Column& column : columns_) {
    column.ends.clear();
    column.bytes.clear();
    column.elements = 0;
  }
  next_ = 0;
  rows_ = 0;
}

std::string Block::column_list() const {
  std::string list = "(";
  for (const Column& column : columns_) {
    if (list.size() > 1) list += ", ";
    list += column.type.name;
  }
  return list + ")";
}

std::string Block::native() const {
  std::string out;
  out.reserve(bytes() + columns_.size() * 32);
  append_length(out, columns_.size());
  append_length(out, rows_);
  for (const Column& column : columns_) {
    append_text(out, column.type.name);
    append_text(out, sql_type(column.type.kind));
    out += column.ends;
    out += column.bytes;
  }
  return out;
}

}  // namespace osler::store
