// Healthy families that look ill to a quick eye: rewards, queues, second descents, short logs with early stopping.
#include <algorithm>
#include <cmath>

#include "simulate/family_lists.h"
#include "simulate/schedule.h"
#include "simulate/shapes.h"

namespace osler::simulate {
namespace {

/// Validation falls, rises for a while as the model begins to fit single examples, and falls below its first valley.
SimulatedRun double_descent(Random& random) {
  const Axis axis = epoch_axis(random, 60, 400);
  const double bump_at = random.uniform(0.2, 0.4);
  const double bump = random.uniform(0.03, 0.12);
  Descent descent = steady_descent(random);
  descent.start = 1.0;
  const Levels train = along(descent, axis);
  const Levels validation = rows_of(axis, [&](double x) {
    const double width = 0.1;
    return 0.15 + 0.85 * descent(x) + bump * std::exp(-std::pow((x - bump_at) / width, 2.0));
  });
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, validation);
  run.validation_noise = {Noise::Kind::gaussian, random.uniform(0.002, 0.01), 0, 0, 0};
  run.best_accuracy = 0;
  return draft_of(random, run).finish(healthy({"loss-plateau"}));
}

/// A contrastive loss: it climbs while the queue of negatives fills, then falls slowly.
SimulatedRun growing_queue(Random& random) {
  const Axis axis = any_axis(random, 60, 1500);
  const double fill = random.uniform(0.02, 0.1);
  const double start = random.uniform(0.4, 0.8);
  const double fall = random.uniform(0.15, 0.5);
  const Levels train = rows_of(axis, [&](double x) {
    const double grown = 1.0 - (1.0 - start) * std::exp(-3.0 * x / fill);
    return grown * (1.0 - fall * (1.0 - std::exp(-3.0 * x)));
  });
  Ordinary run = ordinary(random, axis, {0.0, random.uniform(6.0, 11.0), 0}, train, {});
  run.noise.relative = std::min(run.noise.relative, 0.02);
  if (random.chance(0.6)) {
    run.rates = times(schedule_factors(Schedule::cosine, axis, 0.02, random), any_peak_rate(random));
  }
  return draft_of(random, run).finish(healthy({"loss-plateau"}));
}

/// A reward of nothing or one, averaged over a few episodes: mostly zeros at first, and then the task is found.
SimulatedRun sparse_reward(Random& random) {
  const Axis axis = step_axis(random, 150, 2000);
  const double found = random.uniform(0.1, 0.5);
  const double best = random.uniform(0.5, 0.98);
  const std::int64_t episodes = random.integer(5, 50);
  Levels reward(axis.rows());
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    const double truth = 0.01 + (best - 0.01) * smooth_step(axis.progress(row), found, 0.3);
    reward[row] = static_cast<double>(random.binomial(episodes, truth)) / static_cast<double>(episodes);
  }
  Draft draft(random, axis);
  draft.add(random.pick<const char*>({"eval/mean_reward", "episode_reward", "rollout/ep_rew_mean"}), reward);
  return draft.finish(healthy({"loss-plateau"}));
}

/// Solved early: the reward sits at its ceiling and falls off it now and then for a moment.
SimulatedRun solved_reward(Random& random) {
  const Axis axis = step_axis(random, 100, 2000);
  const double ceiling = random.pick({1.0, 200.0, 500.0, 1000.0});
  const double reached = random.uniform(0.1, 0.5);
  Levels reward(axis.rows());
  for (double& value : reward) value = 0;
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    const double learned = std::min(1.0, axis.progress(row) / reached);
    const double dip = random.chance(0.03) ? random.uniform(0.2, 0.7) : 0.0;
    reward[row] = ceiling * std::min(1.0, learned + 0.04 * random.normal()) * (1.0 - dip);
  }
  Draft draft(random, axis);
  draft.add(random.pick<const char*>({"episode_reward_mean", "rollout/ep_rew_mean", "episode_reward"}), reward);
  return draft.finish(healthy({"loss-plateau"}));
}

