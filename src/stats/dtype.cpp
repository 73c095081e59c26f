// Thresholds in the terms of an element type.
#include "stats/dtype.h"

#include <cmath>
#include <limits>

namespace osler::stats {

float float_below(double value) {
  const float rounded = static_cast<float>(value);
  return rounded > value ? std::nextafter(rounded, -std::numeric_limits<float>::infinity()) : rounded;
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

}  // namespace osler::stats
