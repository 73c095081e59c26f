// Forecast: the floor that a descending curve is heading for, with its uncertainty.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace osler::signal {

/// A fitted decay towards a floor.
struct Forecast {
  enum class Model { power_law, exponential };
  Model model = Model::power_law;
  double floor = 0;      ///< L_inf in L(t) = L_inf + a (t + t0)^-b, or L_inf + a exp(-t / tau)
  double floor_low = 0;  ///< the floors that fit about as well: the profile-likelihood interval
  double floor_high = 0;
  double rate = 0;       ///< b, or 1 / tau in 1 / steps
  double offset = 0;     ///< t0
  double amplitude = 0;  ///< a
  double residual = 0;   ///< root mean square of what the fit leaves

  /// The fitted value at step `t` after the curve's first.
  [[nodiscard]] double at(double t) const;
};

/// Fits both decays to (steps, values) and returns the better one; nothing when there are fewer than 8 points or no
/// decay fits better than a constant.
[[nodiscard]] std::optional<Forecast> forecast_of(std::span<const double> steps, std::span<const double> values);

/// Where a curve that goes on as it does will be at a later step, before anything is said of how far such words hold.
struct Prospect {
  double value = 0;   ///< the mean over the decays that fit, by how well they fit
  double spread = 0;  ///< their standard deviation
};

/// Extends (steps, values) to `step`; nothing when there are fewer than 8 points or no decay fits.
[[nodiscard]] std::optional<Prospect> prospect_at(std::span<const double> steps, std::span<const double> values,
                                                  double step);

}  // namespace osler::signal
