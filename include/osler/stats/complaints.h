// Complaints: what is wrong with one tensor as it is, in sentences; for programs that keep no history.
#pragma once

#include <string>
#include <vector>

#include "osler/stats/tensor_stats.h"

namespace osler::stats {

/// Beyond what a gradient is out of order. The sizes are the usual rules of thumb; a history knows the run's own.
struct GradientLimits {
  double largest_norm = 1000;
  double smallest_norm = 1e-8;
  double zero_share = 0.5;       ///< more exact zeros than this: dead units, or a cut graph
  double near_zero_share = 0.9;  ///< more elements than this below SummaryOptions::near_zero
};
/// "3 of 512 elements are NaN, the first at 17", "the norm is 1.2e+04, above 1000", ...; empty when nothing is wrong.
[[nodiscard]] std::vector<std::string> gradient_complaints(const TensorStats& gradient,
                                                           const GradientLimits& limits = {});

/// Beyond what activations are out of order. Saturation is that of SummaryOptions::low and high.
struct ActivationLimits {
  double zero_share = 0.5;
  double saturated_share = 0.1;
  double smallest_deviation = 1e-6;
  double largest = 1000;
};
[[nodiscard]] std::vector<std::string> activation_complaints(const TensorStats& activations,
                                                             const ActivationLimits& limits = {});

}  // namespace osler::stats
