// Growing a flat stretch from the end of a curve.
#include "diagnosis/flatness.h"

#include <algorithm>
#include <cmath>

#include "signal/noise.h"
#include "signal/robust.h"
#include "signal/trend.h"

namespace osler {
namespace {

/// The scatter of a stretch about its own trend, and how far its trend may move by that scatter alone.
struct Scatter {
  double sigma = 0;
  double chance = 0;  // two standard errors of the change of a straight line, slow wandering taken into account
};

Scatter scatter_of(std::span<const double> steps, std::span<const double> values, const signal::Trend& trend) {
  std::vector<double> residuals(values.begin(), values.end());
  for (std::size_t i = 0; i < residuals.size(); ++i) residuals[i] -= trend.slope * (steps[i] - steps.front());
  const auto n = static_cast<double>(residuals.size());
  const double independent = signal::effective_count(n, signal::autocorrelation(residuals, 1));
  Scatter scatter;
  scatter.sigma = signal::mad_scale(residuals);
  scatter.chance = 2 * scatter.sigma * std::sqrt(12 / independent);
  return scatter;
}

}  // namespace

Flatness flatness_of(const Reading& reading, double matters) {
  Flatness flat;
  const std::size_t n = reading.size();
  flat.since = n;
  if (n < 6) return flat;
  const double gain = std::max(reading.top - reading.best, 1e-12 * std::max(reading.level, 1e-300));
  constexpr std::size_t kPieces = 20;
  constexpr std::size_t kSurePieces = 6;  // shorter ends can look tilted by chance
  constexpr double kNegligible = 0.005;   // of the level: nobody would call half a per cent movement
  constexpr double kHidden = 0.15;        // share of the gain that scatter may hide at most
  constexpr double kSure = 0.01;          // significance of a trend that counts whatever the scatter
  constexpr double kCreep = 0.15;         // share of the gain that a flat stretch may give back: it makes no progress
  for (std::size_t pieces = 2; pieces <= kPieces; ++pieces) {
    const std::size_t length = std::max<std::size_t>(4, pieces * n / kPieces);
    const std::size_t first = n - std::min(length, n);
    const auto steps = std::span(reading.curve.step).subspan(first);
    const auto values = std::span(reading.curve.value).subspan(first);
    const signal::Trend trend = signal::trend_of(steps, values);
    // The ends of the stretch must agree with its trend: a late drop after a long plateau is progress.
    const std::size_t third = std::max<std::size_t>(1, values.size() / 3);
    const double drop = signal::median(values.first(third)) - signal::median(values.last(third));
    const double small = std::max(matters * gain, kNegligible * reading.level);
    // Scatter differs along a curve: a reward is steady while nothing is learned and wanders later. What the stretch's
    // own scatter explains is no movement, unless it would hide a good part of the gain.
    const Scatter scatter = scatter_of(steps, values, trend);
    const double noise = reading.noise.sigma / std::sqrt(static_cast<double>(third));
    const double tolerated = small + std::max(noise, std::min(scatter.chance, kHidden * gain));
    const double creep = std::max(tolerated, kCreep * gain);
    const bool surely = trend.p_value < kSure && (trend.change < -(small + noise) || trend.change > creep);
    // The stretch must not reach back into a descent that is short against it.
    const double above = reading.smoothed[first] - signal::median(values);
    const double reach = small + 2 * std::max(reading.noise.sigma, std::min(scatter.sigma, kHidden * gain));
    const bool falls = -trend.change > tolerated || drop > tolerated;
    const bool rises = trend.change > creep || -drop > creep;
    const bool moves = surely || falls || rises || above > reach;
    if (moves && pieces < kSurePieces) continue;
    if (moves) break;
    flat.since = first;
    flat.change = -trend.change;
  }
  if (flat.since == n) return flat;
  const double span = reading.curve.step.back() - reading.curve.step.front();
  flat.share = span > 0 ? (reading.curve.step.back() - reading.curve.step[flat.since]) / span : 0;
  flat.of_gain = flat.change / gain;
  return flat;
}

}  // namespace osler
