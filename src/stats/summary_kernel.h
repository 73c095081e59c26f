// The plain face of the SIMD code that measures one block of a tensor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "osler/stats/log_histogram.h"
#include "osler/stats/tensor_stats.h"
#include "osler/stats/tensor_view.h"

namespace osler::stats {

/// The most elements measured at once: small enough to stay in the first-level cache while it is looked at again.
inline constexpr std::size_t kBlockElements = 4096;

/// The thresholds of SummaryOptions as the kernels compare with them.
struct Thresholds {
  double near = 0;
  std::uint64_t near_bits = 0;  ///< see threshold_bits
  double low = 0;
  double high = 0;
  bool brief = false;
};

[[nodiscard]] Thresholds thresholds_of(DType dtype, const SummaryOptions& options);

/// Measures `count` <= kBlockElements dense elements with the best instruction set of this machine. Adds to `histogram`
/// when there is one. Leaves first_nan and first_inf at kNone: the caller knows what the elements' indices are.
[[nodiscard]] TensorStats summarize_block(const void* data, DType dtype, std::size_t count,
                                          const Thresholds& thresholds, LogHistogram* histogram);

/// The brief statistics of a block of floats and about the squared L2 norm of what changed in it since `sketch` was
/// made, which then is that of the block as it is (see kSketchSigns). Without a sketch nothing is followed.
[[nodiscard]] TensorStats summarize_and_follow(const float* data, std::size_t count, const Thresholds& thresholds,
                                               float* sketch, double& moved);

}  // namespace osler::stats
