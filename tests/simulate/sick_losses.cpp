// Families whose loss diverges, stays where it is, or hardly moves.
#include <algorithm>
#include <cmath>

#include "simulate/family_lists.h"
#include "simulate/quadratic.h"
#include "simulate/schedule.h"
#include "simulate/shapes.h"

namespace osler::simulate {
namespace {

Truth begins_between(Truth truth, const Axis& axis, double from, double to) {
  const auto row = [&](double x) {
    return axis.steps[static_cast<std::size_t>(std::clamp(x, 0.0, 1.0) * static_cast<double>(axis.rows() - 1))];
  };
  truth.begins = {row(from), row(to)};
  return truth;
}

/// Falls, turns, and climbs to many times its best, where it stays.
SimulatedRun diverges(Random& random) {
  const Axis axis = any_axis(random, 30, 2000);
  const double turn = random.uniform(0.2, 0.7);
  const double height = random.log_uniform(1.5, 200.0);
  const double width = random.uniform(0.05, 0.25);
  const Descent descent = any_descent(random);
  const Levels train = rows_of(axis, [&](double x) {
    return descent(x) + height * (x < turn ? 0.0 : 1.0 - std::exp(-(x - turn) / width * 3.0));
  });
  Ordinary run = ordinary(random, axis, any_scale(random), train, random.chance(0.5) ? train : Levels());
  run.floor = descent.floor;
  run.rates = Levels(axis.rows(), random.pick({0.01, 0.1, 0.5, 1.0}));
  run.gradient = times(gradient_norms(train, random), 3.0);
  return draft_of(random, run)
      .finish(begins_between(sick("loss-diverging", {"lr-too-high", "exploding-signal", "no-clipping"}, {}, kUnstable),
                             axis, turn - 0.1, turn + 0.15));
}

/// The noisy quadratic model beyond its limit: the rate warms up past stability.
SimulatedRun beyond_stability(Random& random) {
  const Axis axis = step_axis(random, 100, 1500);
  const double peak = random.uniform(2.2, 3.0);
  const Levels rates = rows_of(axis, [&](double x) { return peak * std::min(1.0, 0.2 + 1.6 * x); });
  Quadratic task;
  task.steps_per_row = 1;
  task.decades = 2.5;
  task.floor = random.uniform(0.05, 0.3);
  Levels train = train_quadratic(task, rates, random).train;
  const double cap = random.log_uniform(10.0, 1e5);  // activations saturate, so real losses stop somewhere
  for (double& value : train) value = std::isfinite(value) ? std::min(value, cap) : cap;
  Ordinary run = ordinary(random, axis, any_scale(random), train, {});
  run.noise.relative = std::min(run.noise.relative, 0.1);
  run.smoothing = 0;
  run.running_mean = false;
  run.best_accuracy = 0;
  run.rates = times(rates, any_peak_rate(random));
  return draft_of(random, run).finish(sick("loss-diverging", {"lr-too-high"}, {}, kUnstable));
}

/// A spike late in a long training that never comes down again.
SimulatedRun never_recovers(Random& random) {
  const Axis axis = step_axis(random, 200, 5000);
  const double turn = random.uniform(0.4, 0.85);
  Descent descent = any_descent(random);
  descent.floor = random.uniform(0.2, 0.35);
  const double level = random.uniform(0.6, 0.95);
  const Levels train = rows_of(axis, [&](double x) {
    if (x < turn) return descent(x);
    return level + 0.3 * std::exp(-(x - turn) * 60.0);
  });
  Ordinary run = ordinary(random, axis, language_scale(random), train, {});
  run.noise = {Noise::Kind::gaussian, random.uniform(0.005, 0.03), 0, 0, 0};
  run.best_accuracy = 0;
  run.smoothing = 0;
  run.running_mean = false;
  run.gradient = gradient_norms(train, random);
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    if (axis.progress(row) > turn) run.gradient[row] *= random.log_uniform(2.0, 30.0);
  }
  run.rates = times(schedule_factors(Schedule::cosine, axis, 0.02, random), random.pick({3e-4, 6e-4, 1e-3}));
  return draft_of(random, run)
      .finish(begins_between(
          sick("loss-diverging", {"lr-too-high", "exploding-signal", "no-clipping"}, {}, both(kUnstable, kFlat)), axis,
          turn - 0.05, turn + 0.1));
}

/// Creeps up again for a long time after its best, on training data itself.
SimulatedRun creeps_up(Random& random) {
  const Axis axis = any_axis(random, 40, 1500);
  const double turn = random.uniform(0.3, 0.55);
  const double low = random.uniform(0.2, 0.5);
  const double rise = random.uniform(0.3, 0.8);
  const Levels train = rows_of(axis, [&](double x) {
    return x < turn ? low + (1.0 - low) * std::exp(-8.0 * x / turn) : low + rise * (x - turn) / (1.0 - turn);
  });
  Ordinary run = ordinary(random, axis, any_scale(random), train, random.chance(0.5) ? train : Levels());
  run.noise.relative = std::min(run.noise.relative, 0.06);
  run.floor = low;
  run.rates = rows_of(axis, [&](double x) { return 1e-3 * std::pow(30.0, x); });  // a rate that grows
  return draft_of(random, run).finish(sick("loss-diverging", {"lr-too-high"}, {}, kUnstable));
}

/// A flat loss at chance, with what companions tell of the reason.
Ordinary flat_at_chance(Random& random, const Axis& axis) {
  const double drift = random.uniform(-0.004, 0.004);
  const Levels train = rows_of(axis, [&](double x) { return 1.0 + drift * x + 0.01 * std::exp(-40.0 * x); });
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, train);
  run.noise.relative = axis.per_epoch() ? random.log_uniform(0.0005, 0.006) : random.log_uniform(0.002, 0.08);
  run.noise.absolute = 0;
  run.noise.periodic = 0;
  run.validation_noise = run.noise;
  run.validation_noise.relative *= 0.3;
  run.best_accuracy = 0;
  run.running_mean = false;
  run.gradient.clear();
  run.floor = 0;
  return run;
}

