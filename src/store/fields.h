// Fields of a row of text as numbers.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

namespace osler::store {

[[nodiscard]] inline std::uint64_t to_u64(const std::string& field) {
  std::uint64_t value = 0;
  std::from_chars(field.data(), field.data() + field.size(), value);
  return value;
}

[[nodiscard]] inline std::int64_t to_i64(const std::string& field) {
  std::int64_t value = 0;
  std::from_chars(field.data(), field.data() + field.size(), value);
  return value;
}

/// Also "nan" and "inf", as the server writes them.
[[nodiscard]] inline double to_f64(const std::string& field) {
  double value = 0;
  std::from_chars(field.data(), field.data() + field.size(), value);
  return value;
}

}  // namespace osler::store
