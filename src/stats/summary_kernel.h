// The plain face of the SIMD code that measures one block of a tensor.
#pragma once

#include <cstddef>

#include "osler/stats/log_histogram.h"
#include "osler/stats/tensor_stats.h"
#include "osler/stats/tensor_view.h"

namespace osler::stats {

/// The most elements measured at once: small enough to stay in the first-level cache while it is looked at again.
inline constexpr std::size_t kBlockElements = 4096;

/// Measures `count` <= kBlockElements dense elements with the best instruction set of this machine. Adds to `histogram`
/// when there is one. Leaves first_nan and first_inf at kNone: the caller knows what the elements' indices are.
[[nodiscard]] TensorStats summarize_block(const void* data, DType dtype, std::size_t count,
                                          const SummaryOptions& options, LogHistogram* histogram);

}  // namespace osler::stats