Draft with_chance_accuracy(Random& random, const Ordinary& run) {
  Draft draft = draft_of(random, run);
  const AccuracyModel model{run.scale.classes, 1.0, 1.0, random.log_integer(200, 20000)};
  const Levels chance(run.axis.rows(), 1.0);
  draft.add(Quantity::train_accuracy, accuracies(chance, 0.0, model, random));
  draft.add(Quantity::validation_accuracy, accuracies(chance, 0.0, model, random));
  return draft;
}

const std::vector<std::string> kStuckHits = {"loss-plateau", "loss-too-slow"};

SimulatedRun stuck_rate_too_low(Random& random) {
  const Axis axis = any_axis(random, 30, 1000);
  Ordinary run = flat_at_chance(random, axis);
  run.rates = Levels(axis.rows(), random.log_uniform(1e-10, 3e-8));
  if (random.chance(0.6)) run.gradient = times(gradient_norms(run.train, random), 1.0);
  return with_chance_accuracy(random, run)
      .finish(sick("loss-stuck-from-start", {"lr-too-low"}, kStuckHits,
                   {"underfitting", "validation-frozen", "learning-rate-zero", "learning-rate-spent"}));
}

SimulatedRun stuck_no_gradient(Random& random) {
  const Axis axis = any_axis(random, 30, 1000);
  Ordinary run = flat_at_chance(random, axis);
  run.rates = Levels(axis.rows(), any_peak_rate(random));
  run.gradient = times(gradient_norms(run.train, random), random.log_uniform(1e-10, 1e-9));
  return with_chance_accuracy(random, run)
      .finish(sick("loss-stuck-from-start", {"vanishing-signal", "bad-initialization", "dead-units", "saturation"},
                   both(kStuckHits, {"vanishing-gradients"}), {"underfitting", "validation-frozen"}));
}

/// The loss does not change by a single digit: nothing is being trained.
SimulatedRun stuck_exactly(Random& random) {
  const Axis axis = epoch_axis(random, 15, 200);
  Ordinary run = flat_at_chance(random, axis);
  run.train.assign(axis.rows(), random.uniform(0.9, 1.3));
  run.validation = run.train;
  run.noise.relative = 0;
  run.validation_noise.relative = 0;
  run.rates = Levels(axis.rows(), any_peak_rate(random));
  if (random.chance(0.5)) run.gradient.assign(axis.rows(), 0.0);
  return draft_of(random, run)
      .finish(sick("loss-stuck-from-start", {"disconnected-graph", "frozen-parameters", "dead-units"},
                   both(kStuckHits, {"vanishing-gradients"}), {"underfitting", "validation-frozen", "dead-layer"}));
}

