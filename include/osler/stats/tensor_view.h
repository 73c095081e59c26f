// TensorView: where a tensor lies in memory, without owning it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "osler/base/result.h"

namespace osler::stats {

/// The element types that can be measured.
enum class DType : std::uint8_t { f32, f64, f16, bf16 };

/// The type's name, as in "bf16".
[[nodiscard]] std::string_view to_string(DType dtype);

/// The bytes of one element.
[[nodiscard]] std::size_t element_bytes(DType dtype);

/// Where the memory of a tensor is.
struct Device {
  enum class Kind : std::uint8_t { cpu, cuda };
  Kind kind = Kind::cpu;
  int index = 0;  ///< which one of several devices of the kind

  friend bool operator==(const Device&, const Device&) = default;
};

/// A tensor of someone else: a pointer, an element type, sizes and strides. Cheap to copy; owns nothing. Elements are
/// numbered in row-major order of the sizes, whatever the strides.
class TensorView {
 public:
  static constexpr std::size_t kMaxRank = 16;

  /// A view of no elements.
  TensorView() = default;

  /// A view with strides counted in elements (zero and negative ones are fine). Fails on a negative size, a null
  /// pointer with elements behind it, a pointer not aligned to its element, too many dimensions, a count beyond 2^62 or
  /// strides that reach beyond 2^60 elements.
  static Result<TensorView> strided(const void* data, DType dtype, std::span<const std::int64_t> sizes,
                                    std::span<const std::int64_t> strides, Device device = {});
  /// A view of elements that lie densely in row-major order; fails as `strided` does.
  static Result<TensorView> contiguous(const void* data, DType dtype, std::span<const std::int64_t> sizes,
                                       Device device = {});
  /// A one-dimensional view of host memory.
  static TensorView of(std::span<const float> values);
  /// A one-dimensional view of host memory.
  static TensorView of(std::span<const double> values);

  [[nodiscard]] const void* data() const { return data_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] Device device() const { return device_; }
  /// The number of elements; 1 for a tensor of rank 0.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::span<const std::int64_t> sizes() const { return {sizes_.data(), rank_}; }
  /// In elements, one for each size.
  [[nodiscard]] std::span<const std::int64_t> strides() const { return {strides_.data(), rank_}; }

 private:
  const void* data_ = nullptr;
  std::uint64_t count_ = 0;
  DType dtype_ = DType::f32;
  Device device_;
  std::size_t rank_ = 1;
  std::array<std::int64_t, kMaxRank> sizes_{};
  std::array<std::int64_t, kMaxRank> strides_{};
};

}  // namespace osler::stats
