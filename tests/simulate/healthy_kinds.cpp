// Healthy families of special trainings, whose losses do not fall the ordinary way.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "simulate/family_lists.h"
#include "simulate/schedule.h"
#include "simulate/shapes.h"

namespace osler::simulate {
namespace {

/// A slow random walk around a level: what a balanced game between two networks looks like.
Levels wandering(std::size_t rows, double level, double width, double memory, Random& random) {
  Levels values(rows);
  double state = random.normal();
  for (double& value : values) {
    state = memory * state + std::sqrt(1.0 - memory * memory) * random.normal();
    value = level + width * state;
  }
  return values;
}

SimulatedRun gan(Random& random) {
  const Axis axis = step_axis(random, 100, 3000);
  const double memory = random.uniform(0.5, 0.97);
  Levels generator = wandering(axis.rows(), random.uniform(0.8, 3.0), random.uniform(0.1, 0.4), memory, random);
  Levels critic = wandering(axis.rows(), random.uniform(0.3, 0.7), random.uniform(0.03, 0.1), memory, random);
  const double rise = random.uniform(0.0, 0.8);  // the generator's loss often creeps up as the critic learns
  for (std::size_t row = 0; row < axis.rows(); ++row) generator[row] += rise * axis.progress(row);
  Draft draft(random, axis);
  const bool letters = random.chance(0.5);
  draft.add(letters ? "G_loss" : "loss_G", scattered(generator, {Noise::Kind::skewed, 0.15, 0, 0, 0}, axis, random));
  draft.add(letters ? "D_loss" : "loss_D", scattered(critic, {Noise::Kind::skewed, 0.15, 0, 0, 0}, axis, random));
  return draft.finish(healthy({"loss-plateau"}));
}

/// Reinforcement learning: the reward rises, the losses are whatever they are.
SimulatedRun policy_gradient(Random& random) {
  const Axis axis = step_axis(random, 80, 2000);
  const double span = random.log_uniform(1.0, 1000.0);
  const double base = random.chance(0.5) ? -span * random.uniform(0.2, 2.0) : 0.0;
  const double middle = random.uniform(0.15, 0.5);
  Levels reward(axis.rows());
  Levels value_loss(axis.rows());
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    const double learned = smooth_step(axis.progress(row), middle, 0.35);
    reward[row] = base + span * (learned + 0.08 * random.normal());
    value_loss[row] = span * (0.05 + 0.6 * learned * (1.3 - learned)) * std::exp(0.3 * random.normal());
  }
  Draft draft(random, axis);
  draft.add(random.chance(0.5) ? "rollout/ep_rew_mean" : "episode_reward_mean", reward);
  draft.add("train/value_loss", value_loss);
  draft.add("train/policy_gradient_loss", wandering(axis.rows(), -0.005, 0.01, 0.2, random));
  Levels entropy(axis.rows());
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    entropy[row] = -1.4 + 0.9 * axis.progress(row) + 0.01 * random.normal();
  }
  draft.add("train/entropy_loss", entropy);
  return draft.finish(healthy({"loss-plateau"}));
}

/// Preference tuning starts at ln 2 by construction.
SimulatedRun preference_tuning(Random& random) {
  const Axis axis = step_axis(random, 40, 800);
  Levels loss(axis.rows());
  Levels margin(axis.rows());
  Levels accuracy(axis.rows());
  const double end = random.uniform(0.3, 0.6);
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    const double learned = 1.0 - std::exp(-4.0 * axis.progress(row));
    loss[row] = std::numbers::ln2 + (end - std::numbers::ln2) * learned;
    margin[row] = 1.5 * learned + 0.1 * random.normal();
    accuracy[row] = std::clamp(0.5 + 0.3 * learned + 0.05 * random.normal(), 0.0, 1.0);
  }
  loss[0] = std::numbers::ln2;
  Draft draft(random, axis);
  draft.add(Quantity::train_loss, scattered(loss, {Noise::Kind::gaussian, 0.05, 0, 0, 0}, axis, random));
  draft.add("rewards/margins", margin).add("rewards/accuracies", accuracy);
  draft.add(Quantity::learning_rate,
            times(schedule_factors(Schedule::linear, axis, 0.1, random), random.pick({5e-7, 5e-6})));
  return draft.finish(healthy({"loss-plateau"}));
}

