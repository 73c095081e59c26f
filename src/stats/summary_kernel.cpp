// Measures one block of a tensor with SIMD instructions, compiled once for each instruction set.
#include "stats/summary_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "stats/dtype.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stats/summary_kernel.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "stats/brief-inl.h"
#include "stats/histogram-inl.h"
#include "stats/lanes-inl.h"
#include "stats/moments-inl.h"

HWY_BEFORE_NAMESPACE();
namespace osler::stats {
namespace HWY_NAMESPACE {

/// Running extremes of vectors of lanes.
template <class D>
struct Extremes {
  // Written out because the compiler's own constructor would not be compiled for the instruction set.
  Extremes() : min(hn::Set(D(), std::numeric_limits<hn::TFromD<D>>::infinity())), max(hn::Neg(min)), min_abs(min) {}

  hn::Vec<D> min, max, min_abs;
};

/// What the first look at a block gives; enough to know whether a second one is needed.
struct FirstLook {
  std::size_t finite = 0;
  std::size_t nan = 0;
  double shift = 0;
  Sums sums;  ///< of x - shift
  double min = 0;
  double max = 0;
  double min_abs = 0;
};

/// A value near the mean of the block, so that squares of deviations do not cancel. A share of the block decides it:
/// the block's variance is then at least that share of the squared distance between shift and mean.
template <class Source>
typename Source::Lane shift_of(const typename Source::Raw* data, std::size_t count) {
  using Lane = typename Source::Lane;
  const hn::ScalableTag<Lane> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t share = std::min(count, kBlockElements / 8);
  if (share < 2 * lanes) return Source::decode(data[0]);
  // Two sums, because an addition takes longer than a load.
  auto even = hn::Zero(d);
  auto odd = even;
  std::size_t i = 0;
  for (; i + 2 * lanes <= share; i += 2 * lanes) {
    even = hn::Add(even, Source::load(d, data + i));
    odd = hn::Add(odd, Source::load(d, data + i + lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd))) / static_cast<Lane>(i);
}

template <class Source>
typename Source::Lane first_finite(const typename Source::Raw* data, std::size_t count) {
  const hn::ScalableTag<typename Source::Lane> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  while (i + lanes <= count && hn::AllFalse(d, hn::IsFinite(Source::load(d, data + i)))) i += lanes;
  for (; i < count; ++i) {
    const typename Source::Lane value = Source::decode(data[i]);
    if (std::isfinite(value)) return value;
  }
  return 0;
}

/// Takes in the finite ones of the lanes that `inside` selects.
template <class D, class Moments>
HWY_INLINE void add_masked(D d, hn::Vec<D> v, hn::Mask<D> inside, Moments& moments, Extremes<D>& extremes,
                           FirstLook& look) {
  using Lane = hn::TFromD<D>;
  const auto finite = hn::And(hn::IsFinite(v), inside);
  const auto infinity = hn::Set(d, std::numeric_limits<Lane>::infinity());
  const auto magnitude = hn::Abs(v);
  const auto shift = hn::Set(d, static_cast<Lane>(look.shift));
  moments.add(hn::IfThenElse(finite, v, shift), hn::IfThenElseZero(finite, magnitude));
  extremes.min = hn::Min(extremes.min, hn::IfThenElse(finite, v, infinity));
  extremes.max = hn::Max(extremes.max, hn::IfThenElse(finite, v, hn::Neg(infinity)));
  extremes.min_abs = hn::Min(extremes.min_abs, hn::IfThenElse(finite, magnitude, infinity));
  look.finite += hn::CountTrue(d, finite);
  look.nan += hn::CountTrue(d, hn::And(hn::IsNaN(v), inside));
}

/// One look at the block: careless of non-finite values but in the last partial vector, or careful with all.
template <class Source, class Moments, bool kCareful>
FirstLook look_over(const typename Source::Raw* data, std::size_t count, typename Source::Lane shift) {
  const hn::ScalableTag<typename Source::Lane> d;
  using D = decltype(d);
  const std::size_t lanes = hn::Lanes(d);
  FirstLook look;
  look.shift = shift;
  Moments moments(shift);
  Extremes<std::remove_const_t<D>> extremes;
  std::size_t i = 0;
  if constexpr (kCareful) {
    for (; i + lanes <= count; i += lanes) {
      add_masked(d, Source::load(d, data + i), hn::FirstN(d, lanes), moments, extremes, look);
    }
  } else {
    while (i + lanes <= count) {
      const std::size_t group_end = std::min(i + Moments::kGroup * lanes, count - count % lanes);
      for (; i < group_end; i += lanes) {
        const auto v = Source::load(d, data + i);
        const auto magnitude = hn::Abs(v);
        moments.add(v, data + i);
        prefetch_ahead(data + i);
        extremes.min = hn::Min(extremes.min, v);
        extremes.max = hn::Max(extremes.max, v);
        extremes.min_abs = hn::Min(extremes.min_abs, magnitude);
      }
      moments.end_group();
    }
    look.finite = i;
  }
  if (i < count) {
    const PaddedTail<Source> tail(data + i, count - i);
    add_masked(d, Source::load(d, tail.raw), hn::FirstN(d, count - i), moments, extremes, look);
  }
  look.sums = moments.total();
  look.min = hn::GetLane(hn::MinOfLanes(d, extremes.min));
  look.max = hn::GetLane(hn::MaxOfLanes(d, extremes.max));
  look.min_abs = hn::GetLane(hn::MinOfLanes(d, extremes.min_abs));
  return look;
}

/// Whether the careless look can be believed: no NaN or infinity came in, and no square was lost below or above.
template <class Moments>
bool sound(const FirstLook& look) {
  if (!std::isfinite(look.sums.sum) || !std::isfinite(look.sums.squares) || !std::isfinite(look.sums.l1)) return false;
  const double range = std::max(look.max - look.shift, look.shift - look.min);
  return range == 0 || range >= Moments::kSmallestRange;
}

/// Magnitudes as integers: they sort like the numbers, NaN and infinity above all others, whatever the type.
template <class Source>
struct MagnitudeBits {
  using Bits = std::conditional_t<sizeof(typename Source::Raw) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(typename Source::Raw) == 4, std::uint32_t, std::uint64_t>>;
  using D = hn::ScalableTag<Bits>;
  static constexpr Bits kMask = static_cast<Bits>(~Bits{0}) >> 1;

