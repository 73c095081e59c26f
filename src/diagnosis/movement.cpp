// Levels at both ends of a stretch, and the trend between them.
#include "diagnosis/movement.h"

#include <algorithm>
#include <cmath>

#include "signal/noise.h"
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

double scatter_of_values(const Patient& patient, const Reading& reading) {
  const signal::Curve close = close_up(patient, reading);
  const double of_points = signal::noise_of(close.value).sigma;
  const double merged = close.points() / static_cast<double>(std::max<std::size_t>(1, close.size()));
  if (merged < 2) return of_points;
  // A mean of k values scatters by a root of k less than they do; a single leap counts in their differences alone.
  return std::max(of_points, std::min(close.inner_difference, of_points * std::sqrt(merged)));
}

bool lost_in_scatter(const Patient& patient) {
  constexpr double kScatters = 0.3;  // of the level
  constexpr double kSignificance = 0.01;
  constexpr double kErrors = 3;          // standard errors between both ends that are a movement
  constexpr double kMedianError = 1.25;  // of a median, relative to that of a mean
  const Reading* loss = patient.training();
  if (loss == nullptr || patient.reinforcement() || patient.adversarial() || patient.by_quality()) return false;
  if (patient.validation() != nullptr || !patient.validation_quality().empty() || !patient.training_quality().empty())
    return false;
  const double scatter = scatter_of_values(patient, *loss);
  if (!(scatter > kScatters * loss->level)) return false;
  const std::size_t third = std::max<std::size_t>(1, loss->size() / 3);
  const auto values = std::span<const double>(loss->curve.value);
  const double moved = signal::median(values.first(third)) - signal::median(values.last(third));
  const double error = kMedianError * signal::noise_of(values).sigma * std::sqrt(2 / static_cast<double>(third));
  const signal::Trend trend = signal::trend_of(loss->curve.step, loss->curve.value);
  return trend.p_value > kSignificance && std::abs(moved) < kErrors * error;
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
