// Folds blocks into sketches with SIMD instructions, compiled once for each instruction set.
#include "stats/sketch_kernel.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stats/sketch_kernel.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "stats/moments-inl.h"

HWY_BEFORE_NAMESPACE();
namespace osler::stats {
namespace HWY_NAMESPACE {

/// Sums the rows of a block, each kSketchOfBlock elements, with signs.
double follow_sketch_floats(const float* now, std::size_t count, float* sketch) {
  constexpr std::size_t kSegment = kSketchOfBlock / kSketchFold;  // elements of one sign
  const hn::CappedTag<float, kSegment> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  const std::size_t rows = count / kSketchOfBlock;
  HWY_ALIGN float last[kSketchOfBlock];
  const std::size_t rest = count % kSketchOfBlock;
  if (rest > 0) {
    std::memset(last, 0, sizeof last);
    std::memcpy(last, now + rows * kSketchOfBlock, rest * sizeof(float));
  }
  HWY_ALIGN float ways[kSketchOfBlock];
  for (std::size_t at = 0; at < kSketchOfBlock; at += hn::Lanes(d)) {
    const std::size_t segment = at / kSegment;
    const auto signed_row = [&](std::size_t row, const float* from) HWY_ATTR {
      return hn::BitCast(d, hn::Xor(hn::BitCast(bits, hn::LoadU(d, from)), hn::Set(bits, kSketchSigns[row ^ segment])));
    };
    auto sum = hn::Zero(d);
    for (std::size_t row = 0; row < rows; ++row) {
      sum = hn::Add(sum, signed_row(row, now + row * kSketchOfBlock + at));
    }
    if (rest > 0) sum = hn::Add(sum, signed_row(rows, last + at));
    hn::Store(hn::Sub(sum, hn::LoadU(d, sketch + at)), d, ways + at);
    hn::StoreU(sum, d, sketch + at);
  }
  const DFloat all;
  auto squares = hn::Zero(DDouble());
  for (std::size_t at = 0; at < kSketchOfBlock; at += hn::Lanes(all)) {
    const auto way = hn::Load(all, ways + at);
    const auto finite = hn::IfThenElseZero(hn::IsFinite(way), way);
    const auto low = widen_lower(finite);
    const auto high = widen_upper(finite);
    squares = hn::MulAdd(low, low, hn::MulAdd(high, high, squares));
  }
  return hn::GetLane(hn::SumOfLanes(DDouble(), squares));
}

}  // namespace HWY_NAMESPACE
}  // namespace osler::stats
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace osler::stats {

HWY_EXPORT(follow_sketch_floats);

double follow_sketch(const float* now, std::size_t count, float* sketch) {
  return HWY_DYNAMIC_DISPATCH(follow_sketch_floats)(now, count, sketch);
}

}  // namespace osler::stats
#endif  // HWY_ONCE
