// Healthy families from formulas: what a sound training curve may look like.
#include <algorithm>
#include <cmath>

#include "simulate/family_lists.h"
#include "simulate/schedule.h"
#include "simulate/shapes.h"

namespace osler::simulate {
namespace {

/// What may be said of any run that has reached its floor.
const std::vector<std::string> kNeutral = {"loss-plateau"};

SimulatedRun plain_descent(Random& random, const Axis& axis, const LossScale& scale, const Descent& descent) {
  Levels train = along(descent, axis);
  Levels validation = random.chance(0.6) ? healthy_validation(random, train) : Levels();
  Ordinary run = ordinary(random, axis, scale, std::move(train), std::move(validation));
  run.floor = descent.floor;
  if (random.chance(0.5)) {
    const double warmup = random.pick({0.0, 0.0, 0.02, 0.05});
    const Schedule schedule = random.pick({Schedule::constant, Schedule::cosine, Schedule::linear});
    run.rates = times(schedule_factors(schedule, axis, warmup, random), any_peak_rate(random));
  }
  return draft_of(random, run).finish(healthy(kNeutral));
}

SimulatedRun power_law(Random& random) {
  Descent descent = any_descent(random);
  descent.exponential = 0;
  return plain_descent(random, any_axis(random, 20, 3000), any_scale(random), descent);
}

SimulatedRun exponential(Random& random) {
  Descent descent = any_descent(random);
  descent.exponential = 1;
  return plain_descent(random, any_axis(random, 20, 3000), any_scale(random), descent);
}

SimulatedRun mixed_descent(Random& random) {
  Descent descent = any_descent(random);
  descent.exponential = random.uniform(0.2, 0.8);
  return plain_descent(random, any_axis(random, 20, 3000), any_scale(random), descent);
}

SimulatedRun large_loss(Random& random) {
  return plain_descent(random, any_axis(random, 20, 1000), {0.0, random.log_uniform(1e3, 1e6), 0}, any_descent(random));
}

SimulatedRun tiny_loss(Random& random) {
  return plain_descent(random, any_axis(random, 20, 1000), {0.0, random.log_uniform(1e-7, 1e-3), 0},
                       any_descent(random));
}

SimulatedRun negative_loss(Random& random) {
  return plain_descent(random, any_axis(random, 20, 1000), negative_scale(random), any_descent(random));
}

/// Crosses zero on its way down; a logarithm of the loss does not exist.
SimulatedRun zero_crossing(Random& random) {
  Descent descent = any_descent(random);
  descent.floor = 0.1;
  const double unit = random.log_uniform(0.01, 1e4);
  return plain_descent(random, any_axis(random, 20, 1000), {-unit * random.uniform(0.15, 0.6), unit, 0}, descent);
}

/// Over many decades of loss, as noise-free regression does.
SimulatedRun many_decades(Random& random) {
  const Axis axis = any_axis(random, 30, 2000);
  const double decades = random.uniform(2.0, 6.0);
  Levels train(axis.rows());
  for (std::size_t row = 0; row < train.size(); ++row) {
    train[row] = std::pow(10.0, -decades * axis.progress(row));
  }
  Ordinary run = ordinary(random, axis, regression_scale(random), train, {});
  run.noise.absolute = 0;
  if (random.chance(0.5)) run.validation = times(train, random.uniform(1.0, 1.5));
  run.validation_noise.absolute = 0;
  return draft_of(random, run).finish(healthy(kNeutral));
}

/// A log of ten to thirty rows, stopped or still running: nothing wrong yet.
SimulatedRun short_unfinished(Random& random) {
  Descent descent = any_descent(random);
  descent.stretch = random.log_uniform(2.0, 20.0);
  descent.rate = random.uniform(0.7, 3.0);
  const Axis axis = random.chance(0.7) ? epoch_axis(random, 8, 30) : step_axis(random, 10, 40);
  return plain_descent(random, axis, any_scale(random), descent);
}

SimulatedRun long_log(Random& random) {
  const Axis axis = step_axis(random, 50'000, 1'000'000);
  return plain_descent(random, axis, any_scale(random), any_descent(random));
}

/// Batch size one: the noise is as large as the loss, the descent is steady all the same.
SimulatedRun single_samples(Random& random) {
  const Axis axis = step_axis(random, 1000, 20'000);
  Descent descent = any_descent(random);
  descent.floor = random.uniform(0.02, 0.3);
  Ordinary run = ordinary(random, axis, random.chance(0.5) ? classifier_scale(random) : regression_scale(random),
                          along(descent, axis), {});
  run.noise = {random.pick({Noise::Kind::skewed, Noise::Kind::gaussian, Noise::Kind::heavy}), random.uniform(0.3, 0.9),
               0, 0, 0};
  if (random.chance(0.5)) run.validation = healthy_validation(random, run.train);
  return draft_of(random, run).finish(healthy(kNeutral));
}

/// Glued to the loss of a constant guess for a while, then it breaks away and descends.
SimulatedRun late_escape(Random& random) {
  const Axis axis = any_axis(random, 60, 2000);
  const double escape = random.uniform(0.1, 0.4);
  const double width = random.uniform(0.05, 0.2);
  const double floor = random.uniform(0.05, 0.5);
  Levels train(axis.rows());
  for (std::size_t row = 0; row < train.size(); ++row) {
    const double x = axis.progress(row);
    const double tail = std::exp(-3.0 * std::max(0.0, x - escape));
    train[row] = 1.0 - (1.0 - floor) * smooth_step(x, escape, width) * (1.0 - 0.4 * tail);
  }
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, healthy_validation(random, train));
  run.floor = floor;
  run.noise.relative = std::min(run.noise.relative, 0.03);
  return draft_of(random, run).finish(healthy(kNeutral));
}

/// Grokking: training is learned long before validation falls.
SimulatedRun grokking(Random& random) {
  const Axis axis = any_axis(random, 100, 2000);
  const double delay = random.uniform(0.4, 0.7);
  Levels train(axis.rows());
  Levels validation(axis.rows());
  for (std::size_t row = 0; row < train.size(); ++row) {
    const double x = axis.progress(row);
    train[row] = 0.02 + 0.98 * std::exp(-12.0 * x);
    validation[row] = 1.0 - 0.95 * smooth_step(x, delay, 0.15);
  }
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, validation);
  run.best_accuracy = 0.99;
  run.floor = 0.02;
  return draft_of(random, run).finish(healthy({"loss-plateau", "overfitting"}));
}

/// The task becomes harder at known points; each time the loss jumps and falls again.
SimulatedRun curriculum(Random& random) {
  const Axis axis = step_axis(random, 200, 3000);
  const std::int64_t stages = random.integer(2, 4);
  const double jump = random.uniform(0.1, 0.35);
  Descent descent = any_descent(random);
  Levels train(axis.rows());
  Levels lengths(axis.rows());
  for (std::size_t row = 0; row < train.size(); ++row) {
    const double x = axis.progress(row);
    const double turn = std::min(x, 0.9999) * static_cast<double>(stages);
    const double within = turn - std::floor(turn);
    train[row] = descent(x) * (turn < 1.0 ? 1.0 : 1.0 + jump * std::exp(-6.0 * within));
    lengths[row] = 64.0 * std::pow(2.0, std::floor(turn));
  }
  Ordinary run = ordinary(random, axis, language_scale(random), train, {});
  run.noise.relative = std::min(run.noise.relative, 0.03);
  Draft draft = draft_of(random, run);
  draft.add("seqlen", lengths);
  return draft.finish(healthy({"loss-plateau", "loss-spikes"}));
}

/// A warm-up bump: the loss rises while the rate rises, then falls for good.
SimulatedRun warmup_bump(Random& random) {
  const Axis axis = any_axis(random, 80, 3000);
  const double warmup = random.uniform(0.02, 0.1);
  const double height = random.uniform(0.05, 0.5);
  const Descent descent = any_descent(random);
  Levels train = along(descent, axis);
  for (std::size_t row = 0; row < train.size(); ++row) {
    const double z = (axis.progress(row) - warmup) / (0.5 * warmup);
    train[row] += height * std::exp(-z * z);
  }
  Ordinary run = ordinary(random, axis, any_scale(random), train,
                          random.chance(0.5) ? healthy_validation(random, train) : Levels());
  run.rates = times(schedule_factors(Schedule::cosine, axis, warmup, random), any_peak_rate(random));
  return draft_of(random, run).finish(healthy({"loss-plateau", "loss-spikes"}));
}

/// Fine-tuning: starts close to its floor, gains a little, and the gain is real.
SimulatedRun fine_tuning(Random& random) {
  const Axis axis = any_axis(random, 30, 1000);
  Descent descent = any_descent(random);
  descent.start = random.uniform(0.2, 0.5);
  descent.floor = descent.start * random.uniform(0.6, 0.9);
  Levels train = along(descent, axis);
  Ordinary run = ordinary(random, axis, language_scale(random), train,
                          random.chance(0.6) ? healthy_validation(random, train) : Levels());
  run.best_accuracy = 0;
  run.rates = times(schedule_factors(random.pick({Schedule::linear, Schedule::cosine}), axis, 0.03, random),
                    random.pick({1e-5, 2e-5, 5e-5, 1e-4}));
  return draft_of(random, run).finish(healthy(kNeutral));
}

/// Converged early and left running at its floor, near zero loss.
SimulatedRun true_convergence(Random& random) {
  Descent descent = any_descent(random);
  descent.floor = random.log_uniform(0.002, 0.05);
  descent.exponential = 1;
  descent.rate = random.uniform(10.0, 30.0);
  const Axis axis = any_axis(random, 40, 2000);
  Levels train = along(descent, axis);
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, healthy_validation(random, train));
  run.best_accuracy = random.uniform(0.97, 1.0);
  run.floor = descent.floor;
  return draft_of(random, run).finish(healthy(kNeutral));
}

/// The continuation of a finished training: near its floor from its first row, at a step far from 0.
SimulatedRun converged_continuation(Random& random) {
  Axis axis = any_axis(random, 30, 500);
  const std::int64_t before = random.integer(5, 50) * (axis.steps.back() - axis.steps.front() + 1);
  for (std::int64_t& step : axis.steps) step += before;
  Descent descent = any_descent(random);
  descent.start = random.uniform(0.05, 0.2);
  descent.floor = descent.start * 0.9;
  Levels train = along(descent, axis);
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, {});
  run.best_accuracy = 0.98;
  run.floor = 0.01;
  return draft_of(random, run).finish(healthy({"loss-plateau", "loss-stuck-from-start", "loss-too-slow"}));
}