/// Language-model pre-training with gradient norms, a warm-up and harmless small spikes.
SimulatedRun language_model(Random& random) {
  const Axis axis = step_axis(random, 300, 20'000);
  Descent descent;
  descent.start = 1.0;
  descent.floor = random.uniform(0.18, 0.3);
  descent.power = random.uniform(0.3, 0.6);
  descent.stretch = random.log_uniform(200.0, 20000.0);
  Levels train = along(descent, axis);
  Ordinary run = ordinary(random, axis, language_scale(random), train,
                          random.chance(0.7) ? healthy_validation(random, train) : Levels());
  run.noise = {Noise::Kind::gaussian, random.uniform(0.004, 0.03), 0, 0, 0};
  run.validation_noise = {Noise::Kind::gaussian, random.uniform(0.0005, 0.004), 0, 0, 0};
  run.best_accuracy = 0;
  run.running_mean = false;
  run.rates = times(schedule_factors(Schedule::cosine, axis, 0.02, random), random.pick({2e-4, 3e-4, 6e-4}));
  run.gradient = gradient_norms(train, random);
  run.gradient.front() *= random.uniform(2.0, 8.0);  // the first norms of a language model are large
  return draft_of(random, run).finish(healthy({"loss-plateau"}));
}

/// Diffusion and other denoisers: a fast drop in the first rows, then a noisy crawl that is all there is to see.
SimulatedRun denoising(Random& random) {
  const Axis axis = step_axis(random, 200, 5000);
  Levels train(axis.rows());
  const double floor = random.uniform(0.03, 0.15);
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    train[row] = floor * (1.0 + 0.6 * std::pow(1.0 + 50.0 * axis.progress(row), -0.5)) +
                 (1.0 - floor) * std::exp(-200.0 * axis.progress(row));
  }
  Ordinary run = ordinary(random, axis, {0.0, 1.0, 0}, train, {});
  run.noise = {Noise::Kind::skewed, random.uniform(0.03, 0.25), 0, 0, 0};
  run.running_mean = false;
  return draft_of(random, run).finish(healthy({"loss-plateau", "loss-stuck-after-drop"}));
}

/// Object detection: several losses that fall at their own pace, and a metric that rises.
SimulatedRun detection(Random& random) {
  const Axis axis = epoch_axis(random, 30, 300);
  Draft draft(random, axis);
  for (const char* part : {"box_loss", "cls_loss", "dfl_loss"}) {
    Descent descent = any_descent(random);
    descent.floor = random.uniform(0.3, 0.6);
    const Levels train = along(descent, axis);
    const LossScale scale{0.0, random.uniform(1.0, 4.0), 0};
    Levels level = train;
    for (double& value : level) value = scale(value);
    draft.add(std::string("train/") + part, scattered(level, {Noise::Kind::gaussian, 0.01, 0, 0, 0}, axis, random));
    Levels validation = healthy_validation(random, train);
    for (double& value : validation) value = scale(value);
    draft.add(std::string("val/") + part, scattered(validation, {Noise::Kind::gaussian, 0.02, 0, 0, 0}, axis, random),
              true);
  }
  Levels precision(axis.rows());
  const double best = random.uniform(0.3, 0.8);
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    precision[row] = std::max(0.0, best * (1.0 - std::exp(-5.0 * axis.progress(row))) + 0.01 * random.normal());
  }
  draft.add("metrics/mAP50(B)", precision, true);
  draft.add("lr/pg0", times(schedule_factors(Schedule::linear, axis, 0.03, random), 0.01));
  return draft.finish(healthy({"loss-plateau"}));
}

/// Speech recognition with CTC: down to the all-blank plateau, a pause, then the real descent.
SimulatedRun ctc(Random& random) {
  const Axis axis = any_axis(random, 80, 1500);
  const double pause = random.uniform(0.1, 0.3);
  Levels train(axis.rows());
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    const double x = axis.progress(row);
    train[row] = 0.7 * std::exp(-60.0 * x) + 0.3 -
                 0.27 * smooth_step(x, pause, 0.15) * (1.0 - 0.4 * std::exp(-4.0 * std::max(0.0, x - pause)));
  }
  Ordinary run = ordinary(random, axis, {0.0, random.uniform(5.0, 600.0), 0}, train, healthy_validation(random, train));
  run.noise.relative = std::min(run.noise.relative, 0.05);
  return draft_of(random, run).finish(healthy({"loss-plateau"}));
}

/// Mixed precision: the loss scale doubles on schedule and halves now and then; one skipped step has no norm.
SimulatedRun mixed_precision(Random& random) {
  const Axis axis = step_axis(random, 300, 3000);
  const Descent descent = any_descent(random);
  Ordinary run = ordinary(random, axis, language_scale(random), along(descent, axis), {});
  run.noise.relative = std::min(run.noise.relative, 0.03);
  run.best_accuracy = 0;
  run.gradient = gradient_norms(run.train, random);
  Levels scale(axis.rows());
  double now = 65536;
  const auto growth = random.integer(50, 150);
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    if (static_cast<std::int64_t>(row) % growth == growth - 1) now *= 2;
    if (now > 65536 && random.chance(0.02)) {
      now /= 2;
      if (random.chance(0.3)) run.gradient[row] = std::nan("");
    }
    scale[row] = now;
  }
  Draft draft = draft_of(random, run);
  draft.add(Quantity::loss_scale, scale);
  return draft.finish(healthy({"loss-plateau"}));
}