  static HWY_INLINE hn::Vec<D> load(const typename Source::Raw* from) {
    const hn::ScalableTag<typename Source::Raw> d;
    return hn::And(hn::BitCast(D(), hn::LoadU(d, from)), hn::Set(D(), kMask));
  }
  static Bits load_one(const typename Source::Raw* from) {
    Bits bits = 0;
    std::memcpy(&bits, from, sizeof bits);
    return bits & kMask;
  }
  static double value_of(Bits bits) {
    typename Source::Raw raw;
    std::memcpy(&raw, &bits, sizeof raw);
    return Source::decode(raw);
  }
};

/// Counts the zeros of a block and finds the smallest magnitude beside them.
template <class Source>
void count_zeros(const typename Source::Raw* data, std::size_t count, TensorStats& stats) {
  using Magnitude = MagnitudeBits<Source>;
  using Bits = typename Magnitude::Bits;
  const typename Magnitude::D d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, Bits{1});
  auto least = hn::Set(d, static_cast<Bits>(~Bits{0}));  // of magnitude - 1, which makes zero the largest
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto magnitude = Magnitude::load(data + i);
    stats.zeros += hn::CountTrue(d, hn::Eq(magnitude, hn::Zero(d)));
    least = hn::Min(least, hn::Sub(magnitude, one));
  }
  HWY_ALIGN Bits candidates[HWY_MAX_BYTES / sizeof(Bits)];
  hn::Store(least, d, candidates);
  Bits smallest = *std::min_element(candidates, candidates + lanes);
  for (; i < count; ++i) {
    const Bits magnitude = Magnitude::load_one(data + i);
    stats.zeros += magnitude == 0 ? 1 : 0;
    smallest = std::min(smallest, static_cast<Bits>(magnitude - 1));
  }
  const double value = Magnitude::value_of(static_cast<Bits>(smallest + 1));
  stats.smallest_nonzero = value > 0 && std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
}

