// The landmarks of an objective's curve.
#include "diagnosis/reading.h"

#include <algorithm>
#include <cmath>

#include "signal/robust.h"

namespace osler {
namespace {

void take_landmarks(Reading& reading) {
  const std::vector<double>& values = reading.curve.value;
  const std::size_t n = values.size();
  if (n == 0) return;
  reading.noise = signal::noise_of(values);
  // Wide enough to step over outliers, narrow enough to keep the shape of 20 points.
  const std::size_t half_width = n < 10 ? 0 : std::clamp<std::size_t>(n / 24, 1, 10);
  reading.smoothed = signal::running_median(values, half_width);
  const std::size_t head = n < 30 ? 1 : 3;
  const std::size_t tail = std::max<std::size_t>(n < 10 ? 1 : 2, n / 10);
  reading.start = signal::median(std::span(values).first(head));
  reading.end = signal::median(std::span(values).last(tail));
  const auto lowest = std::min_element(reading.smoothed.begin(), reading.smoothed.end());
  reading.best = *lowest;
  reading.best_at = static_cast<std::size_t>(lowest - reading.smoothed.begin());
  reading.top = *std::max_element(reading.smoothed.begin(), reading.smoothed.end());
  std::vector<double> sizes(values);
  for (double& value : sizes) value = std::abs(value);
  reading.level = signal::median(sizes);
}

/// The first finite value of a series, which is what a reader sees at the top of the log: the start of the curve is
/// smoothed, and in a long series comes after hundreds of values.
double opening_of(const Series& series, double start, bool negated) {
  for (const Bucket& bucket : series.summary().buckets()) {
    if (bucket.count > 0) return negated ? -bucket.first : bucket.first;
  }
  return start;
}

void take_nonfinite(Reading& reading, const Series& series) {
  const auto total = series.summary().total();
  if (!total) return;
  reading.first_step = total->first_step;
  reading.last_step = total->last_step;
  reading.nonfinite = total->nonfinite;
  reading.first_nonfinite_step = total->first_nonfinite_step;
  const auto recent = series.summary().recent();
  reading.ends_nonfinite = !recent.empty() && !std::isfinite(recent.back().value);
}

/// One stretch of a whole, summed up from the same stretch of its parts. Where a bucket holds a single value this is
/// exact. Where it holds several, the mean square is exact, the parts are taken to rise and fall together (they follow
/// the same batches), and the highest value is an upper bound.
struct NormBucket {
  Bucket whole;
  double mean_square = 0;
  double spread = 0;      ///< sum of each part's mean times its deviation
  double difference = 0;  ///< the same with its successive differences

  explicit NormBucket(const Bucket& first) : whole(first) { whole.first = whole.last = whole.min = whole.max = 0; }

  void add(const Bucket& part) {
    if (part.nonfinite > whole.nonfinite) {
      whole.count = part.count;
      whole.nonfinite = part.nonfinite;
      whole.first_nonfinite_step = part.first_nonfinite_step;
    }
    if (part.count == 0) return;
    const double variance = part.m2 / static_cast<double>(part.count);
    mean_square += part.mean * part.mean + variance;
    spread += part.mean * std::sqrt(variance);
    difference += part.mean * std::sqrt(part.squared_differences);
    whole.first = std::hypot(whole.first, part.first);
    whole.last = std::hypot(whole.last, part.last);
    whole.min = std::hypot(whole.min, part.min);
    whole.max = std::hypot(whole.max, part.max);
  }

  [[nodiscard]] Bucket bucket() const {
    Bucket made = whole;
    const double variance = mean_square > 0 ? spread * spread / mean_square : 0;
    made.mean = std::clamp(std::sqrt(std::max(0.0, mean_square - variance)), made.min, made.max);
    made.m2 = variance * static_cast<double>(made.count);
    made.squared_differences = mean_square > 0 ? difference * difference / mean_square : 0;
    return made;
  }
};

}  // namespace

std::size_t Reading::index_at(double step) const {
  const auto after = std::upper_bound(curve.step.begin(), curve.step.end(), step);
  return after == curve.step.begin() ? 0 : static_cast<std::size_t>(after - curve.step.begin()) - 1;
}

std::int64_t Reading::step_at(std::size_t i) const {
  return std::llround(curve.step[std::min(i, curve.size() - 1)]);
}

Reading read_series(const Series& series, bool higher_is_better) {
  Reading reading;
  reading.name = series.name();
  reading.negated = higher_is_better;
  reading.curve = signal::curve_of(series.summary());
  if (higher_is_better) reading.curve = signal::negated(std::move(reading.curve));
  take_landmarks(reading);
  reading.opening = opening_of(series, reading.start, higher_is_better);
  take_nonfinite(reading, series);
  return reading;
}

bool is_calm(const Reading& reading) {
  constexpr double kCalm = 0.05;  // noise as a share of the level
  return reading.noise.sigma < kCalm * reading.level;
}

Reading read_sum(const std::vector<const Series*>& parts) {
  Reading reading;
  double opening = 0;
  for (const Series* part : parts) {
    const signal::Curve curve = signal::curve_of(part->summary());
    reading.name += (reading.name.empty() ? "" : " + ") + part->name();
    if (reading.curve.empty()) {
      reading.curve = curve;
    } else {
      for (std::size_t i = 0; i < std::min(curve.size(), reading.size()); ++i) {
        reading.curve.value[i] += curve.value[i];
        reading.curve.low[i] += curve.low[i];
        reading.curve.high[i] += curve.high[i];
        reading.curve.variance[i] += curve.variance[i];
      }
    }
    take_nonfinite(reading, *part);
    opening += opening_of(*part, curve.empty() ? 0 : curve.value.front(), false);
  }
  take_landmarks(reading);
  reading.opening = opening;
  reading.computed = true;
  return reading;
}

Reading read_norm(const std::vector<const Series*>& parts, std::string name) {
  Reading reading;
  reading.name = std::move(name);
  reading.computed = true;
  std::vector<NormBucket> sums;
  for (const Series* part : parts) {
    const std::vector<Bucket> buckets = part->summary().buckets();
    for (std::size_t i = sums.size(); part == parts.front() && i < buckets.size(); ++i) sums.emplace_back(buckets[i]);
    for (std::size_t i = 0; i < std::min(sums.size(), buckets.size()); ++i) sums[i].add(buckets[i]);
    take_nonfinite(reading, *part);
  }
  reading.nonfinite = 0;
  std::vector<Bucket> whole;
  for (const NormBucket& sum : sums) {
    whole.push_back(sum.bucket());
    if (whole.back().nonfinite == 0) continue;
    if (reading.nonfinite == 0) reading.first_nonfinite_step = whole.back().first_nonfinite_step;
    reading.nonfinite += whole.back().nonfinite;
  }
  reading.ends_nonfinite = !whole.empty() && whole.back().count == 0;
  reading.curve = signal::curve_of(std::move(whole));
  take_landmarks(reading);
  reading.opening = reading.start;
  return reading;
}

}  // namespace osler
