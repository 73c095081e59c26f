// Location and scale that a few wild values cannot move.
#pragma once

#include <span>
#include <vector>

namespace osler::signal {

/// The q-quantile (0 to 1), linear between order statistics. NaN for no values.
[[nodiscard]] double quantile(std::span<const double> values, double q);
/// The middle value. NaN for no values.
[[nodiscard]] double median(std::span<const double> values);
/// The median absolute deviation times 1.4826: the standard deviation for Gaussian values (Hampel 1974).
[[nodiscard]] double mad_scale(std::span<const double> values);

/// The running median with `half_width` neighbours on either side; at the start fewer on both, at the end fewer ahead.
[[nodiscard]] std::vector<double> running_median(std::span<const double> values, std::size_t half_width);
/// A local straight line through `half_width` neighbours on either side, evaluated in the middle; by index.
[[nodiscard]] std::vector<double> local_line(std::span<const double> values, std::size_t half_width);

}  // namespace osler::signal
