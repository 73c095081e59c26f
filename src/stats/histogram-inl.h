// Counts signs and exponents of one block: whole vectors at a time for the octaves that hold most elements, one by one
// for the few that are left.
#if defined(OSLER_STATS_HISTOGRAM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OSLER_STATS_HISTOGRAM_INL_H_
#undef OSLER_STATS_HISTOGRAM_INL_H_
#else
#define OSLER_STATS_HISTOGRAM_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "osler/stats/log_histogram.h"
#include "stats/lanes-inl.h"
#include "stats/summary_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace osler::stats {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Below this many elements one by one is faster.
inline constexpr std::size_t kSmallBlock = 128;

HWY_INLINE void add_one(double value, LogHistogram& histogram) {
  auto& side = value < 0 ? histogram.negative : histogram.positive;
  ++side[LogHistogram::bin_of(value)];
}

// Counting whole vectors needs vectors: a target with single lanes counts one by one.
#if HWY_TARGET != HWY_SCALAR

// A key is one byte: in its lower half the exponent, counted so that the top octave is 15 and everything too small,
// zeros among it, is 0; in its highest bit the sign.
inline constexpr int kOctaves = 15;

/// The upper halves of two vectors of wide lanes, in turns, as one vector of narrow lanes.
template <class DNarrow, class VWide>
HWY_INLINE hn::Vec<DNarrow> upper_halves(DNarrow d, VWide a, VWide b) {
  using Wide = hn::TFromV<VWide>;
  constexpr int kHalf = sizeof(Wide) * 4;
  const hn::RepartitionToWide<DNarrow> wide;
  const auto upper = hn::Set(wide, static_cast<Wide>(~Wide{0} << kHalf));
  return hn::BitCast(d, hn::OrAnd(hn::ShiftRight<kHalf>(a), b, upper));
}

/// How a source's elements become 16-bit lanes with the sign on top and the exponent from bit kShift on. Exponents are
/// those of Lane: bias kBias.
template <class Source>
struct ExponentLanes {
  static constexpr int kShift = 7;
  static constexpr int kBias = 127;
  template <class D16>
  static HWY_INLINE hn::Vec<D16> load(D16 d16, const typename Source::Raw* from) {
    const hn::RepartitionToWide<D16> d32;
    const hn::RebindToFloat<decltype(d32)> df;
    return upper_halves(d16, hn::BitCast(d32, Source::load(df, from)),
                        hn::BitCast(d32, Source::load(df, from + hn::Lanes(df))));
  }
};

template <>
struct ExponentLanes<BF16Source> {
  static constexpr int kShift = 7;
  static constexpr int kBias = 127;
  template <class D16>
  static HWY_INLINE hn::Vec<D16> load(D16 d16, const std::uint16_t* from) {
    return hn::LoadU(d16, from);
  }
};

template <>
struct ExponentLanes<F64Source> {
  static constexpr int kShift = 4;
  static constexpr int kBias = 1023;
  template <class D16>
  static HWY_INLINE hn::Vec<D16> load(D16 d16, const double* from) {
    const hn::RepartitionToWide<D16> d32;
    const hn::RepartitionToWide<decltype(d32)> d64;
    const hn::RebindToFloat<decltype(d64)> dd;
    const std::size_t lanes = hn::Lanes(dd);
    hn::Vec<decltype(d32)> halves[2];
    for (std::size_t i = 0; i < 2; ++i) {
      const double* at = from + 2 * i * lanes;
      halves[i] = upper_halves(d32, hn::BitCast(d64, hn::LoadU(dd, at)), hn::BitCast(d64, hn::LoadU(dd, at + lanes)));
    }
    return upper_halves(d16, halves[0], halves[1]);
  }
};

/// The biased exponent of a magnitude in the lanes of a source, 0 for zero and subnormal ones.
template <class Source>
int biased_exponent(double magnitude) {
  const int exponent = static_cast<int>((std::bit_cast<std::uint64_t>(magnitude) >> 52) & 0x7FF) - 1023;
  return std::max(0, exponent + ExponentLanes<Source>::kBias);
}

