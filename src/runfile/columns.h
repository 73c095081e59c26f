// Columns: sequences of numbers packed into few bytes, and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"

namespace osler::runfile {

/// Numbers as bytes that describe themselves. docs/formats/run.md gives the grammar; every column knows its length.
void append_integers(std::span<const std::int64_t> numbers, std::string& bytes);
/// Every bit of every value comes back, NaN payloads included.
void append_values(std::span<const double> values, std::string& bytes);

/// Reads columns from the front of a blob. Bytes from a file may say anything: whatever does not add up is `corrupt`.
class ColumnReader {
 public:
  explicit ColumnReader(std::string_view bytes) : rest_(bytes) {}

  /// Reads a column of exactly `count` numbers.
  [[nodiscard]] Result<void> integers(std::size_t count, std::vector<std::int64_t>& numbers);
  [[nodiscard]] Result<void> values(std::size_t count, std::vector<double>& values);
  [[nodiscard]] bool done() const { return rest_.empty(); }
  /// What follows the columns that were read.
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  [[nodiscard]] bool unpack(std::size_t limit, std::string& bytes);

  std::string_view rest_;
  std::string scratch_;
};

/// Appends a number in 7-bit groups, the low ones first.
void append_varint(std::uint64_t number, std::string& bytes);
/// Takes one off the front; false when there is none.
[[nodiscard]] bool take_varint(std::string_view& bytes, std::uint64_t& number);

/// Small numbers of either sign as small numbers without one.
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t number) {
  return (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63);
}
[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t number) {
  return static_cast<std::int64_t>((number >> 1) ^ (~(number & 1) + 1));
}

}  // namespace osler::runfile
