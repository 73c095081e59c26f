// The plain face of the SIMD code that counts active elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "osler/stats/tensor_view.h"

namespace osler::stats {

/// Of `count` dense elements, how many exceed the threshold given by threshold_bits.
[[nodiscard]] std::size_t count_active(const void* data, DType dtype, std::size_t count, std::uint64_t threshold);

/// Adds 1 to counts[i] for every one of `count` dense elements i that exceeds the threshold.
void add_active(const void* data, DType dtype, std::size_t count, std::uint64_t threshold, std::uint32_t* counts);

}  // namespace osler::stats
