// What is remembered of a large tensor in place of a copy: sums of its elements with signs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stats/summary_kernel.h"

namespace osler::stats {

/// So many elements of a block share one number of its sketch.
inline constexpr std::size_t kSketchFold = 16;
/// A block is read as groups of kSketchFold lines of so many elements; a group's lines are summed with signs.
inline constexpr std::size_t kSketchLine = 16;
inline constexpr std::size_t kSketchGroup = kSketchFold * kSketchLine;
/// The numbers that stand for a block.
inline constexpr std::size_t kSketchOfBlock = kBlockElements / kSketchFold;
static_assert(kBlockElements / kSketchGroup == kSketchFold, "as many groups as lines, or the signs are no matrix");

/// Line l of group g is added to the group's sketch where bit l ^ g is 0, and subtracted where it is 1. These are the
/// values of a bent function, so that all signs are a Hadamard matrix: a change that is the same in all groups is
/// measured exactly. Of other changes the squared norm is right on average, with a standard deviation of sqrt(2 / 256)
/// of itself for each block at most (Alon, Matias and Szegedy, "The space complexity of approximating the frequency
/// moments", 1996), and exactly 0 where nothing changed. Sums that are or were not finite are left out.
inline constexpr std::uint32_t kSketchSigns = [] {
  std::uint32_t signs = 0;
  for (std::uint32_t x = 0; x < kSketchFold; ++x) signs |= (((x & (x >> 1)) ^ ((x >> 2) & (x >> 3))) & 1u) << x;
  return signs;
}();

/// The places of the signs that are `sign`.
template <std::uint32_t sign>
inline constexpr auto kSketchLinesOf = [] {
  constexpr std::size_t kSubtracted = 6;
  std::array<std::size_t, sign == 0 ? kSketchFold - kSubtracted : kSubtracted> places{};
  for (std::size_t x = 0, next = 0; x < kSketchFold; ++x) {
    if (((kSketchSigns >> x) & 1u) == sign) places[next++] = x;
  }
  return places;
}();
inline constexpr auto kSketchLinesAdded = kSketchLinesOf<0>;
inline constexpr auto kSketchLinesSubtracted = kSketchLinesOf<1>;

}  // namespace osler::stats