/// Stopped early, as it should be: validation has just stopped falling.
SimulatedRun early_stopped(Random& random) {
  const Axis axis = epoch_axis(random, 12, 60);
  Descent descent = any_descent(random);
  descent.exponential = 0.7;
  Levels train = along(descent, axis);
  Levels validation(axis.rows());
  const double gap = random.uniform(0.1, 0.4) * (train.front() - train.back());
  for (std::size_t row = 0; row < train.size(); ++row) {
    // The gap opens just as fast as training falls: validation levels out but does not rise.
    validation[row] = std::max(train[row] + gap * axis.progress(row), train.back() + gap);
  }
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, validation);
  run.validation_noise.relative = std::min(run.validation_noise.relative, 0.01);
  return draft_of(random, run).finish(healthy({"loss-plateau", "overfitting", "overconfidence"}));
}

/// Dropout: validation lies below training all along.
SimulatedRun dropout(Random& random) {
  const Axis axis = epoch_axis(random, 15, 200);
  const Descent descent = any_descent(random);
  Levels train = along(descent, axis);
  Levels validation = times(train, random.uniform(0.7, 0.95));
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, validation);
  return draft_of(random, run).finish(healthy({"loss-plateau", "validation-better-than-training"}));
}

/// A small validation set: every evaluation scatters, and there is no trend in the scatter.
SimulatedRun noisy_validation(Random& random) {
  const Axis axis = epoch_axis(random, 25, 200);
  const Descent descent = any_descent(random);
  Levels train = along(descent, axis);
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, healthy_validation(random, train));
  run.validation_noise = {Noise::Kind::gaussian, random.uniform(0.03, 0.12), 0.01, 0, 0};
  return draft_of(random, run).finish(healthy({"loss-plateau", "loss-oscillating"}));
}

