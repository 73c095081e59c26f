// Levels of stretches, held against the scatter from one value to the next.
#include "diagnosis/lost_ground.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace osler {
namespace {

constexpr std::size_t kShortestStretch = 5;
/// A stretch is this share of the series: long enough to tell a level, short enough to see the newest one.
constexpr std::size_t kStretchesInAll = 10;
/// In units of scatter. The second is larger, since the best of many stretches is lower by chance.
constexpr double kClearly = 3;
constexpr double kClearlyOfMany = 4;
/// Values that are printed with few digits have no scatter to speak of; less than this share of the level is no loss.
constexpr double kLeastShare = 0.05;
/// Against the start more is asked: a contrastive loss climbs while its queue fills, and then falls.
constexpr double kLeastAboveStart = 0.25;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Finite values, lower is better.
struct Values {
  std::vector<double> all;
  bool logarithms = false;
};

Values values_of(const Series& series, bool higher_is_better) {
  Values values{{}, !higher_is_better};
  for (const Bucket& bucket : series.summary().buckets()) {
    if (bucket.count == 0) continue;
    values.all.push_back(higher_is_better ? -bucket.mean : bucket.mean);
    values.logarithms = values.logarithms && bucket.mean > 0;
  }
  if (values.logarithms) {
    for (double& value : values.all) value = std::log(value);
  }
  return values;
}

/// How far a value lies from the one before it by chance; robust, so that neither a trend nor a leap counts.
double scatter_of(const std::vector<double>& values) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < values.size(); ++i) steps.push_back(values[i] - values[i - 1]);
  const double usual = median(steps);
  for (double& step : steps) step = std::fabs(step - usual);
  constexpr double kMadOfANormal = 0.6745;
  return median(steps) / kMadOfANormal / std::sqrt(2.0);
}

}  // namespace

Ground ground_of(const Series& series, bool higher_is_better) {
  const auto [values, logarithms] = values_of(series, higher_is_better);
  const std::size_t stretch = std::max(kShortestStretch, values.size() / kStretchesInAll);
  if (values.size() < 2 * stretch) return Ground::kept;
  const auto level = [&values = values](std::size_t from, std::size_t length) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(from);
    return median({begin, begin + static_cast<std::ptrdiff_t>(length)});
  };
  const double start = level(0, kShortestStretch);  // a loss can run away within a few steps
  const double newest = level(values.size() - stretch, stretch);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t from = 0; from + stretch <= values.size(); from += stretch) {
    best = std::min(best, level(from, stretch));
  }
  const double scatter = scatter_of(values);
  const double scale = logarithms ? 1 : std::max({std::fabs(start), std::fabs(newest), std::fabs(best)});
  const double gain = start - best;
  const double clearly = std::max(kClearlyOfMany * scatter, kLeastShare * scale);
  if (gain > clearly && newest - best > std::max(clearly, gain / 2)) return Ground::gain_lost;
  const bool above = newest - start > std::max(kClearly * scatter, kLeastAboveStart * scale);
  if (!above) return Ground::kept;
  // A loss can also learn and lose it all within a few steps.
  for (std::size_t from = 0; from + kShortestStretch <= values.size(); ++from) {
    if (start - level(from, kShortestStretch) > clearly) return Ground::gain_lost;
  }
  return Ground::above_start;
}

}  // namespace osler
