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

/// Every shape of the grid with its best floor and amplitude; none when there is nothing to fit.
std::vector<Candidate> fit_all(std::span<const double> steps, std::span<const double> values) {
  const std::size_t n = std::min(steps.size(), values.size());
  std::vector<Candidate> candidates;
  if (n < 8) return candidates;
  const double span = steps[n - 1] - steps[0];
  if (!(span > 0)) return candidates;
  const double gap = span / static_cast<double>(n - 1);

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
  return candidates;
}

double least_squares(const std::vector<Candidate>& candidates) {
  return std::min_element(candidates.begin(), candidates.end(),
                          [](const auto& a, const auto& b) { return a.fit.squares < b.fit.squares; })
      ->fit.squares;
}

}  // namespace

double Forecast::at(double t) const {
  return floor + amplitude * shape_at(model, rate, offset, t);
}

std::optional<Forecast> forecast_of(std::span<const double> steps, std::span<const double> values) {
  const std::size_t n = std::min(steps.size(), values.size());
  const std::vector<Candidate> candidates = fit_all(steps, values);
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

std::optional<Prospect> prospect_at(std::span<const double> steps, std::span<const double> values, double step) {
  const std::vector<Candidate> candidates = fit_all(steps, values);
  if (candidates.empty()) return std::nullopt;
  // Neighbouring residuals are alike: a long curve says less than its number of points.
  constexpr double kIndependent = 24;
  const double n = std::min(kIndependent, static_cast<double>(std::min(steps.size(), values.size())));
  const double least = least_squares(candidates) + 1e-300;
  std::vector<double> values_then;
  std::vector<double> weights;
  for (const Candidate& candidate : candidates) {
    weights.push_back(std::pow((candidate.fit.squares + 1e-300) / least, -n / 2));
    values_then.push_back(candidate.fit.floor + candidate.fit.amplitude * shape_at(candidate.model, candidate.rate,
                                                                                   candidate.offset, step - steps[0]));
  }
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  Prospect prospect;
  prospect.value = std::inner_product(weights.begin(), weights.end(), values_then.begin(), 0.0) / all;
  for (double& value : values_then) value = (value - prospect.value) * (value - prospect.value);
  prospect.spread = std::sqrt(std::inner_product(weights.begin(), weights.end(), values_then.begin(), 0.0) / all);
  return prospect;
}

}  // namespace osler::signal
