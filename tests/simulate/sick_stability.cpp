// Families whose loss swings, spikes or saws.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "simulate/family_lists.h"
#include "simulate/quadratic.h"
#include "simulate/schedule.h"
#include "simulate/shapes.h"

namespace osler::simulate {
namespace {

const std::vector<std::string> kSwinging = {"late-loss-variance", "loss-spikes", "gradient-norm-oscillating",
                                            "epoch-sawtooth"};

Ordinary plain(Random& random, const Axis& axis, const Levels& train, double noise) {
  // Swings are made in shares of the level: below zero they would say nothing.
  Ordinary run = ordinary(random, axis, positive_scale(random), train, {});
  run.noise = {random.pick({Noise::Kind::gaussian, Noise::Kind::heavy}), noise, 0, 0, 0};
  run.smoothing = 0;
  run.running_mean = false;
  run.best_accuracy = 0;
  return run;
}

/// Swings of one period around a level that does not fall: a rate at the edge of stability.
SimulatedRun limit_cycle(Random& random) {
  const Axis axis = any_axis(random, 60, 2000);
  const double rows = static_cast<double>(axis.rows());
  const double period = std::min(rows / 8.0, random.log_uniform(2.5, 60.0));
  const double swing = random.uniform(0.2, 0.6);
  const double level = random.uniform(0.4, 0.9);
  const double phase = random.uniform(0.0, 6.0);
  const Levels train = rows_of(axis, [&](double x) {
    const double base = level + (1.0 - level) * std::exp(-30.0 * x);
    return base * (1.0 + swing * std::sin(2.0 * std::numbers::pi * x * rows / period + phase));
  });
  Ordinary run = plain(random, axis, train, random.uniform(0.01, 0.08));
  run.rates = Levels(axis.rows(), random.pick({0.01, 0.1, 0.5, 1.0}));
  return draft_of(random, run)
      .finish(sick("loss-oscillating", {"lr-too-high"}, {}, both(kSwinging, both(kFlat, {"loss-diverging"}))));
}

/// Jumps from high to low and back, row by row, without getting anywhere.
SimulatedRun bounces(Random& random) {
  const Axis axis = any_axis(random, 40, 1000);
  const double level = random.uniform(0.5, 1.0);
  const double swing = random.uniform(0.25, 0.7);
  Levels train(axis.rows());
  double side = 1;
  for (double& value : train) {
    value = level * (1.0 + side * swing * random.uniform(0.5, 1.0));
    if (random.chance(0.85)) side = -side;
  }
  Ordinary run = plain(random, axis, train, 0.02);
  run.rates = Levels(axis.rows(), random.pick({0.05, 0.1, 1.0}));
  run.gradient = train;
  for (double& norm : run.gradient) norm = 5.0 * std::pow(norm, 3.0);
  return draft_of(random, run)
      .finish(sick("loss-oscillating", {"lr-too-high", "batch-too-small"}, {}, both(kSwinging, kFlat)));
}

/// Good progress first; then the swings set in and grow, and progress ends.
SimulatedRun late_swings(Random& random) {
  const Axis axis = any_axis(random, 100, 2000);
  const double rows = static_cast<double>(axis.rows());
  const double onset = random.uniform(0.4, 0.6);
  const double period = std::min(rows / 15.0, random.log_uniform(3.0, 30.0));
  const double swing = random.uniform(0.25, 0.6);
  const double floor = random.uniform(0.2, 0.5);
  const Levels train = rows_of(axis, [&](double x) {
    const double base = floor + (1.0 - floor) * std::exp(-12.0 * x);  // as low as it gets before the swings begin
    const double grown = x < onset ? 0.0 : swing * std::min(1.0, 4.0 * (x - onset));
    return base * (1.0 + grown * std::sin(2.0 * std::numbers::pi * x * rows / period));
  });
  Ordinary run = plain(random, axis, train, random.uniform(0.005, 0.03));
  run.rates = Levels(axis.rows(), random.pick({1e-3, 1e-2, 0.1}));
  Truth truth = sick("loss-oscillating", {"lr-too-high"}, {"late-loss-variance"}, both(kSwinging, kFlat));
  return draft_of(random, run).finish(std::move(truth));
}

/// Training is quiet, validation jumps about by multiples of itself.
SimulatedRun erratic_validation(Random& random) {
  const Axis axis = epoch_axis(random, 40, 600);
  const double level = random.uniform(0.3, 0.6);
  const Levels train = rows_of(axis, [&](double x) { return level + 0.1 * std::exp(-10.0 * x); });
  Ordinary run = plain(random, axis, train, 0.01);
  run.scale = classifier_scale(random);
  Levels validation = times(train, 1.3);
  for (double& value : validation) value *= std::exp(random.uniform(0.5, 0.9) * random.normal());
  run.validation = validation;
  run.validation_noise = {Noise::Kind::gaussian, 0.02, 0, 0, 0};
  return draft_of(random, run)
      .finish(sick("loss-oscillating", {}, {"late-loss-variance", "loss-spikes"},
                   both(kFlat, {"overfitting", "overconfidence", "metric-contradicts-loss"})));
}

/// Isolated jumps of the training loss that recover within a few rows.
SimulatedRun spikes(Random& random) {
  const Axis axis = any_axis(random, 80, 3000);
  const Descent descent = any_descent(random);
  Levels train = along(descent, axis);
  const double noise = random.uniform(0.005, 0.04);
  const auto count = random.integer(1, 5);
  std::vector<double> norms(axis.rows(), 1.0);
  std::int64_t first = static_cast<std::int64_t>(axis.rows());
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(static_cast<double>(axis.rows()) * random.uniform(0.15, 0.85));
    const double height = random.log_uniform(0.8, 40.0);
    const auto length = static_cast<std::size_t>(random.integer(1, 5));
    for (std::size_t row = at; row < std::min(axis.rows(), at + length); ++row) {
      train[row] += height * std::pow(0.5, static_cast<double>(row - at));
      norms[row] = 1.0 + 10.0 * height;
    }
    first = std::min(first, static_cast<std::int64_t>(at));
  }
  Ordinary run = plain(random, axis, train, noise);
  run.noise.kind = Noise::Kind::gaussian;
  if (random.chance(0.6)) {
    run.gradient = gradient_norms(along(descent, axis), random);
    for (std::size_t row = 0; row < axis.rows(); ++row) run.gradient[row] *= norms[row];
  }
  if (random.chance(0.5)) run.rates = Levels(axis.rows(), any_peak_rate(random));
  Truth truth = sick(
      "loss-spikes", {"bad-batches", "no-clipping", "lr-too-high", "corrupt-data"}, {},
      {"exploding-gradients", "late-loss-variance", "loss-oscillating", "gradient-norm-oscillating", "loss-plateau"});
  const std::int64_t step = axis.steps[static_cast<std::size_t>(first)];
  truth.begins = {step, step};
  return draft_of(random, run).finish(std::move(truth));
}

/// The same bad batch comes by in every epoch.
SimulatedRun periodic_spikes(Random& random) {
  Axis axis = step_axis(random, 200, 3000);
  axis.rows_per_epoch = std::max<std::size_t>(15, axis.rows() / static_cast<std::size_t>(random.integer(5, 12)));
  const std::size_t place = static_cast<std::size_t>(random.integer(1, 10));
  Levels train = along(any_descent(random), axis);
  const double height = random.log_uniform(0.6, 5.0);
  for (std::size_t row = place; row < axis.rows(); row += axis.rows_per_epoch) {
    train[row] += height * random.uniform(0.7, 1.3);
  }
  Ordinary run = plain(random, axis, train, random.uniform(0.005, 0.03));
  run.noise.kind = Noise::Kind::gaussian;
  return draft_of(random, run)
      .finish(
          sick("loss-spikes", {"bad-batches", "corrupt-data"}, {},
               {"epoch-sawtooth", "late-loss-variance", "loss-oscillating", "exploding-gradients", "loss-plateau"}));
}

/// The noise of the batches grows late, while the mean hardly falls.
SimulatedRun late_variance(Random& random) {
  const Axis axis = any_axis(random, 150, 3000);
  const double onset = random.uniform(0.55, 0.75);
  const double factor = random.uniform(5.0, 12.0);
  const double noise = random.uniform(0.01, 0.03);
  Descent descent = any_descent(random);
  descent.floor = random.uniform(0.2, 0.5);
  descent.exponential = 1.0;
  descent.rate = random.uniform(8.0, 20.0);
  Levels train = along(descent, axis);
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    const double wide = noise * (1.0 + (factor - 1.0) * smooth_step(axis.progress(row), onset, 0.1));
    train[row] *= 1.0 + wide * random.normal();
  }
  Ordinary run = plain(random, axis, train, 0.001);
  run.rates = Levels(axis.rows(), any_peak_rate(random));
  return draft_of(random, run)
      .finish(sick("late-loss-variance", {"lr-too-high", "sharp-minimum", "batch-too-small", "label-noise"},
                   {"loss-oscillating"}, both(kSwinging, kFlat)));
}

