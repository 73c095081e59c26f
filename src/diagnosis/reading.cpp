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
  reading.course = signal::running_median(values, half_width);
  const std::size_t head = n < 30 ? 1 : 3;
  const std::size_t tail = std::max<std::size_t>(n < 10 ? 1 : 2, n / 10);
  reading.start = signal::median(std::span(values).first(head));
  reading.end = signal::median(std::span(values).last(tail));
  const auto lowest = std::min_element(reading.course.begin(), reading.course.end());
  reading.best = *lowest;
  reading.best_at = static_cast<std::size_t>(lowest - reading.course.begin());
  reading.top = *std::max_element(reading.course.begin(), reading.course.end());
  std::vector<double> sizes(values);
  for (double& value : sizes) value = std::abs(value);
  reading.level = signal::median(sizes);
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
  take_nonfinite(reading, series);
  return reading;
}

Reading read_sum(const std::vector<const Series*>& parts) {
  Reading reading;
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
  }
  take_landmarks(reading);
  return reading;
}

}  // namespace osler
