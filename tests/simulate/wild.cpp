// Families after curves seen in public training logs, healthy and sick.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "simulate/family_lists.h"
#include "simulate/schedule.h"
#include "simulate/shapes.h"

namespace osler::simulate {
namespace {

/// A classifier that starts at chance, picks up speed, and is stopped while still falling.
SimulatedRun slow_start(Random& random) {
  const Axis axis = random.chance(0.7) ? epoch_axis(random, 20, 80) : step_axis(random, 60, 600);
  const double middle = random.uniform(0.4, 0.9);
  const double width = random.uniform(0.5, 0.9);
  const double depth = random.uniform(0.3, 0.7);
  const double start = smooth_step(0.0, middle, width);
  const Levels train = rows_of(axis, [&](double x) { return 1.0 - depth * (smooth_step(x, middle, width) - start); });
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, healthy_validation(random, train));
  run.noise.relative = std::min(run.noise.relative, 0.01);
  run.validation_noise.relative = std::min(run.validation_noise.relative, 0.01);
  run.floor = 0.1;
  return draft_of(random, run).finish(healthy({"loss-plateau"}));
}

/// Nearly perfect: the losses end near zero, where they scatter by multiples of themselves.
SimulatedRun near_zero(Random& random) {
  const Axis axis = epoch_axis(random, 15, 120);
  const double floor = random.log_uniform(1e-4, 5e-3);
  const double rate = random.uniform(8.0, 15.0);
  const Levels train = rows_of(axis, [&](double x) { return floor + std::exp(-rate * x); });
  Ordinary run = ordinary(random, axis, {0.0, 1.1, 3}, train, times(train, random.uniform(0.3, 2.0)));
  const double scatter = random.uniform(0.2, 0.6);
  run.noise = {Noise::Kind::skewed, scatter * 0.6, 0, 0, 0};
  run.validation_noise = {Noise::Kind::skewed, scatter, 0, 0, 0};
  run.best_accuracy = 0;
  run.smoothing = 0;
  Draft draft = draft_of(random, run);
  draft.add(Quantity::validation_accuracy, rows_of(axis, [&](double x) {
              return std::min(1.0, 1.002 - 0.6 * std::exp(-rate * x) - 0.001 * std::abs(random.normal()));
            }));
  return draft.finish(healthy({"loss-plateau"}));
}

/// Only a perplexity per evaluation: from thousands to two in one epoch, then slow gains and the faintest rise.
SimulatedRun perplexity_only(Random& random) {
  const Axis axis = epoch_axis(random, 10, 30);
  const double level = random.uniform(1.6, 20.0);
  Levels perplexity = rows_of(axis, [&](double x) { return level * (1.0 + 0.15 * std::exp(-6.0 * x)); });
  perplexity[0] = random.log_uniform(200.0, 60000.0);
  Draft draft(random, axis);
  draft.add(random.pick<const char*>({"eval_ppl", "valid_ppl", "val/perplexity"}),
            scattered(perplexity, {Noise::Kind::gaussian, 0.002, 0, 0, 0}, axis, random));
  return draft.finish(healthy({"loss-plateau", "initial-loss-wrong"}));
}

/// A reward that stays low for half of the run, leaps, and settles a little below its peak.
SimulatedRun late_reward(Random& random) {
  const Axis axis = step_axis(random, 150, 3000);
  const double leap = random.uniform(0.35, 0.65);
  const double low = random.pick({-90.0, 10.0, 20.0});
  const double high = random.uniform(100.0, 300.0);
  const double memory = random.uniform(0.5, 0.95);
  Levels reward(axis.rows());
  double state = 0;
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    const double x = axis.progress(row);
    state = memory * state + std::sqrt(1.0 - memory * memory) * random.normal();
    const double learned = smooth_step(x, leap, 0.1);
    reward[row] =
        low + (high - low) * learned * (1.0 - 0.12 * std::max(0.0, x - leap - 0.1)) + (4.0 + 20.0 * learned) * state;
  }
  Draft draft(random, axis);
  draft.add(random.pick<const char*>({"mean 100 episode reward", "episode_reward", "eval/mean_reward"}), reward);
  return draft.finish(healthy({"loss-plateau"}));
}

/// A summed loss: norms in the hundreds, steady; or a loss of tiny numbers: norms of 1e-6, just as steady.
SimulatedRun unusual_norms(Random& random) {
  const Axis axis = any_axis(random, 60, 1500);
  const bool large = random.chance(0.5);
  const double unit = large ? random.log_uniform(1e2, 1e5) : random.log_uniform(1e-7, 1e-4);
  Descent descent = steady_descent(random);
  Levels train = along(descent, axis);
  Ordinary run = ordinary(random, axis, {0.0, unit, 0}, train, {});
  run.noise.relative = std::min(run.noise.relative, 0.05);
  const double ratio = random.log_uniform(0.3, 3.0);
  run.gradient = rows_of(axis, [&](double x) { return unit * ratio * std::exp(0.2 * random.normal() - 0.3 * x); });
  return draft_of(random, run).finish(healthy({"loss-plateau"}));
}