/// Label smoothing or noisy targets: a high floor, reached in good order, with a good accuracy.
SimulatedRun high_floor(Random& random) {
  Descent descent = any_descent(random);
  descent.floor = random.uniform(0.45, 0.75);
  const Axis axis = any_axis(random, 40, 1500);
  Levels train = along(descent, axis);
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, healthy_validation(random, train));
  run.best_accuracy = random.uniform(0.8, 0.95);
  run.floor = descent.floor;
  return draft_of(random, run).finish(healthy({"loss-plateau", "loss-stuck-after-drop", "underfitting"}));
}

/// The floor is reached to the printed digit: accuracy 1.0 again and again is no frozen metric.
SimulatedRun saturated_metric(Random& random) {
  const Axis axis = epoch_axis(random, 20, 100);
  Descent descent = any_descent(random);
  descent.floor = 0.01;
  descent.exponential = 1;
  Levels train = along(descent, axis);
  Ordinary run = ordinary(random, axis, {0.0, std::log(10.0), 10}, train, healthy_validation(random, train));
  Draft draft = draft_of(random, run);
  Levels accuracy(axis.rows());
  for (std::size_t row = 0; row < accuracy.size(); ++row) {
    accuracy[row] = std::min(1.0, 0.5 + 2.0 * axis.progress(row) + 0.01 * std::abs(random.normal()));
  }
  draft.add(Quantity::validation_accuracy, accuracy);
  return draft.finish(healthy(kNeutral));
}

}  // namespace

std::vector<Family> healthy_curves() {
  return {{"healthy-power-law", true, power_law},
          {"healthy-exponential", true, exponential},
          {"healthy-mixed-descent", true, mixed_descent},
          {"healthy-large-loss", true, large_loss},
          {"healthy-tiny-loss", true, tiny_loss},
          {"healthy-negative-loss", true, negative_loss},
          {"healthy-zero-crossing", true, zero_crossing},
          {"healthy-many-decades", true, many_decades},
          {"healthy-short-unfinished", true, short_unfinished},
          {"healthy-long-log", true, long_log},
          {"healthy-single-samples", true, single_samples},
          {"healthy-late-escape", true, late_escape},
          {"healthy-grokking", true, grokking},
          {"healthy-curriculum", true, curriculum},
          {"healthy-warmup-bump", true, warmup_bump},
          {"healthy-fine-tuning", true, fine_tuning},
          {"healthy-true-convergence", true, true_convergence},
          {"healthy-converged-continuation", true, converged_continuation},
          {"healthy-early-stopped", true, early_stopped},
          {"healthy-dropout", true, dropout},
          {"healthy-noisy-validation", true, noisy_validation},
          {"healthy-high-floor", true, high_floor},
          {"healthy-saturated-metric", true, saturated_metric}};
}

}  // namespace osler::simulate