/// Gradients flow, the rate is sensible, and nothing is learned: the labels say nothing about the inputs.
SimulatedRun stuck_wrong_labels(Random& random) {
  const Axis axis = any_axis(random, 30, 1500);
  Ordinary run = flat_at_chance(random, axis);
  run.rates = times(schedule_factors(random.pick({Schedule::constant, Schedule::cosine}), axis, 0, random),
                    random.pick({1e-4, 3e-4, 1e-3, 1e-2}));
  run.gradient = gradient_norms(run.train, random);
  return with_chance_accuracy(random, run)
      .finish(sick("loss-stuck-from-start",
                   {"wrong-labels", "bad-initialization", "data-not-normalized", "wrong-loss-function",
                    "disconnected-graph", "lr-too-high", "saddle-point"},
                   kStuckHits, {"underfitting", "validation-frozen"}));
}

/// A regression or another loss without a known chance level that never moves.
SimulatedRun stuck_anywhere(Random& random) {
  const Axis axis = any_axis(random, 30, 1500);
  const Levels train(axis.rows(), 1.0);
  Ordinary run = ordinary(random, axis, random.chance(0.7) ? regression_scale(random) : negative_scale(random), train,
                          random.chance(0.5) ? train : Levels());
  run.noise = any_noise(random, axis);
  run.validation_noise = run.noise;
  run.gradient.clear();
  return draft_of(random, run)
      .finish(sick("loss-stuck-from-start", {}, both(kStuckHits, {"underfitting"}), {"validation-frozen"}));
}

/// Reinforcement learning that never finds a reward.
SimulatedRun stuck_reward(Random& random) {
  const Axis axis = step_axis(random, 100, 3000);
  const double level = random.pick({-989.0, -200.0, 0.0, 0.5, 10.0});
  const double spread = std::abs(level) * random.log_uniform(0.003, 0.05);
  const std::int64_t episodes = random.integer(10, 40);
  const double seldom = random.uniform(0.005, 0.03);  // a reward that is nothing but for a rare stroke of luck
  Levels reward(axis.rows());
  Levels loss(axis.rows());
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    const auto luck = static_cast<double>(random.binomial(episodes, seldom));
    reward[row] = level == 0 ? luck / static_cast<double>(episodes) : level + spread * random.normal();
    loss[row] = 0.02 * std::exp(0.5 * random.normal());
  }
  Draft draft(random, axis);
  draft.add(random.pick<const char*>({"rollout/ep_rew_mean", "episode_reward", "mean 100 episode reward"}), reward);
  if (random.chance(0.5)) draft.add("train/value_loss", loss);
  return draft.finish(sick("reward-stuck-from-start", {}, {}, {"value-function-not-learning"}));
}

/// A policy that had learned and loses it for good.
SimulatedRun collapsed_reward(Random& random) {
  const Axis axis = step_axis(random, 80, 2000);
  const double span = random.log_uniform(1.0, 1000.0);
  const double base = random.chance(0.5) ? -span * random.uniform(0.2, 2.0) : 0.0;
  const double peak = random.uniform(0.35, 0.6);
  const double kept = random.uniform(-0.1, 0.2);
  Levels reward(axis.rows());
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    const double x = axis.progress(row);
    const double learned = smooth_step(x, 0.2, 0.2);
    const double lost = smooth_step(x, peak + 0.08, 0.08);
    reward[row] = base + span * (learned * (1.0 - lost) + kept * lost + 0.05 * random.normal());
  }
  Draft draft(random, axis);
  draft.add(random.pick<const char*>({"rollout/ep_rew_mean", "episode_reward_mean", "AverageEpRet"}), reward);
  return draft.finish(sick("reward-collapse", {}, {"reward-worse-than-start"}, {}));
}

/// The rate decays before the work is done: a fast drop, and then nothing moves any more.
SimulatedRun decayed_too_fast(Random& random) {
  const Axis axis = any_axis(random, 60, 2000);
  const double folds = random.uniform(60.0, 150.0);
  const Levels factors = rows_of(axis, [&](double x) { return std::max(1e-6, std::exp(-folds * x)); });
  Quadratic task;
  task.steps_per_row = 2000.0 / static_cast<double>(axis.rows());
  task.decades = 3.5;
  task.exponent = random.uniform(0.05, 0.15);
  task.floor = 0.05;
  task.gradient_noise = 0.02;
  const QuadraticCurves curves = train_quadratic(task, times(factors, 0.8), random);
  Ordinary run = ordinary(random, axis, any_scale(random), curves.train, random.chance(0.6) ? curves.train : Levels());
  run.noise.relative = std::min(run.noise.relative, 0.03);
  run.rates = times(factors, any_peak_rate(random));
  run.floor = 0.05;
  return draft_of(random, run)
      .finish(sick("loss-stuck-after-drop", {"lr-decayed-too-fast"}, {"learning-rate-spent", "loss-plateau"}, kFlat));
}