template <class Source>
std::size_t count_near(const typename Source::Raw* data, std::size_t count, std::uint64_t threshold) {
  using Magnitude = MagnitudeBits<Source>;
  using Bits = typename Magnitude::Bits;
  const typename Magnitude::D d;
  const std::size_t lanes = hn::Lanes(d);
  const Bits near = static_cast<Bits>(threshold);
  std::size_t far = 0;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    far += hn::CountTrue(d, hn::Gt(Magnitude::load(data + i), hn::Set(d, near)));
  }
  for (; i < count; ++i) far += Magnitude::load_one(data + i) > near ? 1 : 0;
  return count - far;
}

/// The largest lane value not above a threshold, so that comparing lanes is comparing with the threshold itself.
template <class Lane>
Lane below(double threshold) {
  if constexpr (std::is_same_v<Lane, float>) {
    return float_below(threshold);
  } else {
    return threshold;
  }
}

/// Counts the finite elements at or beyond the saturation thresholds.
template <class Source>
void count_saturated(const typename Source::Raw* data, std::size_t count, const Thresholds& thresholds,
                     TensorStats& stats) {
  using Lane = typename Source::Lane;
  const hn::ScalableTag<Lane> d;
  const std::size_t lanes = hn::Lanes(d);
  const Lane low = below<Lane>(thresholds.low);
  const Lane high = -below<Lane>(-thresholds.high);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = Source::load(d, data + i);
    const auto finite = hn::IsFinite(v);
    stats.saturated_low += hn::CountTrue(d, hn::And(finite, hn::Le(v, hn::Set(d, low))));
    stats.saturated_high += hn::CountTrue(d, hn::And(finite, hn::Ge(v, hn::Set(d, high))));
  }
  for (; i < count; ++i) {
    const Lane value = Source::decode(data[i]);
    if (!std::isfinite(value)) continue;
    stats.saturated_low += value <= low ? 1 : 0;
    stats.saturated_high += value >= high ? 1 : 0;
  }
}

/// Further looks, only at blocks in which there is something to count.
template <class Source>
void count_thresholds(const typename Source::Raw* data, std::size_t count, const Thresholds& thresholds,
                      TensorStats& stats) {
  if (stats.smallest_nonzero == 0) count_zeros<Source>(data, count, stats);
  stats.near_zeros = stats.zeros;
  if (stats.smallest_nonzero <= thresholds.near)
    stats.near_zeros = count_near<Source>(data, count, thresholds.near_bits);
  if (stats.min <= thresholds.low || stats.max >= thresholds.high) {
    count_saturated<Source>(data, count, thresholds, stats);
  }
}

template <class Source, class Moments>
TensorStats summarize_lanes(const void* bytes, std::size_t count, const Thresholds& thresholds,
                            LogHistogram* histogram) {
  const auto* data = static_cast<const typename Source::Raw*>(bytes);
  TensorStats stats;
  stats.count = count;
  if (count == 0) return stats;
  const typename Source::Lane shift = shift_of<Source>(data, count);
  FirstLook look = look_over<Source, Moments, false>(data, count, shift);
  if (!sound<Moments>(look)) {
    look = look_over<Source, typename Moments::Careful, true>(data, count, first_finite<Source>(data, count));
  }
  stats.nan_count = look.nan;
  stats.inf_count = count - look.finite - look.nan;
  if (look.finite == 0) return stats;

  const double finite = static_cast<double>(look.finite);
  stats.min = look.min;
  stats.max = look.max;
  stats.l1 = look.sums.l1;
  if (look.min == look.max) {
    stats.mean = look.min;
  } else {
    stats.mean = look.shift + look.sums.sum / finite;
    stats.m2 = std::max(0.0, look.sums.squares - look.sums.sum * look.sums.sum / finite);
  }
  stats.smallest_nonzero = look.min_abs;
  count_thresholds<Source>(data, count, thresholds, stats);
  if (histogram != nullptr) add_to_histogram<Source>(data, count, stats, *histogram);
  return stats;
}

