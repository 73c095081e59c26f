// Bytes: a RowBinary answer, taken apart from front to back.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace osler::store {

/// Reads values in the order of a row's columns. What is beyond the end reads as zero and sets `broken`.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] bool broken() const { return broken_; }

  template <typename T>
  T fixed() {
    T value{};
    const std::string_view raw = take(sizeof value);
    if (!raw.empty()) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(length())); }
  std::vector<double> list() {
    const std::string_view raw = take(length() * sizeof(double));
    std::vector<double> values(raw.size() / sizeof(double));
    if (!values.empty()) std::memcpy(values.data(), raw.data(), raw.size());
    return values;
  }

 private:
  std::string_view take(std::uint64_t length) {
    if (length > bytes_.size()) {
      broken_ = true;
      bytes_ = {};
      return {};
    }
    const std::string_view taken = bytes_.substr(0, static_cast<std::size_t>(length));
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  std::uint64_t length() {
    constexpr unsigned kMost = 64;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < kMost; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    broken_ = true;
    return 0;
  }

  std::string_view bytes_;
  bool broken_ = false;
};

}  // namespace osler::store
