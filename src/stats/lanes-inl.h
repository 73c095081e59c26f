// How the SIMD kernels load the element types, compiled once for each instruction set.
#if defined(OSLER_STATS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OSLER_STATS_LANES_INL_H_
#undef OSLER_STATS_LANES_INL_H_
#else
#define OSLER_STATS_LANES_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "stats/dtype.h"

HWY_BEFORE_NAMESPACE();
namespace osler::stats {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Highway's half-precision conversion in software knows no infinities and NaNs; the hardware's does.
inline constexpr bool kSoftwareHalf =
    HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR;

/// Each source says what lies in memory (Raw), what it is computed in (Lane), and how to get from one to the other.
struct F32Source {
  using Raw = float;
  using Lane = float;
  static float decode(Raw raw) { return raw; }
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const Raw* from) {
    return hn::LoadU(d, from);
  }
};

struct F64Source {
  using Raw = double;
  using Lane = double;
  static double decode(Raw raw) { return raw; }
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const Raw* from) {
    return hn::LoadU(d, from);
  }
};

struct BF16Source {
  using Raw = std::uint16_t;
  using Lane = float;
  static float decode(Raw raw) { return decode_bf16(raw); }
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const Raw* from) {
    const hn::RebindToUnsigned<D> du32;
    const hn::Rebind<std::uint16_t, D> du16;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du32, hn::LoadU(du16, from))));
  }
};

struct F16Source {
  using Raw = std::uint16_t;
  using Lane = float;
  static float decode(Raw raw) { return decode_f16(raw); }
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const Raw* from) {
    const hn::Rebind<std::uint16_t, D> du16;
    const hn::Rebind<hwy::float16_t, D> df16;
    const auto raw = hn::LoadU(du16, from);
    const auto value = hn::PromoteTo(d, hn::BitCast(df16, raw));
    if constexpr (kSoftwareHalf) {
      const hn::RebindToUnsigned<D> du32;
      const auto exponent = hn::And(hn::PromoteTo(du32, raw), hn::Set(du32, 0x7C00u));
      const auto not_finite = hn::Eq(exponent, hn::Set(du32, 0x7C00u));
      return hn::BitCast(d,
                         hn::Or(hn::BitCast(du32, value), hn::IfThenElseZero(not_finite, hn::Set(du32, 0x7F800000u))));
    } else {
      return value;
    }
  }
};

/// Asks for memory two pages ahead: the hardware's own prefetching stops at every page and would leave the arithmetic
/// and the loads to wait for each other. Measured: 0.6 of a plain sum's speed without, above 0.9 with.
template <class Raw>
HWY_INLINE void prefetch_ahead(const Raw* at) {
  hwy::Prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(at) + 8192));
}

/// The last elements of a block, fewer than a vector holds, followed by zeros.
template <class Source>
struct PaddedTail {
  // Enough for the widest vector of two-byte elements read by the kernels.
  static constexpr std::size_t kRoom = HWY_MAX_BYTES;

  PaddedTail(const typename Source::Raw* from, std::size_t count) {
    std::memset(raw, 0, sizeof raw);
    std::memcpy(raw, from, count * sizeof(typename Source::Raw));
  }
  HWY_ALIGN typename Source::Raw raw[kRoom];
};

}  // namespace HWY_NAMESPACE
}  // namespace osler::stats
HWY_AFTER_NAMESPACE();

#endif
