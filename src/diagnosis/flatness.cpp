// Growing a flat stretch from the end of a curve.
#include "diagnosis/flatness.h"

#include <algorithm>
#include <cmath>

#include "signal/robust.h"
#include "signal/trend.h"

namespace osler {

Flatness flatness_of(const Reading& reading, double matters) {
  Flatness flat;
  const std::size_t n = reading.size();
  flat.since = n;
  if (n < 6) return flat;
  const double gain = std::max(reading.top - reading.best, 1e-12 * std::max(reading.level, 1e-300));
  constexpr std::size_t kPieces = 20;
  constexpr std::size_t kSurePieces = 6;  // shorter ends can look tilted by chance
  constexpr double kNegligible = 0.005;   // of the level: nobody would call half a per cent movement
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
    const double tolerated = small + reading.noise.sigma / std::sqrt(static_cast<double>(third));
    // The stretch must not reach back into a descent that is short against it.
    const double above = reading.course[first] - signal::median(values);
    const bool moves =
        std::abs(trend.change) > tolerated || std::abs(drop) > tolerated || above > small + 2 * reading.noise.sigma;
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
