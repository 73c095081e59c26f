// The plain face of the SIMD code that follows a block without a copy of it.
#pragma once

#include <cstddef>

#include "stats/summary_kernel.h"

namespace osler::stats {

/// So many elements of a block share one number of its sketch.
inline constexpr std::size_t kSketchFold = 16;
/// The numbers that stand for a block.
inline constexpr std::size_t kSketchOfBlock = kBlockElements / kSketchFold;

/// About the squared L2 norm of what changed in a block of `count` <= kBlockElements floats since `sketch` was made;
/// the sketch is then that of the block as it is. Right on average, with a standard deviation of sqrt(2 / 256) of
/// itself for each block at most (Alon, Matias and Szegedy, "The space complexity of approximating the frequency
/// moments", 1996); exactly 0 where nothing changed. Sums that are or were not finite are left out.
[[nodiscard]] double follow_sketch(const float* now, std::size_t count, float* sketch);

}  // namespace osler::stats
