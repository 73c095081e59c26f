// A brief look at a block of floats: what is recorded of a tensor on every step, and nothing else, in one pass.
#if defined(OSLER_STATS_BRIEF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OSLER_STATS_BRIEF_INL_H_
#undef OSLER_STATS_BRIEF_INL_H_
#else
#define OSLER_STATS_BRIEF_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "hwy/highway.h"
#include "stats/lanes-inl.h"
#include "stats/moments-inl.h"

HWY_BEFORE_NAMESPACE();
namespace osler::stats {
namespace HWY_NAMESPACE {

/// What a brief look gives.
struct BriefLook {
  double shift = 0;
  double sum = 0;      ///< of x - shift
  double squares = 0;  ///< of the same
  double largest = 0;  ///< magnitude
  std::size_t near = 0;

  /// Whether it can be believed: no NaN or infinity came in, and no square was lost below or above.
  [[nodiscard]] bool sound() const {
    if (!std::isfinite(sum) || !std::isfinite(squares)) return false;
    return largest == 0 || largest - std::abs(shift) >= GroupedMoments::kSmallestRange;
  }
};

/// Looks once at a block. Counts magnitudes up to `near`.
inline BriefLook look_briefly(const float* data, std::size_t count, float shift, float near) {
  const DFloat d;
  const std::size_t lanes = hn::Lanes(d);
  const auto shifts = hn::Set(d, shift);
  const auto nears = hn::Set(d, near);
  auto sum = hn::Zero(d);
  auto squares = sum;
  auto largest = sum;
  auto total_sum = hn::Zero(DDouble());
  auto total_squares = total_sum;
  BriefLook look;
  look.shift = shift;
  const std::size_t whole = count - count % lanes;
  for (std::size_t i = 0; i < whole;) {
    const std::size_t group_end = std::min(i + GroupedMoments::kGroup * lanes, whole);
    for (; i < group_end; i += lanes) {
      const auto v = hn::LoadU(d, data + i);
      const auto magnitude = hn::Abs(v);
      const auto deviation = hn::Sub(v, shifts);
      sum = hn::Add(sum, deviation);
      squares = hn::MulAdd(deviation, deviation, squares);
      largest = hn::Max(largest, magnitude);
      look.near += hn::CountTrue(d, hn::Le(magnitude, nears));
      prefetch_ahead(data + i);
    }
    carry_over(sum, total_sum);
    carry_over(squares, total_squares);
  }
  look.sum = hn::GetLane(hn::SumOfLanes(DDouble(), total_sum));
  look.squares = hn::GetLane(hn::SumOfLanes(DDouble(), total_squares));
  look.largest = static_cast<double>(hn::GetLane(hn::MaxOfLanes(d, largest)));
  for (std::size_t i = whole; i < count; ++i) {
    const float magnitude = std::abs(data[i]);
    const double deviation = static_cast<double>(data[i]) - static_cast<double>(shift);
    look.sum += deviation;
    look.squares += deviation * deviation;
    look.largest = std::max(look.largest, static_cast<double>(magnitude));
    look.near += magnitude <= near ? 1 : 0;
  }
  return look;
}

}  // namespace HWY_NAMESPACE
}  // namespace osler::stats
HWY_AFTER_NAMESPACE();

#endif