/// The data comes in the same order in every epoch: the loss saws.
SimulatedRun saw(Random& random) {
  Axis axis = step_axis(random, 150, 3000);
  axis.rows_per_epoch = std::max<std::size_t>(12, axis.rows() / static_cast<std::size_t>(random.integer(7, 16)));
  axis.validate_every = axis.rows_per_epoch;
  const double height = random.uniform(0.15, 0.45);
  Descent descent = any_descent(random);
  Levels train(axis.rows());
  const bool ramp = random.chance(0.6);  // within an epoch: down a ramp, or easy data first and hard data last
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    const double within = static_cast<double>(row % axis.rows_per_epoch) / static_cast<double>(axis.rows_per_epoch);
    train[row] = descent(axis.progress(row)) * (1.0 + height * (ramp ? 0.5 - within : within - 0.5));
  }
  Ordinary run = plain(random, axis, train, random.uniform(0.005, 0.04));
  run.noise.kind = Noise::Kind::gaussian;
  Draft draft = draft_of(random, run);
  // Without the epochs in the log nobody could tell that the saw follows them: a column, or a validation after each.
  if (random.chance(0.6)) {
    Levels epochs(axis.rows());
    for (std::size_t row = 0; row < axis.rows(); ++row) {
      epochs[row] = static_cast<double>(row / axis.rows_per_epoch);
    }
    draft.add("epoch", epochs);
  } else {
    draft.add(Quantity::validation_loss, along(descent, axis), run.scale);
  }
  return draft.finish(sick("epoch-sawtooth", {"no-shuffling"}, {"loss-oscillating"},
                           {"loss-spikes", "late-loss-variance", "loss-plateau"}));
}

}  // namespace

std::vector<Family> sick_stability() {
  return {{"sick-limit-cycle", false, limit_cycle},
          {"sick-bounces", false, bounces},
          {"sick-late-swings", false, late_swings},
          {"sick-erratic-validation", false, erratic_validation},
          {"sick-spikes", false, spikes},
          {"sick-periodic-spikes", false, periodic_spikes},
          {"sick-late-variance", false, late_variance},
          {"sick-saw", false, saw}};
}

}  // namespace osler::simulate
