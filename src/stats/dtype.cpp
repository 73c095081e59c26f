// Thresholds in the terms of an element type.
#include "stats/dtype.h"

#include <bit>
#include <limits>

namespace osler::stats {

float float_below(double value) {
  const float rounded = static_cast<float>(value);
  if (!(rounded > value)) return rounded;
  // std::nextafter saves and restores the state of the floating-point unit, which takes longer than a small tensor.
  const auto bits = std::bit_cast<std::uint32_t>(rounded);
  if (rounded == 0) return -std::numeric_limits<float>::denorm_min();
  return std::bit_cast<float>(rounded > 0 ? bits - 1 : bits + 1);
}

std::uint64_t threshold_bits(DType dtype, double threshold) {
  if (!(threshold > 0)) return 0;
  if (dtype == DType::f64) return std::bit_cast<std::uint64_t>(threshold);
  if (dtype == DType::f32) return std::bit_cast<std::uint32_t>(float_below(threshold));
  std::uint32_t low = 0;
  for (std::uint32_t bit = 1u << 14; bit != 0; bit >>= 1) {
    const auto higher = static_cast<std::uint16_t>(low | bit);
    const float magnitude = dtype == DType::f16 ? decode_f16(higher) : decode_bf16(higher);
    if (magnitude <= threshold) low = higher;  // false for NaN
  }
  return low;
}

Resolution resolution_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return {0x1p-24, 0x1p-150};
    case DType::f64:
      return {0x1p-53, 0};  // the half of the smallest double does not exist, nor does an update below it
    case DType::f16:
      return {0x1p-11, 0x1p-25};
    case DType::bf16:
      return {0x1p-8, 0x1p-134};
  }
  return {};
}

}  // namespace osler::stats
