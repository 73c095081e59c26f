// Compares and widens blocks with SIMD instructions, compiled once for each instruction set.
#include "stats/pair_kernel.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "stats/summary_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stats/pair_kernel.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "stats/lanes-inl.h"
#include "stats/moments-inl.h"

HWY_BEFORE_NAMESPACE();
namespace osler::stats {
namespace HWY_NAMESPACE {

/// Sums of products of double lanes.
struct ProductSums {
  ProductSums() : dot(hn::Zero(DDouble())), aa(dot), bb(dot), dd(dot) {}

  HWY_INLINE void add(hn::Vec<DDouble> a, hn::Vec<DDouble> b) {
    const auto difference = hn::Sub(b, a);
    dot = hn::MulAdd(a, b, dot);
    aa = hn::MulAdd(a, a, aa);
    bb = hn::MulAdd(b, b, bb);
    dd = hn::MulAdd(difference, difference, dd);
  }
  void add_to(PairStats& stats) const {
    const DDouble d;
    stats.dot += hn::GetLane(hn::SumOfLanes(d, dot));
    stats.a_squared += hn::GetLane(hn::SumOfLanes(d, aa));
    stats.b_squared += hn::GetLane(hn::SumOfLanes(d, bb));
    stats.difference_squared += hn::GetLane(hn::SumOfLanes(d, dd));
  }

  hn::Vec<DDouble> dot, aa, bb, dd;
};

/// Takes in one vector of each side, of which `inside` selects the lanes that count.
template <class Lane>
class PairAdder {
 public:
  using D = hn::ScalableTag<Lane>;
  using V = hn::Vec<D>;

  explicit PairAdder(const Resolution& stored)
      : relative_(hn::Set(D(), static_cast<Lane>(stored.relative))),
        smallest_(hn::Set(D(), static_cast<Lane>(stored.smallest))) {}

  HWY_INLINE void add(V a, V b, hn::Mask<D> inside, PairStats& stats) {
    const D d;
    const auto finite = hn::And(inside, hn::And(hn::IsFinite(a), hn::IsFinite(b)));
    a = hn::IfThenElseZero(finite, a);
    b = hn::IfThenElseZero(finite, b);
    if constexpr (std::is_same_v<Lane, double>) {
      lower_.add(a, b);
    } else {
      lower_.add(widen_lower(a), widen_lower(b));
      if constexpr (HWY_TARGET != HWY_SCALAR) upper_.add(widen_upper(a), widen_upper(b));
    }
    const auto nonzero = hn::Ne(b, hn::Zero(d));
    const auto octave = hn::And(a, hn::BitCast(d, hn::Set(DBits(), kExponentBits)));
    const auto half_spacing = hn::Max(hn::Mul(octave, relative_), smallest_);
    const auto lost = hn::And(nonzero, hn::Lt(hn::Abs(b), half_spacing));
    stats.excluded -= hn::CountTrue(d, finite);
    stats.b_nonzero += hn::CountTrue(d, nonzero);
    stats.below_resolution += hn::CountTrue(d, lost);
  }
  void finish(PairStats& stats) const {
    lower_.add_to(stats);
    upper_.add_to(stats);
  }

 private:
  using DBits = hn::RebindToUnsigned<D>;
  using Bits = hn::TFromD<DBits>;
  static constexpr Bits kExponentBits = sizeof(Lane) == 4 ? Bits{0x7F800000u} : static_cast<Bits>(0x7FF0000000000000u);

