// Families whose gradient norms, clipping or loss scale are wrong.
#include <algorithm>
#include <cmath>
#include <limits>

#include "simulate/family_lists.h"
#include "simulate/schedule.h"
#include "simulate/shapes.h"

namespace osler::simulate {
namespace {

const std::vector<std::string> kVanishing = {"vanishing-signal", "saturation", "dead-units", "bad-initialization"};
const std::vector<std::string> kExploding = {"no-clipping", "lr-too-high", "exploding-signal"};

Ordinary with_norms(Random& random, const Axis& axis, const Levels& train) {
  Ordinary run = ordinary(random, axis, any_scale(random), train, {});
  run.noise.relative = std::min(run.noise.relative, 0.03);
  run.best_accuracy = 0;
  run.gradient = gradient_norms(train, random);
  run.rates = Levels(axis.rows(), any_peak_rate(random));
  return run;
}

/// Norms far below anything that could move a weight, from the start; the loss stands still.
SimulatedRun vanished(Random& random) {
  const Axis axis = any_axis(random, 30, 1000);
  Ordinary run = with_norms(random, axis, Levels(axis.rows(), 1.0));
  run.noise.relative = random.log_uniform(0.001, 0.02);
  const double unit = random.log_uniform(1e-12, 2e-9);
  run.gradient = rows_of(axis, [&](double) { return unit * std::exp(0.4 * random.normal()); });
  return draft_of(random, run).finish(sick("vanishing-gradients", kVanishing, {}, kFlat));
}

/// The norm decays by orders of magnitude and takes the progress with it.
SimulatedRun vanishes(Random& random) {
  const Axis axis = any_axis(random, 60, 1500);
  const double decades = random.uniform(8.0, 12.0);
  const Levels train = rows_of(axis, [](double x) { return 0.7 + 0.3 * std::exp(-25.0 * x); });
  Ordinary run = with_norms(random, axis, train);
  run.gradient = rows_of(axis, [&](double x) {
    return std::pow(10.0, -decades * std::min(1.0, 1.6 * x)) * std::exp(0.2 * random.normal());
  });
  return draft_of(random, run).finish(sick("vanishing-gradients", kVanishing, {}, kFlat));
}

/// The norm grows by orders of magnitude over the run, the loss begins to suffer.
SimulatedRun runs_away(Random& random) {
  const Axis axis = any_axis(random, 40, 1500);
  const double decades = random.uniform(2.5, 6.0);
  const double onset = random.uniform(0.2, 0.6);
  const Descent descent = any_descent(random);
  const Levels train = rows_of(axis, [&](double x) {
    return descent(x) * (1.0 + (x > onset ? 1.5 * std::pow((x - onset) / (1.0 - onset), 2.0) : 0.0));
  });
  Ordinary run = with_norms(random, axis, train);
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    const double x = axis.progress(row);
    if (x > onset) run.gradient[row] *= std::pow(10.0, decades * (x - onset) / (1.0 - onset));
  }
  Truth truth = sick("exploding-gradients", kExploding, {}, kUnstable);
  const auto row = [&](double x) { return axis.steps[static_cast<std::size_t>(x * static_cast<double>(axis.rows()))]; };
  truth.begins = {row(onset * 0.7), row(std::min(0.95, onset + 0.45))};
  return draft_of(random, run).finish(std::move(truth));
}

/// A recurrent network without clipping: bursts of norms hundreds of times the usual.
SimulatedRun bursts(Random& random) {
  const Axis axis = step_axis(random, 150, 2000);
  Levels train = along(any_descent(random), axis);
  Ordinary run = with_norms(random, axis, train);
  const double often = random.uniform(0.03, 0.1);
  for (std::size_t row = 5; row < axis.rows(); ++row) {
    if (!random.chance(often)) continue;
    run.gradient[row] *= random.log_uniform(200.0, 1e5);
    if (row + 1 < axis.rows()) run.train[row + 1] *= random.uniform(1.1, 1.8);
  }
  run.smoothing = 0;
  run.running_mean = false;
  return draft_of(random, run).finish(sick("exploding-gradients", kExploding, {}, kUnstable));
}

/// Large from the first step: the signal grows from layer to layer.
SimulatedRun explodes_from_start(Random& random) {
  const Axis axis = any_axis(random, 30, 1000);
  const Levels train = rows_of(axis, [](double x) { return 1.0 + 0.1 * std::exp(-5.0 * x); });
  Ordinary run = with_norms(random, axis, train);
  run.noise.relative = 0.08;
  const double unit = random.log_uniform(1e4, 1e8);
  run.gradient = rows_of(axis, [&](double) { return unit * std::exp(0.9 * random.normal()); });
  return draft_of(random, run)
      .finish(sick("exploding-gradients", {"exploding-signal", "bad-initialization", "no-clipping", "lr-too-high"}, {},
                   both(kUnstable, kFlat)));
}

SimulatedRun norm_swings(Random& random) {
  const Axis axis = step_axis(random, 100, 1500);
  const Levels train = along(any_descent(random), axis);
  Ordinary run = with_norms(random, axis, train);
  const double apart = random.uniform(1.2, 2.2);  // natural logarithms from low to high, each way
  double side = 1;
  for (double& norm : run.gradient) {
    norm = std::exp(side * apart + 0.15 * random.normal());
    if (random.chance(0.8)) side = -side;
  }
  return draft_of(random, run)
      .finish(sick("gradient-norm-oscillating", {"lr-too-high", "no-clipping", "bad-batches", "batch-too-small"},
                   {"exploding-gradients"}, kUnstable));
}

SimulatedRun always_clipped(Random& random) {
  const Axis axis = step_axis(random, 100, 1500);
  Ordinary run = with_norms(random, axis, along(any_descent(random), axis));
  const double threshold = random.pick({0.1, 0.5, 1.0});
  const double median = threshold * random.uniform(5.0, 40.0);
  const bool after = random.chance(0.4);  // some loggers write the norm after clipping
  run.gradient = rows_of(axis, [&](double) {
    const double norm = median * std::exp(0.3 * random.normal());
    return after ? std::min(norm, threshold) : norm;
  });
  Draft draft = draft_of(random, run);
  if (!after) draft.add(random.pick<const char*>({"max_grad_norm", "clip_threshold"}), Levels(axis.rows(), threshold));
  return draft.finish(sick("clipping-always", {"clip-threshold-too-small", "lr-too-high"}, {},
                           {"exploding-gradients", "loss-plateau", "loss-too-slow"}));
}

SimulatedRun never_clipped(Random& random) {
  const Axis axis = step_axis(random, 100, 1500);
  Ordinary run = with_norms(random, axis, along(any_descent(random), axis));
  const double threshold = random.pick({1.0, 5.0});
  run.gradient = rows_of(axis, [&](double) { return threshold * 0.02 * std::exp(0.2 * random.normal()); });
  Draft draft = draft_of(random, run);
  draft.add(random.pick<const char*>({"max_grad_norm", "clip_threshold"}), Levels(axis.rows(), threshold));
  return draft.finish(sick("clipping-never", {}, {}, {"loss-plateau"}));
}

SimulatedRun scale_collapses(Random& random) {
  const Axis axis = step_axis(random, 200, 2000);
  Ordinary run = with_norms(random, axis, along(any_descent(random), axis));
  const double start = random.pick({65536.0, 32768.0, 4294967296.0});
  const double onset = random.uniform(0.1, 0.5);
  Levels scale(axis.rows(), start);
  for (std::size_t row = 1; row < axis.rows(); ++row) {
    const bool halve = axis.progress(row) > onset && random.chance(0.2);
    scale[row] = std::max(1.0, halve ? scale[row - 1] / 2.0 : scale[row - 1]);
    if (halve && random.chance(0.5)) run.gradient[row] = std::numeric_limits<double>::infinity();
  }
  Draft draft = draft_of(random, run);
  draft.add(Quantity::loss_scale, scale);
  return draft.finish(
      sick("loss-scale-collapsing", {"fp16-overflow"}, {}, both(kUnstable, {"loss-plateau", "gradient-nonfinite"})));
}

/// Starts many times above the loss of a uniform guess and falls to it within a few rows.
SimulatedRun starts_too_high(Random& random) {
  const Axis axis = step_axis(random, 100, 1500);
  const double factor = random.log_uniform(5.0, 40.0);
  const Descent descent = any_descent(random);
  const double fast = static_cast<double>(axis.rows()) / random.uniform(2.0, 5.0);
  const double first = axis.progress(0);
  const Levels train =
      rows_of(axis, [&](double x) { return descent(x) + (factor - 1.0) * std::exp(-fast * (x - first)); });
  LossScale scale = classifier_scale(random);
  while (scale.classes > 20) scale = classifier_scale(random);  // with many the first accuracies are often 0
  Ordinary run = ordinary(random, axis, scale, train, {});
  run.noise.relative = std::min(run.noise.relative, 0.05);
  run.smoothing = 0;
  run.running_mean = false;
  run.best_accuracy = random.uniform(0.7, 0.95);
  run.floor = descent.floor;
  return draft_of(random, run)
      .finish(sick("initial-loss-wrong", {"bad-initialization", "data-not-normalized"}, {},
                   {"loss-spikes", "loss-plateau", "loss-stuck-after-drop", "exploding-gradients"}));
}

}  // namespace

std::vector<Family> sick_gradients() {
  return {{"sick-vanished-gradients", false, vanished},
          {"sick-vanishing-gradients", false, vanishes},
          {"sick-gradients-run-away", false, runs_away},
          {"sick-gradient-bursts", false, bursts},
          {"sick-gradients-large-from-start", false, explodes_from_start},
          {"sick-gradient-norm-swings", false, norm_swings},
          {"sick-always-clipped", false, always_clipped},
          {"sick-never-clipped", false, never_clipped},
          {"sick-loss-scale-collapses", false, scale_collapses},
          {"sick-starts-too-high", false, starts_too_high}};
}

}  // namespace osler::simulate
