// The plain face of the SIMD code that counts active elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "osler/stats/tensor_view.h"

namespace osler::stats {

/// The bits of the largest magnitude of a type that is not above `threshold` (at least 0): a magnitude exceeds the
/// threshold exactly when its bits, read as an integer, exceed these. NaN exceeds everything.
[[nodiscard]] std::uint64_t threshold_bits(DType dtype, double threshold);

/// Of `count` dense elements, how many exceed the threshold.
[[nodiscard]] std::size_t count_active(const void* data, DType dtype, std::size_t count, std::uint64_t threshold);

/// Adds 1 to counts[i] for every one of `count` dense elements i that exceeds the threshold.
void add_active(const void* data, DType dtype, std::size_t count, std::uint64_t threshold, std::uint32_t* counts);

}  // namespace osler::stats
