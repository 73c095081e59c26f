// Counts active elements with SIMD instructions, compiled once for each instruction set. Magnitudes of every type sort
// like the integers made of their bits, so one code serves all types of a size.
#include "stats/unit_kernel.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stats/unit_kernel.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace osler::stats {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// One element's magnitude; the memory may hold floating-point objects, so it is copied, not read as an integer.
template <class Bits>
Bits magnitude_of(const Bits* from) {
  Bits bits = 0;
  std::memcpy(&bits, from, sizeof bits);
  return bits & (static_cast<Bits>(~Bits{0}) >> 1);
}

template <class Bits>
std::size_t count_above(const Bits* data, std::size_t count, std::uint64_t threshold_wide) {
  const hn::ScalableTag<Bits> d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  const Bits threshold = static_cast<Bits>(threshold_wide);
  std::size_t active = 0;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto magnitude = hn::And(hn::LoadU(d, data + i), hn::Set(d, kMagnitude));
    active += hn::CountTrue(d, hn::Gt(magnitude, hn::Set(d, threshold)));
  }
  for (; i < count; ++i) active += magnitude_of(data + i) > threshold ? 1 : 0;
  return active;
}

std::size_t count_above_16(const std::uint16_t* data, std::size_t count, std::uint64_t threshold) {
  return count_above(data, count, threshold);
}
std::size_t count_above_32(const std::uint32_t* data, std::size_t count, std::uint64_t threshold) {
  return count_above(data, count, threshold);
}
std::size_t count_above_64(const std::uint64_t* data, std::size_t count, std::uint64_t threshold) {
  return count_above(data, count, threshold);
}

/// Loads 16- or 32-bit magnitudes into 32-bit lanes.
template <class D>
HWY_INLINE hn::Vec<D> load_magnitude(D d, const std::uint16_t* from) {
  return hn::And(hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint16_t, D>(), from)), hn::Set(d, 0x7FFFu));
}
template <class D>
HWY_INLINE hn::Vec<D> load_magnitude(D d, const std::uint32_t* from) {
  return hn::And(hn::LoadU(d, from), hn::Set(d, 0x7FFFFFFFu));
}

template <class Bits>
void add_above(const Bits* data, std::size_t count, std::uint64_t threshold_wide, std::uint32_t* counts) {
  const hn::ScalableTag<std::uint32_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::uint32_t threshold = static_cast<std::uint32_t>(threshold_wide);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto active = hn::Gt(load_magnitude(d, data + i), hn::Set(d, threshold));
    hn::StoreU(hn::Sub(hn::LoadU(d, counts + i), hn::VecFromMask(d, active)), d, counts + i);
  }
  for (; i < count; ++i) counts[i] += magnitude_of(data + i) > threshold ? 1 : 0;
}

void add_above_16(const std::uint16_t* data, std::size_t count, std::uint64_t threshold, std::uint32_t* counts) {
  add_above(data, count, threshold, counts);
}
void add_above_32(const std::uint32_t* data, std::size_t count, std::uint64_t threshold, std::uint32_t* counts) {
  add_above(data, count, threshold, counts);
}

}  // namespace HWY_NAMESPACE
}  // namespace osler::stats
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace osler::stats {

HWY_EXPORT(count_above_16);
HWY_EXPORT(count_above_32);
HWY_EXPORT(count_above_64);
HWY_EXPORT(add_above_16);
HWY_EXPORT(add_above_32);

std::size_t count_active(const void* data, DType dtype, std::size_t count, std::uint64_t threshold) {
  switch (element_bytes(dtype)) {
    case 2:
      return HWY_DYNAMIC_DISPATCH(count_above_16)(static_cast<const std::uint16_t*>(data), count, threshold);
    case 4:
      return HWY_DYNAMIC_DISPATCH(count_above_32)(static_cast<const std::uint32_t*>(data), count, threshold);
    default:
      return HWY_DYNAMIC_DISPATCH(count_above_64)(static_cast<const std::uint64_t*>(data), count, threshold);
  }
}

void add_active(const void* data, DType dtype, std::size_t count, std::uint64_t threshold, std::uint32_t* counts) {
  switch (element_bytes(dtype)) {
    case 2:
      return HWY_DYNAMIC_DISPATCH(add_above_16)(static_cast<const std::uint16_t*>(data), count, threshold, counts);
    case 4:
      return HWY_DYNAMIC_DISPATCH(add_above_32)(static_cast<const std::uint32_t*>(data), count, threshold, counts);
    default:
      for (std::size_t i = 0; i < count; ++i) {
        counts[i] +=
            static_cast<std::uint32_t>(count_active(static_cast<const std::uint64_t*>(data) + i, dtype, 1, threshold));
      }
  }
}

}  // namespace osler::stats
#endif  // HWY_ONCE