/// Validation stands still while training goes on falling: not rising yet, but nothing is gained any more.
SimulatedRun flat_validation(Random& random) {
  const Axis axis = well_validated(any_axis(random, 60, 1500), 12);
  const double level = random.uniform(0.4, 0.8);
  const double reach = random.uniform(0.1, 0.3);
  const Levels validation = rows_of(axis, [&](double x) { return level + (1.0 - level) * std::exp(-5.0 * x / reach); });
  const Levels train =
      rows_of(axis, [&](double x) { return level + (1.0 - level) * std::exp(-5.0 * x / reach) - 0.35 * level * x; });
  Ordinary run =
      ordinary(random, axis, random.chance(0.5) ? language_scale(random) : classifier_scale(random), train, validation);
  run.noise.relative = std::min(run.noise.relative, 0.03);
  run.validation_noise = {Noise::Kind::gaussian, random.uniform(0.0005, 0.006), 0, 0, 0};
  run.best_accuracy = 0;
  run.rates = times(schedule_factors(Schedule::cosine, axis, 0.02, random), any_peak_rate(random));
  return draft_of(random, run)
      .finish(sick("loss-plateau", {}, {"loss-stuck-after-drop", "underfitting", "learning-rate-spent"},
                   both(kFlat, {"overfitting", "overconfidence", "validation-frozen"})));
}

/// No validation loss in the log: only a metric that peaks and declines while training goes on.
SimulatedRun metric_declines(Random& random) {
  const Axis axis = epoch_axis(random, 18, 120);
  const double peak = random.uniform(0.2, 0.5);
  const double best = random.uniform(0.3, 0.9);
  const double loss_of_it = best * random.uniform(0.15, 0.35);
  Ordinary run = ordinary(random, axis, classifier_scale(random), along(steady_descent(random), axis), {});
  run.best_accuracy = 0;
  Draft draft = draft_of(random, run);
  const double noise = random.uniform(0.003, 0.01);
  draft.add(random.pick<const char*>({"val_acc", "dev_bleu", "eval/f1", "val_accuracy"}),
            rows_of(axis,
                    [&](double x) {
                      const double rise = best * (1.0 - 0.6 * std::exp(-8.0 * x / peak));
                      return rise - (x > peak ? loss_of_it * (x - peak) / (1.0 - peak) : 0.0) + noise * random.normal();
                    }),
            true);
  return draft.finish(sick("overfitting", {"too-little-data", "model-too-large"}, {"overconfidence"},
                           {"metric-contradicts-loss", "loss-plateau", "confidence-without-learning"}));
}

/// Only validation is logged, and it stays at chance.
SimulatedRun stuck_validation_only(Random& random) {
  const Axis axis = epoch_axis(random, 15, 100);
  const LossScale scale = classifier_scale(random);
  Draft draft(random, axis);
  const Levels flat = rows_of(axis, [](double x) { return 1.0 + 0.006 * std::exp(-6.0 * x); });
  draft.add(Quantity::validation_loss, scattered(flat, {Noise::Kind::gaussian, 0.001, 0, 0, 0}, axis, random), scale);
  const AccuracyModel model{scale.classes, 1.0, 1.0, random.log_integer(300, 5000)};
  draft.add(Quantity::validation_accuracy, accuracies(Levels(axis.rows(), 1.0), 0.0, model, random));
  return draft.finish(
      sick("loss-stuck-from-start", {}, {"loss-plateau", "loss-too-slow"}, {"underfitting", "validation-frozen"}));
}

/// At chance for a long while, then every training example is learned by heart.
SimulatedRun memorises(Random& random) {
  const Axis axis = epoch_axis(random, 60, 300);
  const double turn = random.uniform(0.2, 0.45);
  const double climb = random.uniform(1.0, 4.0);
  const Levels train = rows_of(axis, [&](double x) { return 1.0 - 0.995 * smooth_step(x, turn, 0.1); });
  const Levels validation = rows_of(axis, [&](double x) { return 1.0 + climb * smooth_step(x, turn + 0.1, 0.3); });
  Ordinary run = ordinary(random, axis, {0.0, std::numbers::ln2, 2}, train, validation);
  run.noise.relative = std::min(run.noise.relative, 0.02);
  run.validation_noise = {Noise::Kind::gaussian, random.uniform(0.005, 0.05), 0, 0, 0};
  run.best_accuracy = 0;
  return draft_of(random, run)
      .finish(sick("overfitting", {"too-little-data", "model-too-large"}, {"overconfidence"},
                   {"loss-stuck-from-start", "loss-plateau", "loss-diverging"}));
}

/// Training is quiet; single evaluations leap to several times the usual and come back.
SimulatedRun validation_spikes(Random& random) {
  const Axis axis = epoch_axis(random, 40, 200);
  const Levels train = along(steady_descent(random), axis);
  Levels validation = healthy_validation(random, train);
  const std::int64_t spikes = random.integer(2, 5);
  for (std::int64_t i = 0; i < spikes; ++i) {
    const auto row = static_cast<std::size_t>(static_cast<double>(axis.rows()) * random.uniform(0.15, 0.9));
    validation[row] += random.log_uniform(1.5, 8.0);
  }
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, validation);
  run.validation_noise = {Noise::Kind::gaussian, 0.01, 0, 0, 0};
  run.best_accuracy = 0;
  return draft_of(random, run)
      .finish(sick("loss-spikes", {}, {"loss-oscillating", "late-loss-variance"}, {"overfitting", "loss-plateau"}));
}

}  // namespace

std::vector<Family> wild() {
  return {{"healthy-slow-start", true, slow_start},
          {"healthy-near-zero", true, near_zero},
          {"healthy-perplexity-only", true, perplexity_only},
          {"healthy-late-reward", true, late_reward},
          {"healthy-unusual-norms", true, unusual_norms},
          {"sick-flat-validation", false, flat_validation},
          {"sick-metric-declines", false, metric_declines},
          {"sick-stuck-validation-only", false, stuck_validation_only},
          {"sick-memorises", false, memorises},
          {"sick-validation-spikes", false, validation_spikes}};
}

}  // namespace osler::simulate
