// Judging one tensor by its statistics alone.
#include "osler/stats/complaints.h"

#include <cstdio>

namespace osler::stats {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string per_cent(double share) {
  return number(100 * share) + " %";
}

void add_nonfinite(const TensorStats& stats, std::vector<std::string>& complaints) {
  const auto add = [&](std::uint64_t count, std::uint64_t first, const char* what) {
    if (count == 0) return;
    complaints.push_back(std::to_string(count) + " of " + std::to_string(stats.count) + " elements are " + what +
                         ", the first at " + std::to_string(first));
  };
  add(stats.nan_count, stats.first_nan, "NaN");
  add(stats.inf_count, stats.first_inf, "infinite");
}

}  // namespace

std::vector<std::string> gradient_complaints(const TensorStats& gradient, const GradientLimits& limits) {
  std::vector<std::string> complaints;
  add_nonfinite(gradient, complaints);
  if (gradient.finite_count() == 0) return complaints;
  const double norm = gradient.l2();
  if (norm == 0) {
    complaints.emplace_back("every element is exactly zero");
    return complaints;
  }
  if (norm > limits.largest_norm)
    complaints.push_back("the norm is " + number(norm) + ", above " + number(limits.largest_norm));
  if (norm < limits.smallest_norm)
    complaints.push_back("the norm is " + number(norm) + ", below " + number(limits.smallest_norm));
  if (gradient.zero_share() > limits.zero_share) {
    complaints.push_back(per_cent(gradient.zero_share()) + " of the elements are exactly zero");
  } else if (gradient.near_zero_share() > limits.near_zero_share) {
    complaints.push_back(per_cent(gradient.near_zero_share()) + " of the elements are nearly zero");
  }
  return complaints;
}

std::vector<std::string> activation_complaints(const TensorStats& activations, const ActivationLimits& limits) {
  std::vector<std::string> complaints;
  add_nonfinite(activations, complaints);
  if (activations.finite_count() == 0) return complaints;
  if (activations.zero_share() > limits.zero_share)
    complaints.push_back(per_cent(activations.zero_share()) + " of the elements are exactly zero");
  if (activations.saturated_share() > limits.saturated_share)
    complaints.push_back(per_cent(activations.saturated_share()) + " of the elements are saturated");
  if (activations.finite_count() > 1 && activations.std_dev() < limits.smallest_deviation) {
    complaints.push_back("the deviation is " + number(activations.std_dev()) + ": all elements are alike");
  }
  if (activations.abs_max() > limits.largest) {
    complaints.push_back("the largest magnitude is " + number(activations.abs_max()) + ", above " +
                         number(limits.largest));
  }
  return complaints;
}

}  // namespace osler::stats
