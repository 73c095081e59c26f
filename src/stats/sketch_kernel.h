// The plain face of the SIMD code that follows a block without a copy of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stats/summary_kernel.h"

namespace osler::stats {

/// So many elements of a block share one number of its sketch.
inline constexpr std::size_t kSketchFold = 16;
/// The numbers that stand for a block.
inline constexpr std::size_t kSketchOfBlock = kBlockElements / kSketchFold;

/// A block is read as rows of kSketchOfBlock elements, and these as kSketchFold segments. The sign of row r in segment
/// s is that of kSketchSigns[r ^ s]: a bent function, so that all signs are a Hadamard matrix. A change that is the
/// same in all segments is then measured exactly.
inline constexpr std::array<std::uint32_t, kSketchFold> kSketchSigns = [] {
  std::array<std::uint32_t, kSketchFold> signs{};
  for (std::uint32_t x = 0; x < kSketchFold; ++x) signs[x] = (((x & (x >> 1)) ^ ((x >> 2) & (x >> 3))) & 1u) << 31;
  return signs;
}();

/// About the squared L2 norm of what changed in a block of `count` <= kBlockElements floats since `sketch` was made;
/// the sketch is then that of the block as it is. Right on average, with a standard deviation of sqrt(2 / 256) of
/// itself for each block at most (Alon, Matias and Szegedy, "The space complexity of approximating the frequency
/// moments", 1996); exactly 0 where nothing changed. Sums that are or were not finite are left out.
[[nodiscard]] double follow_sketch(const float* now, std::size_t count, float* sketch);

}  // namespace osler::stats
