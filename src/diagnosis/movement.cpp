// Levels at both ends of a stretch, and the trend between them.
#include "diagnosis/movement.h"

#include <algorithm>
#include <cmath>

#include "signal/robust.h"

namespace osler {

bool Movement::falls(double alpha, double least) const {
  return trend.falls(alpha) && fall() > std::max(least, 2 * sigma);
}

bool Movement::rises(double alpha, double least) const {
  return trend.rises(alpha) && -fall() > std::max(least, 2 * sigma);
}

Movement movement_of(const Reading& reading, std::size_t first, std::size_t last) {
  Movement movement;
  last = std::min(last, reading.size());
  if (first >= last) return movement;
  movement.points = last - first;
  const auto steps = std::span(reading.curve.step).subspan(first, movement.points);
  const auto values = std::span(reading.curve.value).subspan(first, movement.points);
  const std::size_t end = std::max<std::size_t>(1, movement.points / 8);
  movement.from = signal::median(values.first(end));
  movement.to = signal::median(values.last(end));
  movement.sigma = signal::noise_of(values).sigma;
  movement.trend = signal::trend_of(steps, values);
  return movement;
}

Movement movement_of(const Reading& reading) {
  return movement_of(reading, 0, reading.size());
}

bool training_improves(const Patient& patient) {
  constexpr std::size_t kFewestPoints = 5;
  constexpr double kSignificance = 0.01;
  constexpr double kMatters = 0.1;
  const Reading* loss = patient.training();
  if (loss == nullptr || loss->size() < kFewestPoints || loss->ends_nonfinite) return false;
  const double most = std::max(std::abs(loss->start), loss->level);
  return movement_of(*loss).falls(kSignificance, kMatters * most);
}

signal::Curve close_up(const Patient& patient, const Reading& reading) {
  const Series* series = patient.run().find(reading.name);
  if (series == nullptr) return reading.curve;
  signal::Curve curve = signal::curve_of(series->summary(), SummaryLimits{}.buckets);
  return reading.negated ? signal::negated(std::move(curve)) : curve;
}

double first_value(const Patient& patient, const Reading& reading) {
  const Series* series = patient.run().find(reading.name);
  if (series == nullptr) return reading.curve.value.front();
  for (const Bucket& bucket : series->summary().buckets()) {
    if (bucket.count > 0) return reading.negated ? -bucket.first : bucket.first;
  }
  return reading.curve.value.front();
}

}  // namespace osler