  V relative_, smallest_;
  ProductSums lower_, upper_;
};

template <class Lane>
PairStats compare_lanes(const Lane* a, const Lane* b, std::size_t count, const Resolution& stored) {
  using Source = std::conditional_t<std::is_same_v<Lane, float>, F32Source, F64Source>;
  const hn::ScalableTag<Lane> d;
  const std::size_t lanes = hn::Lanes(d);
  PairStats stats;
  stats.count = count;
  stats.excluded = count;
  PairAdder<Lane> adder(stored);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    adder.add(hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::FirstN(d, lanes), stats);
  }
  if (i < count) {
    const PaddedTail<Source> tail_a(a + i, count - i);
    const PaddedTail<Source> tail_b(b + i, count - i);
    adder.add(hn::Load(d, tail_a.raw), hn::Load(d, tail_b.raw), hn::FirstN(d, count - i), stats);
  }
  adder.finish(stats);
  return stats;
}

PairStats compare_floats(const float* a, const float* b, std::size_t count, const Resolution& stored) {
  return compare_lanes(a, b, count, stored);
}
PairStats compare_doubles(const double* a, const double* b, std::size_t count, const Resolution& stored) {
  return compare_lanes(a, b, count, stored);
}

/// In one pass, because what was before comes from far away. The differences are those of single precision: exact
/// where a step is small beside its weight, and otherwise rounded like the weight itself.
double follow_floats(float* before, const float* now, std::size_t count) {
  const DFloat d;
  const std::size_t lanes = hn::Lanes(d);
  auto lower = hn::Zero(DDouble());
  auto upper = hn::Zero(DDouble());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto to = hn::LoadU(d, now + i);
    const auto way = hn::Sub(to, hn::LoadU(d, before + i));
    prefetch_ahead(before + i);
    hn::StoreU(to, d, before + i);
    const auto finite = hn::IfThenElseZero(hn::IsFinite(way), way);
    const auto low = widen_lower(finite);
    const auto high = widen_upper(finite);
    lower = hn::MulAdd(low, low, lower);
    upper = hn::MulAdd(high, high, upper);
  }
  double sum = hn::GetLane(hn::SumOfLanes(DDouble(), hn::Add(lower, upper)));
  for (; i < count; ++i) {
    const float way = now[i] - before[i];
    before[i] = now[i];
    if (std::isfinite(way)) sum += static_cast<double>(way) * static_cast<double>(way);
  }
  return sum;
}

template <class Source>
void widen_lanes(const void* from, std::size_t count, float* to) {
  const auto* data = static_cast<const typename Source::Raw*>(from);
  const DFloat d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(Source::load(d, data + i), d, to + i);
  for (; i < count; ++i) to[i] = Source::decode(data[i]);
}

void widen_f16(const void* from, std::size_t count, float* to) {
  widen_lanes<F16Source>(from, count, to);
}
void widen_bf16(const void* from, std::size_t count, float* to) {
  widen_lanes<BF16Source>(from, count, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace osler::stats
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace osler::stats {

HWY_EXPORT(compare_floats);
HWY_EXPORT(compare_doubles);
HWY_EXPORT(follow_floats);
HWY_EXPORT(widen_f16);
HWY_EXPORT(widen_bf16);

PairStats compare_block(const float* a, const float* b, std::size_t count, const Resolution& stored) {
  return HWY_DYNAMIC_DISPATCH(compare_floats)(a, b, count, stored);
}

PairStats compare_block(const double* a, const double* b, std::size_t count, const Resolution& stored) {
  return HWY_DYNAMIC_DISPATCH(compare_doubles)(a, b, count, stored);
}

double follow_block(void* before, const void* now, DType dtype, std::size_t count) {
  if (dtype == DType::f32) {
    return HWY_DYNAMIC_DISPATCH(follow_floats)(static_cast<float*>(before), static_cast<const float*>(now), count);
  }
  PairStats pair;
  if (dtype == DType::f64) {
    pair =
        compare_block(static_cast<const double*>(before), static_cast<const double*>(now), count, resolution_of(dtype));
  } else {
    alignas(64) std::array<float, kBlockElements> from;
    alignas(64) std::array<float, kBlockElements> to;
    widen_block(before, dtype, count, from.data());
    widen_block(now, dtype, count, to.data());
    pair = compare_block(from.data(), to.data(), count, resolution_of(dtype));
  }
  std::memcpy(before, now, count * element_bytes(dtype));
  return pair.difference_squared;
}

void widen_block(const void* from, DType dtype, std::size_t count, float* to) {
  if (dtype == DType::f16) {
    HWY_DYNAMIC_DISPATCH(widen_f16)(from, count, to);
  } else if (dtype == DType::bf16) {
    HWY_DYNAMIC_DISPATCH(widen_bf16)(from, count, to);
  } else {
    std::memcpy(to, from, count * sizeof(float));
  }
}

void widen_block(const void* from, DType dtype, std::size_t count, double* to) {
  if (dtype == DType::f64) {
    std::memcpy(to, from, count * sizeof(double));
    return;
  }
  constexpr std::size_t kStep = 256;
  float floats[kStep];
  const auto* bytes = static_cast<const std::byte*>(from);
  for (std::size_t i = 0; i < count; i += kStep) {
    const std::size_t step = count - i < kStep ? count - i : kStep;
    widen_block(bytes + i * element_bytes(dtype), dtype, step, floats);
    for (std::size_t j = 0; j < step; ++j) to[i + j] = floats[j];
  }
}

}  // namespace osler::stats
#endif  // HWY_ONCE
