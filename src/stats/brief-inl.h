// A brief look at a block of floats: what is recorded of a tensor on every step, and nothing else, in one pass.
#if defined(OSLER_STATS_BRIEF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OSLER_STATS_BRIEF_INL_H_
#undef OSLER_STATS_BRIEF_INL_H_
#else
#define OSLER_STATS_BRIEF_INL_H_
#endif

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "stats/lanes-inl.h"
#include "stats/moments-inl.h"
#include "stats/sketch.h"

HWY_BEFORE_NAMESPACE();
namespace osler::stats {
namespace HWY_NAMESPACE {

/// What a brief look gives.
struct BriefLook {
  double sum = 0;
  double squares = 0;
  double largest = 0;  ///< magnitude
  std::size_t near = 0;
  std::size_t zeros = 0;
  double moved = 0;  ///< see kSketchSigns; squared

  /// Whether it can be believed of `count` elements: no NaN or infinity came in, no square was lost below or above, and
  /// the variance is not the small difference of large numbers.
  [[nodiscard]] bool sound(double count) const {
    constexpr double kMostCancelled = 8.0 / 9;  // of the squares: what is left has lost no more than a digit
    if (!std::isfinite(sum) || !std::isfinite(squares)) return false;
    if (largest > 0 && largest < GroupedMoments::kSmallestRange) return false;
    return sum * sum <= kMostCancelled * count * squares;
  }
};

/// Sums and extremes of some lines of a group.
struct BriefLines {
  // Written out because the compiler's own constructor would not be compiled for the instruction set.
  BriefLines() : sum(hn::Zero(DFloat())), squares(sum), largest(sum), smallest(hn::Inf(DFloat())) {}

  HWY_INLINE void add(const float* from) {
    const auto v = hn::LoadU(DFloat(), from);
    const auto magnitude = hn::Abs(v);
    sum = hn::Add(sum, v);
    squares = hn::MulAdd(v, v, squares);
    largest = hn::Max(largest, magnitude);
    smallest = hn::Min(smallest, magnitude);
    prefetch_ahead(from);
  }

  hn::Vec<DFloat> sum, squares;
  hn::Vec<DFloat> largest, smallest;  ///< magnitudes
};

/// Looks at the groups of a block, one after the other, each of them once.
class BriefSums {
 public:
  BriefSums() : largest_(hn::Zero(DFloat())), sum_(hn::Zero(DDouble())), squares_(sum_), moved_(sum_) {}

  /// Takes in the group of this number and brings its sketch up to date where there is one. The smallest magnitude.
  HWY_INLINE hn::Vec<DFloat> add(const float* group, std::size_t number, float* sketch) {
    const DFloat d;
    static_assert(hn::MaxLanes(d) <= kSketchLine);
    auto smallest = hn::Inf(d);
    for (std::size_t at = 0; at < kSketchLine; at += hn::Lanes(d)) {
      const auto place = [&](std::size_t line) { return ((line * kSketchLine) ^ (number * kSketchLine)) + at; };
      BriefLines added;
      BriefLines subtracted;
      for (const std::size_t line : kSketchLinesAdded) added.add(group + place(line));
      for (const std::size_t line : kSketchLinesSubtracted) subtracted.add(group + place(line));
      carry_over(hn::Add(added.sum, subtracted.sum), sum_);
      carry_over(hn::Add(added.squares, subtracted.squares), squares_);
      largest_ = hn::Max(largest_, hn::Max(added.largest, subtracted.largest));
      smallest = hn::Min(smallest, hn::Min(added.smallest, subtracted.smallest));
      if (sketch != nullptr) follow(hn::Sub(added.sum, subtracted.sum), sketch + at);
    }
    return smallest;
  }

  [[nodiscard]] BriefLook total() const {
    BriefLook look;
    look.sum = hn::GetLane(hn::SumOfLanes(DDouble(), sum_));
    look.squares = hn::GetLane(hn::SumOfLanes(DDouble(), squares_));
    look.largest = static_cast<double>(hn::GetLane(hn::MaxOfLanes(DFloat(), largest_)));
    look.moved = hn::GetLane(hn::SumOfLanes(DDouble(), moved_));
    return look;
  }

 private:
  HWY_INLINE void follow(hn::Vec<DFloat> now, float* sketch) {
    const DFloat d;
    const auto way = hn::Sub(now, hn::LoadU(d, sketch));
    hn::StoreU(now, d, sketch);
    const auto finite = hn::IfThenElseZero(hn::IsFinite(way), way);
    const auto low = widen_lower(finite);
    const auto high = widen_upper(finite);
    moved_ = hn::MulAdd(low, low, hn::MulAdd(high, high, moved_));
  }

  hn::Vec<DFloat> largest_;
  hn::Vec<DDouble> sum_, squares_, moved_;
};

/// Counts zeros and magnitudes up to `near` in a group. In lanes, not by counting the bits of masks: GCC 12 at -O3
/// unrolls the loop, runs out of mask registers, and counts what lies in memory behind those that it had to put aside.
inline void count_small(const float* group, float near, BriefLook& look) {
  const DFloat d;
  const auto one = hn::Set(d, 1.0F);
  auto nears = hn::Zero(d);
  auto zeros = nears;
  for (std::size_t i = 0; i < kSketchGroup; i += hn::Lanes(d)) {
    const auto v = hn::LoadU(d, group + i);
    nears = hn::Add(nears, hn::IfThenElseZero(hn::Le(hn::Abs(v), hn::Set(d, near)), one));
    zeros = hn::Add(zeros, hn::IfThenElseZero(hn::Eq(v, hn::Zero(d)), one));
  }
  look.near += static_cast<std::size_t>(hn::GetLane(hn::SumOfLanes(d, nears)));
  look.zeros += static_cast<std::size_t>(hn::GetLane(hn::SumOfLanes(d, zeros)));
}

/// Looks once at a block, and once more at groups with magnitudes up to `near`. Follows it where there is a sketch.
inline BriefLook look_briefly(const float* data, std::size_t count, float near, float* sketch) {
  const DFloat d;
  BriefSums sums;
  const std::size_t groups = count / kSketchGroup;
  const std::size_t rest = count % kSketchGroup;
  const auto sketch_of = [&](std::size_t group) { return sketch == nullptr ? nullptr : sketch + group * kSketchLine; };
  std::uint32_t small = 0;  // a bit for each group
  for (std::size_t group = 0; group < groups; ++group) {
    const auto smallest = sums.add(data + group * kSketchGroup, group, sketch_of(group));
    small |= static_cast<std::uint32_t>(!hn::AllFalse(d, hn::Le(smallest, hn::Set(d, near)))) << group;
  }
  HWY_ALIGN float last[kSketchGroup];
  if (rest > 0) {
    std::memset(last, 0, sizeof last);
    std::memcpy(last, data + groups * kSketchGroup, rest * sizeof(float));
    sums.add(last, groups, sketch_of(groups));
  }
  BriefLook look = sums.total();
  for (; small != 0; small &= small - 1) {
    count_small(data + static_cast<std::size_t>(std::countr_zero(small)) * kSketchGroup, near, look);
  }
  if (rest > 0) {
    count_small(last, near, look);
    look.near -= kSketchGroup - rest;
    look.zeros -= kSketchGroup - rest;
  }
  return look;
}

}  // namespace HWY_NAMESPACE
}  // namespace osler::stats
HWY_AFTER_NAMESPACE();

#endif
