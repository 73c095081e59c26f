// Judging valleys in validation curves.
#include "diagnosis/turn.h"

#include <algorithm>
#include <cmath>

#include "signal/noise.h"
#include "signal/robust.h"

namespace osler {

double comparable_start(const Patient& patient) {
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  if (training == nullptr || validation == nullptr || training->negated || training->curve.empty()) return std::nan("");
  // Different reductions (sums, means) are on different scales.
  constexpr double kSameScale = 5;
  const double ratio = validation->start != 0 ? training->start / validation->start : 0;
  return ratio > 1 / kSameScale && ratio < kSameScale ? training->start : std::nan("");
}

namespace {

/// Every one of the last values lies above the lowest and those right behind it: a rise that has come to rest up there,
/// where a trend no longer shows. Values without any order do so in one case of 56.
bool rests_above(std::span<const double> values) {
  constexpr std::size_t kBehind = 3;
  constexpr std::size_t kFewest = 5;
  const std::size_t tail = std::max(kFewest, values.size() / 4);
  const auto lowest = std::min_element(values.begin(), values.end());
  if (static_cast<std::size_t>(values.end() - lowest) < kBehind + 1 + tail) return false;
  const auto last = values.last(tail);
  return *std::min_element(last.begin(), last.end()) > *std::max_element(lowest, lowest + kBehind + 1);
}

}  // namespace

Turn turn_of(const Reading& reading, const TurnLimits& limits, double first_level) {
  Turn turn;
  const std::size_t n = reading.size();
  const std::vector<double> calm = signal::running_median(reading.curve.value, n >= 12 ? 1 : 0);
  turn.valley = signal::valley_of(reading.curve.step, calm);
  const double rise = turn.valley.rise();
  double gain = std::max(turn.valley.fall(), limits.least_gain * reading.level);
  if (std::isfinite(first_level)) gain = std::max(gain, first_level - turn.valley.floor);
  // The median of three halves the noise of independent points; slower scatter stays.
  const double noise = std::max({signal::difference_noise(calm), 0.6 * reading.noise.sigma, 1e-12 * reading.level});
  const std::size_t after = n - turn.valley.bottom;
  turn.units = rise / noise;
  turn.share = gain > 0 ? rise / gain : 0;
  // With only a few points after the valley nothing but a rise at every one of them is convincing.
  const bool convincing = after >= 6 ? turn.valley.after.rises(limits.p_value) || rests_above(reading.curve.value)
                                     : after >= 4 && turn.valley.after.tau > 0.99;
  // A long rise is visible beneath noise larger than a single step of it: the noise of a mean shrinks.
  const double shrink = std::sqrt(std::max(1.0, static_cast<double>(after) / 8));
  turn.units *= shrink;
  // A rise at every one of so many points is no noise; what the descent before them bends looks like some.
  constexpr std::ptrdiff_t kEveryOne = 5;
  const auto& values = reading.curve.value;
  const auto lowest = std::min_element(values.begin(), values.end());
  const bool steady = values.end() - lowest >= kEveryOne && std::is_sorted(lowest, values.end());
  if (steady) turn.share = std::max(turn.share, gain > 0 ? (values.back() - *lowest) / gain : 0);
  const bool matters = turn.share > (steady ? limits.rise_share / 2 : limits.rise_share) ||
                       (limits.level_enough > 0 && rise > limits.level_enough * reading.level);
  turn.real = (steady || (convincing && turn.units > limits.noise_units)) && matters &&
              rise > limits.level_share * reading.level;
  return turn;
}

Motion motion_after(const Reading& metric, double step) {
  const std::size_t at = metric.index_at(step);
  const auto steps = std::span(metric.curve.step).subspan(at);
  const auto values = std::span(metric.curve.value).subspan(at);
  if (values.size() < 4) return Motion::flat;
  const signal::Trend trend = signal::trend_of(steps, values);
  const double size = std::abs(trend.change);
  const double gain = std::max(metric.top - metric.best, 1e-12 * metric.level);
  // Of a handful of evaluations hardly any order is significant: nearly all pairs must agree.
  constexpr std::size_t kHandful = 7;
  constexpr double kAgree = 0.6;
  if (values.size() < kHandful && std::abs(trend.tau) >= kAgree) {
    return trend.tau < 0 ? Motion::improved : Motion::declined;
  }
  constexpr double kMatters = 0.05;
  if (size < kMatters * gain || size < 0.5 * metric.noise.sigma) return Motion::flat;
  if (trend.falls(0.05)) return Motion::improved;
  return trend.rises(0.05) ? Motion::declined : Motion::flat;
}

bool only_grows_surer(const Patient& patient, const Reading& loss, const Turn& turn) {
  constexpr double kGood = 0.78;    // accuracy from which on most answers are right, whatever the classes
  constexpr double kSolved = 0.95;  // accuracy at which the size of a rise hardly matters
  constexpr double kFar = 1;        // rise as a share of the lowest that matters all the same
  constexpr double kMild = 0.15;    // rise of the loss as a share of its lowest
  constexpr double kHeld = 0.15;    // share of its gain that an accuracy which holds may have lost
  const auto accuracy = patient.best_accuracy();
  if (!accuracy || *accuracy < kGood || patient.validation_quality().empty()) return false;
  const Reading& metric = patient.validation_quality().front();
  if (motion_after(metric, loss.curve.step[turn.valley.bottom]) == Motion::declined) return false;
  const bool holds = metric.end - metric.best <= std::max(kHeld * (metric.top - metric.best), metric.noise.sigma);
  const double rise = turn.valley.end - turn.valley.floor;
  return holds && rise < (*accuracy >= kSolved ? kFar : kMild) * std::abs(turn.valley.floor);
}

bool training_improves_after(const Patient& patient, double step, const Reading& validation) {
  // How far a reading fell since then, and how much of that noise explains.
  const auto fall = [&](const Reading& reading) { return reading.smoothed[reading.index_at(step)] - reading.end; };
  const auto error = [](const Reading& reading) {
    return reading.noise.sigma / std::sqrt(std::max(1.0, static_cast<double>(reading.size()) / 10));
  };
  const auto falls = [&](const Reading& reading) {
    return reading.size() >= 4 && fall(reading) > std::max(0.02 * std::max(reading.improvement(), 0.0), error(reading));
  };
  const Reading* training = patient.training();
  // One that ends where it began has come down from a leap, if from anywhere: it learned nothing by heart.
  constexpr double kNothing = 0.05;
  if (training != nullptr && !training->negated && training->start > 0 && training->size() >= 8 &&
      training->end > (1 - kNothing) * training->start && training->best > 0) {
    return false;
  }
  if (training != nullptr && falls(*training)) return true;
  if (training != nullptr && training->size() >= 4 && fall(*training) < -error(*training)) return false;
  if (training != nullptr && !training->negated && !validation.negated && training->size() >= 4) {
    const bool far_below = training->end >= 0 && training->end < 0.5 * validation.end;
    if (far_below && training->end < training->smoothed[training->index_at(step)] + training->noise.sigma) return true;
  }
  return std::any_of(patient.training_quality().begin(), patient.training_quality().end(), falls);
}

}  // namespace osler
