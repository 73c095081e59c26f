// Looking at exponents alone: NaN and infinity have one of all ones.
#include "monitor/finite.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace osler::monitor {
namespace {

/// No branch, so that the compiler can look at several at a time.
template <typename Bits>
bool any_exponent_full(const void* data, std::uint64_t count, Bits exponent) {
  const auto* numbers = static_cast<const std::byte*>(data);
  Bits full = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Bits bits = 0;
    std::memcpy(&bits, numbers + i * sizeof bits, sizeof bits);
    full |= static_cast<Bits>((bits & exponent) == exponent);
  }
  return full != 0;
}

}  // namespace

bool all_finite(const stats::TensorView& tensor) {
  switch (tensor.dtype()) {
    case stats::DType::f32:
      return !any_exponent_full<std::uint32_t>(tensor.data(), tensor.count(), 0x7F800000U);
    case stats::DType::f64:
      return !any_exponent_full<std::uint64_t>(tensor.data(), tensor.count(), 0x7FF0000000000000U);
    case stats::DType::f16:
      return !any_exponent_full<std::uint16_t>(tensor.data(), tensor.count(), 0x7C00U);
    case stats::DType::bf16:
      return !any_exponent_full<std::uint16_t>(tensor.data(), tensor.count(), 0x7F80U);
  }
  return true;
}

}  // namespace osler::monitor