/// What SummaryOptions::brief promises. Blocks with something unusual in them are measured in full.
TensorStats summarize_brief_f32(const float* data, std::size_t count, const Thresholds& thresholds, float* sketch,
                                double& moved) {
  if (count == 0) return {};
  const auto elements = static_cast<double>(count);
  const BriefLook look =
      look_briefly(data, count, std::bit_cast<float>(static_cast<std::uint32_t>(thresholds.near_bits)), sketch);
  moved = look.moved;
  if (!look.sound(elements)) return summarize_lanes<F32Source, GroupedMoments>(data, count, thresholds, nullptr);
  TensorStats stats;
  stats.count = count;
  stats.mean = look.sum / elements;
  stats.m2 = look.squares - look.sum * look.sum / elements;
  stats.max = look.largest;
  stats.min = -look.largest;
  stats.near_zeros = look.near;
  stats.zeros = look.zeros;
  if (stats.min <= thresholds.low || stats.max >= thresholds.high) {
    count_saturated<F32Source>(data, count, thresholds, stats);
  }
  return stats;
}

TensorStats summarize_f32(const void* data, std::size_t count, const Thresholds& thresholds, LogHistogram* histogram) {
  return summarize_lanes<F32Source, GroupedMoments>(data, count, thresholds, histogram);
}
TensorStats summarize_f64(const void* data, std::size_t count, const Thresholds& thresholds, LogHistogram* histogram) {
  return summarize_lanes<F64Source, DoubleMoments>(data, count, thresholds, histogram);
}
TensorStats summarize_f16(const void* data, std::size_t count, const Thresholds& thresholds, LogHistogram* histogram) {
  return summarize_lanes<F16Source, GroupedMoments>(data, count, thresholds, histogram);
}
TensorStats summarize_bf16(const void* data, std::size_t count, const Thresholds& thresholds, LogHistogram* histogram) {
  return summarize_lanes<BF16Source, GroupedMoments>(data, count, thresholds, histogram);
}

}  // namespace HWY_NAMESPACE
}  // namespace osler::stats
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace osler::stats {

HWY_EXPORT(summarize_f32);
HWY_EXPORT(summarize_f64);
HWY_EXPORT(summarize_f16);
HWY_EXPORT(summarize_bf16);
HWY_EXPORT(summarize_brief_f32);

Thresholds thresholds_of(DType dtype, const SummaryOptions& options) {
  const double largest = std::numeric_limits<double>::max();
  const double near = std::clamp(options.near_zero, 0.0, largest);
  return {near, threshold_bits(dtype, near), options.low, options.high, options.brief && !options.histogram};
}

TensorStats summarize_block(const void* data, DType dtype, std::size_t count, const Thresholds& thresholds,
                            LogHistogram* histogram) {
  switch (dtype) {
    case DType::f32:
      if (thresholds.brief) {
        double moved = 0;
        return summarize_and_follow(static_cast<const float*>(data), count, thresholds, nullptr, moved);
      }
      return HWY_DYNAMIC_DISPATCH(summarize_f32)(data, count, thresholds, histogram);
    case DType::f64:
      return HWY_DYNAMIC_DISPATCH(summarize_f64)(data, count, thresholds, histogram);
    case DType::f16:
      return HWY_DYNAMIC_DISPATCH(summarize_f16)(data, count, thresholds, histogram);
    case DType::bf16:
      return HWY_DYNAMIC_DISPATCH(summarize_bf16)(data, count, thresholds, histogram);
  }
  return {};
}

TensorStats summarize_and_follow(const float* data, std::size_t count, const Thresholds& thresholds, float* sketch,
                                 double& moved) {
  return HWY_DYNAMIC_DISPATCH(summarize_brief_f32)(data, count, thresholds, sketch, moved);
}

}  // namespace osler::stats
#endif  // HWY_ONCE