/// The keys of a block in no special order, followed by zeros up to a multiple of kStep vectors.
struct Keys {
  using D = hn::ScalableTag<std::uint8_t>;
  using D16 = hn::ScalableTag<std::uint16_t>;
  static constexpr std::size_t kStep = 16;

  /// Makes the keys for the octaves from `top` down. Larger elements become zeros if kAbove says that there are any.
  template <class Source, bool kAbove>
  void fill(const typename Source::Raw* data, std::size_t count, int top) {
    const std::size_t step = hn::Lanes(D());
    const int base = top - kOctaves;
    std::size_t i = 0;
    for (; i + step <= count; i += step) write<Source, kAbove>(data + i, base, bytes + i);
    if (i < count) {
      const PaddedTail<Source> tail(data + i, count - i);
      write<Source, kAbove>(tail.raw, base, bytes + i);
      i += step;
    }
    size = hwy::RoundUpTo(i, kStep * step);
    std::memset(bytes + i, 0, size - i);
  }

  template <class Source, bool kAbove>
  static HWY_INLINE void write(const typename Source::Raw* from, int base, std::uint8_t* to) {
    const D16 d16;
    const auto a = ExponentLanes<Source>::load(d16, from);
    const auto b = ExponentLanes<Source>::load(d16, from + hn::Lanes(d16));
    const auto octaves = upper_halves(D(), octave_of<Source, kAbove>(a, base), octave_of<Source, kAbove>(b, base));
    const auto signs = upper_halves(D(), a, b);
    hn::Store(hn::OrAnd(octaves, signs, hn::Set(D(), std::uint8_t{0x80})), D(), to);
  }

  /// The octave in the upper byte of each lane, anything below it.
  template <class Source, bool kAbove>
  static HWY_INLINE hn::Vec<D16> octave_of(hn::Vec<D16> lanes, int base) {
    const D16 d16;
    constexpr int kUnit = ExponentLanes<Source>::kShift + 1;  // where the exponent begins once the sign is shifted out
    auto octave = hn::SaturatedSub(hn::ShiftLeft<1>(lanes), hn::Set(d16, static_cast<std::uint16_t>(base << kUnit)));
    if constexpr (kAbove) {
      constexpr std::uint16_t kLast = ((kOctaves + 1) << kUnit) - 1;
      octave = hn::IfThenZeroElse(hn::Gt(octave, hn::Set(d16, kLast)), octave);
    }
    return hn::ShiftLeft<8 - kUnit>(octave);
  }

  std::size_t size = 0;
  HWY_ALIGN std::uint8_t bytes[kBlockElements + kStep * HWY_MAX_BYTES];
};

template <class Source>
std::size_t bin_of_exponent(int biased_exponent) {
  return static_cast<std::size_t>(std::clamp(biased_exponent - ExponentLanes<Source>::kBias + 127, 0, 255));
}

/// Counts, for each of the eight bits of a byte, in how many bytes it is set: a tree of adders over whole vectors, in
/// which `ones` to `eights` hold the binary digits of the counts so far and full `sixteens` go to byte counters.
class BitCounts {
 public:
  using D = Keys::D;
  using V = hn::Vec<D>;

  BitCounts() : ones_(hn::Zero(D())), twos_(ones_), fours_(ones_), eights_(ones_) {
    for (V& count : sixteens_) count = ones_;
  }

  /// Takes in Keys::kStep vectors, at most 255 times.
  template <class Lookup>
  HWY_INLINE void add(const Lookup& bytes) {
    const V first = add_eight(bytes, 0);
    const V second = add_eight(bytes, 8);
    add_digit<0>(add_up(eights_, first, second), sixteens_);
  }

