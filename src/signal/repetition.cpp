// Rank autocorrelation of successive differences.
#include "signal/repetition.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace osler::signal {
namespace {

/// Ranks of the changes from point to point about their mean; equal changes share their mean rank.
std::vector<double> ranked_changes(std::span<const double> values) {
  std::vector<double> changes;
  for (std::size_t i = 1; i < values.size(); ++i) changes.push_back(values[i] - values[i - 1]);
  std::vector<std::size_t> order(changes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return changes[a] < changes[b]; });
  std::vector<double> ranks(changes.size());
  const double middle = (static_cast<double>(changes.size()) - 1) / 2;
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first + 1;
    while (last < order.size() && changes[order[last]] == changes[order[first]]) ++last;
    const double rank = (static_cast<double>(first) + static_cast<double>(last) - 1) / 2 - middle;
    for (std::size_t i = first; i < last; ++i) ranks[order[i]] = rank;
    first = last;
  }
  return ranks;
}

/// The correlation of the ranks with those `lag` points earlier.
double likeness_at(const std::vector<double>& ranks, std::size_t lag) {
  double product = 0;
  double early = 0;
  double late = 0;
  for (std::size_t i = lag; i < ranks.size(); ++i) {
    product += ranks[i] * ranks[i - lag];
    early += ranks[i - lag] * ranks[i - lag];
    late += ranks[i] * ranks[i];
  }
  return early > 0 && late > 0 ? product / std::sqrt(early * late) : 0;
}

}  // namespace

std::optional<Repetition> repetition_of(std::span<const double> values, const RepetitionOptions& options) {
  if (values.size() < options.shortest * options.repeats) return std::nullopt;
  const std::vector<double> ranks = ranked_changes(values);
  const std::size_t longest = values.size() / options.repeats;
  std::vector<double> likeness(2 * longest + 1, 0.0);
  for (std::size_t lag = 1; lag <= 2 * longest && lag < ranks.size(); ++lag) likeness[lag] = likeness_at(ranks, lag);
  constexpr double kNearly = 0.8;  // of the likeness one period apart, at two: what drifts slowly parts a little
  for (std::size_t period = options.shortest; period <= longest; ++period) {
    const double error = 1 / std::sqrt(static_cast<double>(ranks.size() - period));
    if (likeness[period] < std::max(options.likeness, options.errors * error) ||
        likeness[2 * period] < kNearly * options.likeness)
      continue;
    const auto within =
        std::max_element(likeness.begin() + 1, likeness.begin() + static_cast<std::ptrdiff_t>(period / 2) + 1);
    if (*within < std::max(options.roughness, likeness[period] - options.apart))
      return Repetition{period, likeness[period]};
  }
  return std::nullopt;
}

}  // namespace osler::signal
