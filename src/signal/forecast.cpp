// Fitting decays: a grid over the shape, linear least squares for the rest, the interval from the profile.
#include "signal/forecast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace osler::signal {
namespace {

struct LineFit {
  double floor = 0;
  double amplitude = 0;
  double squares = std::numeric_limits<double>::infinity();
};

/// Least squares of y = floor + amplitude * shape, with a decaying (positive) amplitude.
LineFit fit_shape(std::span<const double> shape, std::span<const double> y) {
  const auto n = static_cast<double>(y.size());
  const double mean_s = std::accumulate(shape.begin(), shape.end(), 0.0) / n;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double ss = 0;
  double sy = 0;
  double yy = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    ss += (shape[i] - mean_s) * (shape[i] - mean_s);
    sy += (shape[i] - mean_s) * (y[i] - mean_y);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  LineFit fit;
  if (!(ss > 0) || !(sy > 0)) return fit;
  fit.amplitude = sy / ss;
  fit.floor = mean_y - fit.amplitude * mean_s;
  fit.squares = std::max(0.0, yy - sy * sy / ss);
  return fit;
}

struct Candidate {
  Forecast::Model model = Forecast::Model::power_law;
  double rate = 0;
  double offset = 0;
  LineFit fit;
};

double shape_at(Forecast::Model model, double rate, double offset, double t) {
  return model == Forecast::Model::power_law ? std::pow(t + offset, -rate) : std::exp(-rate * t);
}

}  // namespace

double Forecast::at(double t) const {
  return floor + amplitude * shape_at(model, rate, offset, t);
}

std::optional<Forecast> forecast_of(std::span<const double> steps, std::span<const double> values) {
  const std::size_t n = std::min(steps.size(), values.size());
  if (n < 8) return std::nullopt;
  const double span = steps[n - 1] - steps[0];
  if (!(span > 0)) return std::nullopt;
  const double gap = span / static_cast<double>(n - 1);

  std::vector<Candidate> candidates;
  std::vector<double> shape(n);
  const auto try_shape = [&](Forecast::Model model, double rate, double offset) {
    for (std::size_t i = 0; i < n; ++i) shape[i] = shape_at(model, rate, offset, steps[i] - steps[0]);
    Candidate candidate{model, rate, offset, fit_shape(shape, values.first(n))};
    if (std::isfinite(candidate.fit.squares)) candidates.push_back(candidate);
  };
  constexpr std::array kExponents = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.3, 1.7, 2.2, 3.0};
  constexpr std::array kOffsets = {0.3, 1.0, 3.0, 10.0, 30.0, 100.0};  // in typical gaps
  for (const double exponent : kExponents) {
    for (const double offset : kOffsets) try_shape(Forecast::Model::power_law, exponent, offset * gap);
  }
  constexpr std::array kHorizons = {0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0, 40.0};  // time constants in the curve
  for (const double horizon : kHorizons) try_shape(Forecast::Model::exponential, horizon / span, 0);
  if (candidates.empty()) return std::nullopt;

  const Candidate& best = *std::min_element(candidates.begin(), candidates.end(),
                                            [](const auto& a, const auto& b) { return a.fit.squares < b.fit.squares; });
  // Shapes whose residual is within the 95 % likelihood-ratio bound of the best are as good an explanation.
  constexpr double kChiSquare = 3.84;
  const double bound = best.fit.squares * (1 + kChiSquare / static_cast<double>(n)) + 1e-300;
  Forecast forecast;
  forecast.model = best.model;
  forecast.rate = best.rate;
  forecast.offset = best.offset;
  forecast.amplitude = best.fit.amplitude;
  forecast.floor = forecast.floor_low = forecast.floor_high = best.fit.floor;
  forecast.residual = std::sqrt(best.fit.squares / static_cast<double>(n));
  for (const Candidate& candidate : candidates) {
    if (candidate.fit.squares > bound) continue;
    forecast.floor_low = std::min(forecast.floor_low, candidate.fit.floor);
    forecast.floor_high = std::max(forecast.floor_high, candidate.fit.floor);
  }
  return forecast;
}

}  // namespace osler::signal