  void store(std::size_t* counts) const {
    V rest[8];
    for (V& count : rest) count = hn::Zero(D());
    add_digit<0>(eights_, rest);
    double_all(rest);
    add_digit<0>(fours_, rest);
    double_all(rest);
    add_digit<0>(twos_, rest);
    double_all(rest);
    add_digit<0>(ones_, rest);
    const hn::Repartition<std::uint64_t, D> du64;
    for (std::size_t bit = 0; bit < 8; ++bit) {
      const auto sums = hn::Add(hn::ShiftLeft<4>(hn::SumsOf8(sixteens_[bit])), hn::SumsOf8(rest[bit]));
      counts[bit] = static_cast<std::size_t>(hn::GetLane(hn::SumOfLanes(du64, sums)));
    }
  }

 private:
  /// Adds two vectors of digits to `digits` and returns the carry.
  static HWY_INLINE V add_up(V& digits, V a, V b) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    // Each output of a full adder is one instruction here; Highway has a name only for the sum.
    const V carry{_mm512_ternarylogic_epi64(digits.raw, a.raw, b.raw, 0xE8)};
    digits = hn::Xor3(digits, a, b);
#else
    const V differ = hn::Xor(a, b);
    const V carry = hn::Or(hn::And(a, b), hn::And(differ, digits));
    digits = hn::Xor(digits, differ);
#endif
    return carry;
  }

  template <class Lookup>
  HWY_INLINE V add_eight(const Lookup& bytes, std::size_t from) {
    const V twos_a = add_up(ones_, bytes(from), bytes(from + 1));
    const V twos_b = add_up(ones_, bytes(from + 2), bytes(from + 3));
    const V fours_a = add_up(twos_, twos_a, twos_b);
    const V twos_c = add_up(ones_, bytes(from + 4), bytes(from + 5));
    const V twos_d = add_up(ones_, bytes(from + 6), bytes(from + 7));
    const V fours_b = add_up(twos_, twos_c, twos_d);
    return add_up(fours_, fours_a, fours_b);
  }

  template <int kBit>
  static HWY_INLINE void add_digit(V digits, V* counts) {
    const D d;
    const hn::RepartitionToWide<D> d16;
    const V bit = hn::And(hn::BitCast(d, hn::ShiftRight<kBit>(hn::BitCast(d16, digits))), hn::Set(d, std::uint8_t{1}));
    counts[kBit] = hn::Add(counts[kBit], bit);
    if constexpr (kBit < 7) add_digit<kBit + 1>(digits, counts);
  }

  static HWY_INLINE void double_all(V* counts) {
    for (std::size_t bit = 0; bit < 8; ++bit) counts[bit] = hn::Add(counts[bit], counts[bit]);
  }

  V ones_, twos_, fours_, eights_;
  V sixteens_[8];
};

/// Turns keys into bytes with one bit set for the octave if it is one of eight and the sign is right.
template <bool kNegative>
struct OctaveBits {
  explicit OctaveBits(bool further) : flip(hn::Set(Keys::D(), std::uint8_t{0x80})) {
    alignas(16) static constexpr std::uint8_t kBits[2][16] = {{0, 0, 0, 0, 0, 0, 0, 0, 128, 64, 32, 16, 8, 4, 2, 1},
                                                              {0, 64, 32, 16, 8, 4, 2, 1}};
    bits = hn::LoadDup128(Keys::D(), kBits[further ? 1 : 0]);
  }
  HWY_INLINE hn::Vec<Keys::D> operator()(std::size_t vector) const {
    const Keys::D d;
    const auto key = hn::Load(d, at + vector * hn::Lanes(d));
    return hn::TableLookupBytesOr0(bits, kNegative ? hn::Xor(key, flip) : key);
  }

  hn::Vec<Keys::D> flip, bits;
  const std::uint8_t* at = nullptr;
};