/// Resumed from a checkpoint: the steps go back a little and the later segment continues the curve.
SimulatedRun resumed(Random& random) {
  const Axis axis = step_axis(random, 100, 1500);
  Descent descent = any_descent(random);
  Ordinary run = ordinary(random, axis, any_scale(random), along(descent, axis), {});
  run.smoothing = 0;
  run.running_mean = false;
  SimulatedRun result = draft_of(random, run).finish(healthy({"loss-plateau"}));
  const std::size_t at = axis.rows() * 6 / 10;
  const std::size_t back = std::max<std::size_t>(5, axis.rows() / 20);
  for (Curve& curve : result.curves) {
    if (curve.samples.size() != axis.rows()) continue;
    const std::vector<Sample> again(curve.samples.begin() + static_cast<std::ptrdiff_t>(at - back),
                                    curve.samples.begin() + static_cast<std::ptrdiff_t>(at));
    curve.samples.insert(curve.samples.begin() + static_cast<std::ptrdiff_t>(at), again.begin(), again.end());
  }
  return result;
}

/// Segmentation with a Dice loss between 0 and 1 and an overlap metric.
SimulatedRun segmentation(Random& random) {
  const Axis axis = epoch_axis(random, 20, 200);
  Descent descent = any_descent(random);
  descent.start = random.uniform(0.6, 0.95);
  descent.floor = random.uniform(0.05, 0.3);
  Levels train = along(descent, axis);
  Levels validation = healthy_validation(random, train);
  Ordinary run = ordinary(random, axis, {0.0, 1.0, 0}, train, validation);
  Draft draft = draft_of(random, run);
  Levels overlap(axis.rows());
  for (std::size_t row = 0; row < axis.rows(); ++row) overlap[row] = 1.0 - validation[row] + 0.01 * random.normal();
  draft.add("val_iou", overlap, true);
  return draft.finish(healthy({"loss-plateau"}));
}

/// Contrastive pre-training: from the logarithm of the batch size down to a high floor.
SimulatedRun contrastive(Random& random) {
  const Axis axis = step_axis(random, 100, 3000);
  Descent descent = any_descent(random);
  descent.start = 1.0;
  descent.floor = random.uniform(0.2, 0.6);
  const double batch = random.pick({64.0, 256.0, 1024.0, 4096.0});
  Ordinary run = ordinary(random, axis, {0.0, std::log(batch), 0}, along(descent, axis), {});
  run.noise.relative = std::min(run.noise.relative, 0.05);
  return draft_of(random, run).finish(healthy({"loss-plateau"}));
}

/// A variational autoencoder: the divergence rises as it should while the total falls.
SimulatedRun autoencoder(Random& random) {
  const Axis axis = any_axis(random, 40, 1000);
  const double unit = random.uniform(100.0, 600.0);
  Descent descent = any_descent(random);
  descent.floor = random.uniform(0.15, 0.3);
  const Levels total = along(descent, axis);
  Levels reconstruction(axis.rows());
  Levels divergence(axis.rows());
  Levels sum(axis.rows());
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    divergence[row] = unit * 0.05 * (1.0 - std::exp(-10.0 * axis.progress(row))) * (1.0 + 0.01 * random.normal());
    reconstruction[row] = unit * total[row] * (1.0 + 0.01 * random.normal());
    sum[row] = reconstruction[row] + divergence[row];
  }
  Draft draft(random, axis);
  draft.add(Quantity::train_loss, sum).add("reconstruction_loss", reconstruction).add("kl_loss", divergence);
  return draft.finish(healthy({"loss-plateau"}));
}

}  // namespace

std::vector<Family> healthy_kinds() {
  return {{"healthy-gan", true, gan},
          {"healthy-policy-gradient", true, policy_gradient},
          {"healthy-preference-tuning", true, preference_tuning},
          {"healthy-language-model", true, language_model},
          {"healthy-denoising", true, denoising},
          {"healthy-detection", true, detection},
          {"healthy-ctc", true, ctc},
          {"healthy-mixed-precision", true, mixed_precision},
          {"healthy-resumed", true, resumed},
          {"healthy-segmentation", true, segmentation},
          {"healthy-contrastive", true, contrastive},
          {"healthy-autoencoder", true, autoencoder}};
}

}  // namespace osler::simulate
