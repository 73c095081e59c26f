// Sums, sums of squares and sums of magnitudes of vectors, in double precision where it matters.
#if defined(OSLER_STATS_MOMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OSLER_STATS_MOMENTS_INL_H_
#undef OSLER_STATS_MOMENTS_INL_H_
#else
#define OSLER_STATS_MOMENTS_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace osler::stats {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DFloat = hn::ScalableTag<float>;
using DDouble = hn::ScalableTag<double>;

/// The lower half of a float vector, widened.
HWY_INLINE hn::Vec<DDouble> widen_lower(hn::Vec<DFloat> v) {
#if HWY_TARGET == HWY_SCALAR
  return hn::PromoteTo(DDouble(), v);
#else
  return hn::PromoteTo(DDouble(), hn::LowerHalf(hn::Half<DFloat>(), v));
#endif
}

/// The upper half of a float vector, widened; zero where a vector is a single lane.
HWY_INLINE hn::Vec<DDouble> widen_upper(hn::Vec<DFloat> v) {
#if HWY_TARGET == HWY_SCALAR
  (void)v;
  return hn::Zero(DDouble());
#else
  return hn::PromoteTo(DDouble(), hn::UpperHalf(hn::Half<DFloat>(), v));
#endif
}

/// Adds a sum of floats to one of doubles.
HWY_INLINE void carry_over(hn::Vec<DFloat> group, hn::Vec<DDouble>& total) {
  total = hn::Add(total, hn::Add(widen_lower(group), widen_upper(group)));
}

/// Over the elements x taken in: the sum and the sum of squares of x - shift, and the sum of |x|.
struct Sums {
  double sum = 0;
  double squares = 0;
  double l1 = 0;
};

/// The moments of double lanes.
struct DoubleMoments {
  using D = DDouble;
  using Careful = DoubleMoments;
  static constexpr std::size_t kGroup = 8;
  static constexpr double kSmallestRange = 0;

  explicit DoubleMoments(double shift_by) : shift(hn::Set(D(), shift_by)) {}

  /// Takes in the vector x that was loaded from `from`.
  template <class Raw>
  HWY_INLINE void add(hn::Vec<D> x, const Raw* from) {
    (void)from;
    add(x, hn::Abs(x));
  }
  HWY_INLINE void add(hn::Vec<D> x, hn::Vec<D> magnitude) {
    const auto deviation = hn::Sub(x, shift);
    sum = hn::Add(sum, deviation);
    squares = hn::MulAdd(deviation, deviation, squares);
    l1 = hn::Add(l1, magnitude);
  }
  HWY_INLINE void end_group() {}
  Sums total() const {
    const D d;
    return {hn::GetLane(hn::SumOfLanes(d, sum)), hn::GetLane(hn::SumOfLanes(d, squares)),
            hn::GetLane(hn::SumOfLanes(d, l1))};
  }

  hn::Vec<D> shift;
  hn::Vec<D> sum = hn::Zero(D());
  hn::Vec<D> squares = hn::Zero(D());
  hn::Vec<D> l1 = hn::Zero(D());
};

/// The moments of float lanes, each widened to double at once: no square can overflow, vanish or be rounded.
struct WideMoments {
  using D = DFloat;
  using Careful = WideMoments;
  static constexpr std::size_t kGroup = 8;
  static constexpr double kSmallestRange = 0;

  explicit WideMoments(float shift) : lower(shift), upper(shift) {}

  HWY_INLINE void add(hn::Vec<D> x, const float* from) {
#if HWY_TARGET == HWY_SCALAR
    (void)from;
    lower.add(widen_lower(x), hn::Abs(widen_lower(x)));
#else
    // Loading the halves from memory again is cheaper than taking the vector apart.
    (void)x;
    const hn::Half<DFloat> half;
    lower.add(hn::PromoteTo(DDouble(), hn::LoadU(half, from)), from);
    upper.add(hn::PromoteTo(DDouble(), hn::LoadU(half, from + hn::Lanes(half))), from);
#endif
  }
  HWY_INLINE void add(hn::Vec<D> x, hn::Vec<D> magnitude) {
    lower.add(widen_lower(x), widen_lower(magnitude));
    if constexpr (HWY_TARGET != HWY_SCALAR) upper.add(widen_upper(x), widen_upper(magnitude));
  }
  HWY_INLINE void end_group() {}
  Sums total() const {
    const Sums a = lower.total();
    const Sums b = upper.total();
    return {a.sum + b.sum, a.squares + b.squares, a.l1 + b.l1};
  }

  DoubleMoments lower;
  DoubleMoments upper;
};

/// The moments of float lanes: sums of at most kGroup + 1 vectors in float, of those in double.
struct GroupedMoments {
  using D = DFloat;
  using Careful = WideMoments;
  static constexpr std::size_t kGroup = 16;
  /// Deviations all below this have squares near the end of float's range.
  static constexpr double kSmallestRange = 0x1p-40;

  explicit GroupedMoments(float shift_by) : shift(hn::Set(D(), shift_by)) {}

  /// Takes in the vector x that was loaded from `from`.
  template <class Raw>
  HWY_INLINE void add(hn::Vec<D> x, const Raw* from) {
    (void)from;
    add(x, hn::Abs(x));
  }
  HWY_INLINE void add(hn::Vec<D> x, hn::Vec<D> magnitude) {
    const auto deviation = hn::Sub(x, shift);
    sum = hn::Add(sum, deviation);
    squares = hn::MulAdd(deviation, deviation, squares);
    l1 = hn::Add(l1, magnitude);
  }
  HWY_INLINE void end_group() {
    carry_over(sum, total_sum);
    carry_over(squares, total_squares);
    carry_over(l1, total_l1);
    sum = squares = l1 = hn::Zero(D());
  }
  Sums total() {
    end_group();
    const DDouble d;
    return {hn::GetLane(hn::SumOfLanes(d, total_sum)), hn::GetLane(hn::SumOfLanes(d, total_squares)),
            hn::GetLane(hn::SumOfLanes(d, total_l1))};
  }

  hn::Vec<D> shift;
  hn::Vec<D> sum = hn::Zero(D());
  hn::Vec<D> squares = hn::Zero(D());
  hn::Vec<D> l1 = hn::Zero(D());
  hn::Vec<DDouble> total_sum = hn::Zero(DDouble());
  hn::Vec<DDouble> total_squares = hn::Zero(DDouble());
  hn::Vec<DDouble> total_l1 = hn::Zero(DDouble());
};

}  // namespace HWY_NAMESPACE
}  // namespace osler::stats
HWY_AFTER_NAMESPACE();

#endif