/// Counts the elements of one sign in the octaves from `top` down: the eight uppermost ones of the keys, or the seven
/// further ones.
template <class Source, bool kNegative>
std::size_t count_window(const Keys& keys, int top, bool further, LogHistogram& histogram) {
  OctaveBits<kNegative> octave_bits(further);
  BitCounts bit_counts;
  for (std::size_t i = 0; i < keys.size; i += Keys::kStep * hn::Lanes(Keys::D())) {
    octave_bits.at = keys.bytes + i;
    bit_counts.add(octave_bits);
  }
  std::size_t counts[8];
  bit_counts.store(counts);
  auto& side = kNegative ? histogram.negative : histogram.positive;
  std::size_t total = 0;
  for (int k = 0; k < (further ? kOctaves - 8 : 8); ++k) {
    side[bin_of_exponent<Source>(top - k)] += counts[k];
    total += counts[k];
  }
  return total;
}

/// Counts one by one the `left` non-zero elements whose exponent is at most `top`.
template <class Source>
void count_rest(const typename Source::Raw* data, std::size_t count, int top, std::size_t left,
                LogHistogram& histogram) {
  using Lane = typename Source::Lane;
  const hn::ScalableTag<Lane> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto edge = hn::Set(d, static_cast<Lane>(std::ldexp(1.0, top + 1 - ExponentLanes<Source>::kBias)));
  std::size_t i = 0;
  for (; i + lanes <= count && left > 0; i += lanes) {
    const auto magnitude = hn::Abs(Source::load(d, data + i));
    const auto wanted = hn::And(hn::Lt(magnitude, edge), hn::Gt(magnitude, hn::Zero(d)));
    if (hn::AllFalse(d, wanted)) continue;
    std::uint8_t packed[8] = {};
    hn::StoreMaskBits(d, wanted, packed);
    std::uint64_t bits = 0;
    std::memcpy(&bits, packed, sizeof bits);
    for (; bits != 0; bits &= bits - 1, --left) {
      add_one(Source::decode(data[i + static_cast<std::size_t>(std::countr_zero(bits))]), histogram);
    }
  }
  const double scalar_edge = static_cast<double>(hn::GetLane(edge));
  for (; i < count && left > 0; ++i) {
    const double value = Source::decode(data[i]);
    if (value == 0 || std::abs(value) >= scalar_edge) continue;
    add_one(value, histogram);
    --left;
  }
}

/// Counts a block of finite elements by vectors: windows of octaves from the largest magnitude down, while enough
/// elements are left to be worth another walk over the keys.
template <class Source>
void count_by_vectors(const typename Source::Raw* data, std::size_t count, const TensorStats& stats,
                      LogHistogram& histogram) {
  std::size_t left = count - stats.zeros;
  const std::size_t few = count / 512;
  int top = biased_exponent<Source>(stats.abs_max());
  Keys keys;
  for (int walks = 0; left > few && top > kOctaves && walks < 8; ++walks) {
    const bool further = walks % 2 == 1;
    if (walks == 0) {
      keys.fill<Source, false>(data, count, top);
    } else if (!further) {
      keys.fill<Source, true>(data, count, top);
    }
    if (stats.max > 0) left -= count_window<Source, false>(keys, top, further, histogram);
    if (stats.min < 0) left -= count_window<Source, true>(keys, top, further, histogram);
    top -= further ? kOctaves - 8 : 8;
  }
  if (left > 0) count_rest<Source>(data, count, top, left, histogram);
}

#endif

/// Adds the finite elements of a block, whose statistics are known, to a histogram.
template <class Source>
void add_to_histogram(const typename Source::Raw* data, std::size_t count, const TensorStats& stats,
                      LogHistogram& histogram) {
  histogram.zeros += stats.zeros;
  if (stats.finite_count() == stats.zeros) return;
#if HWY_TARGET != HWY_SCALAR
  if (stats.finite_count() == count && count >= kSmallBlock) {
    count_by_vectors<Source>(data, count, stats, histogram);
    return;
  }
#endif
  for (std::size_t i = 0; i < count; ++i) {
    const double value = Source::decode(data[i]);
    if (value != 0 && std::isfinite(value)) add_one(value, histogram);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace osler::stats
HWY_AFTER_NAMESPACE();

#endif