/// Learns the easiest thing there is (the class frequencies), then stays there.
SimulatedRun stuck_after_drop(Random& random) {
  const Axis axis = any_axis(random, 60, 2000);
  const double level = random.uniform(0.6, 0.9);
  const double fast = random.uniform(30.0, 100.0);
  const Levels train = rows_of(axis, [&](double x) { return level + (1.0 - level) * std::exp(-fast * x); });
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, random.chance(0.6) ? train : Levels());
  run.noise.relative = std::min(run.noise.relative, 0.2 * (1.0 - level));
  run.best_accuracy = 0;
  run.rates = Levels(axis.rows(), any_peak_rate(random));
  return draft_of(random, run).finish(sick("loss-stuck-after-drop", {}, {"loss-plateau", "underfitting"}, kFlat));
}

/// Ends in a long plateau well above zero, with nothing in the log that explains it.
SimulatedRun plateau(Random& random) {
  const Axis axis = any_axis(random, 60, 2000);
  const double level = random.uniform(0.35, 0.7);
  const double reach = random.uniform(0.15, 0.35);
  const Levels train = rows_of(axis, [&](double x) { return level + (1.0 - level) * std::exp(-4.0 * x / reach); });
  Ordinary run = ordinary(random, axis, any_scale(random), train, random.chance(0.6) ? train : Levels());
  run.noise.relative = std::min(run.noise.relative, 0.05);
  run.best_accuracy = 0;
  return draft_of(random, run)
      .finish(sick("loss-plateau", {}, {"loss-stuck-after-drop", "underfitting", "learning-rate-spent"}, kFlat));
}

/// Falls in a straight, steady, tiny slope.
SimulatedRun too_slow(Random& random) {
  const Axis axis = any_axis(random, 100, 3000);
  const double drop = random.uniform(0.01, 0.06);
  const Levels train = rows_of(axis, [&](double x) { return 1.0 - drop * x; });
  // Below zero nobody could say how far there is to go.
  Ordinary run = ordinary(random, axis, positive_scale(random), train, random.chance(0.5) ? train : Levels());
  const double n = static_cast<double>(axis.rows());
  run.noise = {Noise::Kind::gaussian, std::min(drop * 0.5, drop * std::sqrt(n) / 60.0), 0, 0, 0};
  run.validation_noise = run.noise;
  run.best_accuracy = 0;
  run.running_mean = false;
  run.rates = Levels(axis.rows(), random.log_uniform(1e-8, 3e-6));
  return draft_of(random, run)
      .finish(sick("loss-too-slow", {"lr-too-low"}, {"loss-stuck-from-start", "loss-plateau"}, kFlat));
}

/// Every loss is exactly zero: no target ever reached it.
SimulatedRun exactly_zero(Random& random) {
  const Axis axis = any_axis(random, 15, 500);
  Draft draft(random, axis);
  draft.add(Quantity::train_loss, Levels(axis.rows(), 0.0));
  if (random.chance(0.6)) draft.add(Quantity::learning_rate, Levels(axis.rows(), any_peak_rate(random)));
  if (random.chance(0.6)) draft.add(Quantity::gradient_norm, Levels(axis.rows(), 0.0));
  return draft.finish(sick("loss-exactly-zero", {"wrong-labels", "wrong-loss-function", "disconnected-graph"}, {},
                           both(kFlat, {"vanishing-gradients", "validation-frozen"})));
}

}  // namespace

std::vector<Family> sick_losses() {
  return {{"sick-diverges", false, diverges},
          {"sick-beyond-stability", false, beyond_stability},
          {"sick-never-recovers", false, never_recovers},
          {"sick-creeps-up", false, creeps_up},
          {"sick-stuck-rate-too-low", false, stuck_rate_too_low},
          {"sick-stuck-no-gradient", false, stuck_no_gradient},
          {"sick-stuck-exactly", false, stuck_exactly},
          {"sick-stuck-wrong-labels", false, stuck_wrong_labels},
          {"sick-stuck-anywhere", false, stuck_anywhere},
          {"sick-stuck-reward", false, stuck_reward},
          {"sick-collapsed-reward", false, collapsed_reward},
          {"sick-decayed-too-fast", false, decayed_too_fast},
          {"sick-stuck-after-drop", false, stuck_after_drop},
          {"sick-plateau", false, plateau},
          {"sick-too-slow", false, too_slow},
          {"sick-exactly-zero", false, exactly_zero}};
}

}  // namespace osler::simulate