/// Ten to thirty epochs, stopped by patience: the last few evaluations are no better, and hardly worse.
SimulatedRun short_patient(Random& random) {
  const Axis axis = epoch_axis(random, 10, 30);
  const double rows = static_cast<double>(axis.rows());
  const double patience = random.uniform(2.0, 4.0) / rows;
  const Descent descent = steady_descent(random);
  const Levels train = along(descent, axis);
  const double end = 1.0 - patience;
  const Levels validation =
      rows_of(axis, [&](double x) { return 0.1 + 0.9 * descent(std::min(x, end)) + 0.004 * std::max(0.0, x - end); });
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, validation);
  run.noise.relative = std::min(run.noise.relative, 0.02);
  run.validation_noise = {Noise::Kind::gaussian, random.uniform(0.002, 0.02), 0, 0, 0};
  return draft_of(random, run).finish(healthy({"loss-plateau"}));
}

/// A margin loss: most triplets are solved, so that batches differ by multiples of the mean.
SimulatedRun triplets(Random& random) {
  const Axis axis = step_axis(random, 100, 2500);
  Descent descent = any_descent(random);
  descent.floor = random.uniform(0.05, 0.2);
  Ordinary run = ordinary(random, axis, {0.0, random.uniform(0.2, 1.0), 0}, along(descent, axis), {});
  run.noise = {Noise::Kind::skewed, random.uniform(0.2, 0.5), 0.01, 0, 0};
  run.smoothing = 0;
  return draft_of(random, run).finish(healthy({"loss-plateau"}));
}

/// A critic without bounds: both losses wander on either side of zero.
SimulatedRun wasserstein(Random& random) {
  const Axis axis = step_axis(random, 100, 2000);
  const double depth = random.log_uniform(1.0, 50.0);
  const double fade = random.uniform(2.0, 6.0);
  Levels critic(axis.rows());
  Levels generator(axis.rows());
  double state = 0;
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    state = 0.97 * state + 0.25 * random.normal();
    const double x = axis.progress(row);
    critic[row] = -depth * (std::exp(-fade * x) + 0.1) * (1.0 + 0.1 * random.normal());
    generator[row] = depth * 0.5 * state + 0.05 * depth * random.normal();
  }
  Draft draft(random, axis);
  const bool long_names = random.chance(0.5);
  draft.add(long_names ? "critic_loss" : "loss_D", critic).add(long_names ? "generator_loss" : "loss_G", generator);
  return draft.finish(healthy({"loss-plateau"}));
}

/// Mixed-up or smoothed training targets: the training loss stays high above validation, and both are well.
SimulatedRun mixed_targets(Random& random) {
  const Axis axis = epoch_axis(random, 20, 200);
  Descent descent = any_descent(random);
  descent.floor = random.uniform(0.45, 0.65);
  const Levels train = along(descent, axis);
  const double gap = random.uniform(0.6, 0.9);
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, times(train, gap));
  run.noise.relative = std::min(run.noise.relative, 0.02);
  run.validation_noise = {Noise::Kind::gaussian, random.uniform(0.002, 0.01), 0, 0, 0};
  run.best_accuracy = 0;
  run.rates = times(schedule_factors(Schedule::cosine, axis, 0.03, random), any_peak_rate(random));
  return draft_of(random, run).finish(healthy({"loss-plateau", "validation-better-than-training"}));
}

/// A long warm-up: nothing happens while the rate is still small, and then the descent begins.
SimulatedRun long_warmup(Random& random) {
  const Axis axis = step_axis(random, 80, 1500);
  const double warm = random.uniform(0.1, 0.3);
  const double fall = random.uniform(0.3, 0.7);
  const Levels factors = rows_of(axis, [&](double x) { return std::min(1.0, x / warm); });
  const Levels train = rows_of(axis, [&](double x) {
    const double done = x < warm ? 0.5 * x * x / warm : x - 0.5 * warm;  // the rate added up so far
    return 1.0 - fall * (1.0 - std::exp(-5.0 * done));
  });
  Ordinary run = ordinary(random, axis, any_scale(random), train, {});
  run.noise.relative = std::min(run.noise.relative, 0.03);
  run.rates = times(factors, any_peak_rate(random));
  return draft_of(random, run).finish(healthy({"loss-plateau"}));
}

}  // namespace

std::vector<Family> healthy_wild() {
  return {{"healthy-double-descent", true, double_descent}, {"healthy-growing-queue", true, growing_queue},
          {"healthy-sparse-reward", true, sparse_reward},   {"healthy-solved-reward", true, solved_reward},
          {"healthy-short-patient", true, short_patient},   {"healthy-triplets", true, triplets},
          {"healthy-wasserstein", true, wasserstein},       {"healthy-mixed-targets", true, mixed_targets},
          {"healthy-long-warmup", true, long_warmup}};
}

}  // namespace osler::simulate
