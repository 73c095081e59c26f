// What one element of each type means as a number.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "osler/stats/tensor_view.h"

namespace osler::stats {

/// The value of an IEEE half-precision number, exactly.
[[nodiscard]] inline float decode_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1Fu;
  const std::uint32_t mantissa = bits & 0x3FFu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide_exponent = exponent == 0x1F ? 0xFF : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (wide_exponent << 23) | (mantissa << 13));
}

/// The value of a bfloat16 number, exactly.
[[nodiscard]] inline float decode_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// The element at `address`, exactly; every type fits into a double.
[[nodiscard]] inline double load_element(const std::byte* address, DType dtype) {
  if (dtype == DType::f64) {
    double value = 0;
    std::memcpy(&value, address, sizeof value);
    return value;
  }
  if (dtype == DType::f32) {
    float value = 0;
    std::memcpy(&value, address, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, address, sizeof bits);
  return dtype == DType::f16 ? decode_f16(bits) : decode_bf16(bits);
}

/// The largest float that is not above `value`.
[[nodiscard]] float float_below(double value);

/// The bits of the largest magnitude of a type that is not above `threshold` (at least 0): a magnitude exceeds the
/// threshold exactly when its bits, read as an integer, exceed these. NaN exceeds everything.
[[nodiscard]] std::uint64_t threshold_bits(DType dtype, double threshold);

/// How fine a storage type is: half the distance of neighbouring numbers is `relative` times the octave of the number,
/// but at least `smallest`.
struct Resolution {
  double relative = 0;
  double smallest = 0;
};

[[nodiscard]] Resolution resolution_of(DType dtype);

}  // namespace osler::stats
