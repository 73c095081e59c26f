// Families whose validation tells that something is wrong.
#include <algorithm>
#include <cmath>

#include "simulate/family_lists.h"
#include "simulate/quadratic.h"
#include "simulate/schedule.h"
#include "simulate/shapes.h"

namespace osler::simulate {
namespace {

const std::vector<std::string> kOverfitCauses = {"too-little-data", "model-too-large"};
const std::vector<std::string> kOverfitToo = {"overconfidence", "loss-oscillating", "late-loss-variance",
                                              "loss-plateau", "metric-contradicts-loss"};

/// A valley: down to `low` at `at`, then up by `rise` at the end.
Levels valley(const Axis& axis, double low, double at, double rise, double bend) {
  return rows_of(axis, [&](double x) {
    if (x < at) return low + (1.0 - low) * std::pow((at - x) / at, 2.0);
    return low + rise * std::pow((x - at) / (1.0 - at), bend);
  });
}

struct Valley {
  Ordinary run;
  double at = 0;
};

Valley overfitting_run(Random& random, const Axis& axis, double least_rise, double most_rise) {
  Valley made;
  made.at = random.uniform(0.08, 0.5);
  const double low = random.uniform(0.35, 0.85);
  const double rise = random.log_uniform(least_rise, most_rise) * low;
  Descent descent = any_descent(random);
  descent.start = 1.0;
  descent.floor = random.uniform(0.005, 0.3) * low;
  descent.exponential = random.uniform(0.3, 1.0);
  descent.rate = random.uniform(3.0, 8.0);
  made.run = ordinary(random, axis, classifier_scale(random), along(descent, axis),
                      valley(axis, low, made.at, rise, random.uniform(0.7, 1.5)));
  made.run.floor = descent.floor;
  made.run.noise.relative = std::min(made.run.noise.relative, 0.05);
  made.run.validation_noise = {Noise::Kind::gaussian, random.uniform(0.003, std::min(0.03, 0.15 * rise / low)), 0, 0,
                               0};
  made.run.best_accuracy = 0;
  return made;
}

Truth overfitted(const Valley& made, std::vector<std::string> also = {"overconfidence"}) {
  Truth truth = sick("overfitting", kOverfitCauses, std::move(also), kOverfitToo);
  const Axis& axis = made.run.axis;
  const auto row = [&](double x) {
    return axis.steps[static_cast<std::size_t>(std::clamp(x, 0.0, 1.0) * static_cast<double>(axis.rows() - 1))];
  };
  truth.begins = {row(made.at - 0.15), row(made.at + 0.3)};
  return truth;
}

SimulatedRun overfits(Random& random) {
  Axis axis = epoch_axis(random, 25, 300);
  Valley made = overfitting_run(random, axis, 0.12, 3.0);
  if (random.chance(0.4)) made.run.rates = Levels(axis.rows(), any_peak_rate(random));
  return draft_of(random, made.run).finish(overfitted(made));
}

SimulatedRun overfits_short(Random& random) {
  Valley made = overfitting_run(random, epoch_axis(random, 10, 24), 0.25, 2.0);
  made.run.validation_noise.relative = std::min(made.run.validation_noise.relative, 0.01);
  return draft_of(random, made.run).finish(overfitted(made));
}

/// Training is logged every few steps, validation a few dozen times.
SimulatedRun overfits_sparsely(Random& random) {
  Axis axis = step_axis(random, 400, 5000);
  axis.validate_every = axis.rows() / static_cast<std::size_t>(random.integer(12, 40));
  Valley made = overfitting_run(random, axis, 0.15, 2.0);
  if (random.chance(0.5)) made.run.scale = language_scale(random);
  if (random.chance(0.6)) {
    made.run.rates = times(schedule_factors(Schedule::cosine, axis, 0.02, random), any_peak_rate(random));
  }
  return draft_of(random, made.run).finish(overfitted(made));
}

/// A small validation set: the rise is buried in scatter that grows with it.
SimulatedRun overfits_noisily(Random& random) {
  Valley made = overfitting_run(random, epoch_axis(random, 60, 500), 0.5, 4.0);
  made.run.validation_noise = {random.pick({Noise::Kind::gaussian, Noise::Kind::skewed}), random.uniform(0.05, 0.15), 0,
                               0, 0};
  return draft_of(random, made.run).finish(overfitted(made));
}

/// Regression: the noisy quadratic model whose training optimum lies beyond the true one.
SimulatedRun overfits_quadratically(Random& random) {
  const Axis axis = well_validated(any_axis(random, 40, 1500), 15);
  Quadratic task;
  task.steps_per_row = 4000.0 / static_cast<double>(axis.rows());
  task.decades = 2.7;
  task.floor = 0.01;
  task.exponent = random.uniform(0.1, 0.3);
  task.gradient_noise = 0.01;
  task.overshoot = random.uniform(0.6, 0.8);
  const QuadraticCurves curves = train_quadratic(task, Levels(axis.rows(), 0.5), random);
  Ordinary run = ordinary(random, axis, regression_scale(random), curves.train, curves.validation);
  run.noise.relative = std::min(run.noise.relative, 0.05);
  run.validation_noise = {Noise::Kind::gaussian, 0.005, 0, 0, 0};
  return draft_of(random, run).finish(sick("overfitting", kOverfitCauses, {}, kOverfitToo));
}

/// Validation loss climbs, accuracy stays where it is: the network is only surer of its errors.
SimulatedRun overconfident(Random& random) {
  const Axis axis = epoch_axis(random, 25, 300);
  Valley made = overfitting_run(random, axis, 0.3, 3.0);
  const double best = random.uniform(0.55, 0.93);
  Draft draft = draft_of(random, made.run);
  const std::int64_t samples = random.log_integer(1000, 20000);
  Levels validation(axis.rows());
  Levels train(axis.rows());
  for (std::size_t row = 0; row < axis.rows(); ++row) {
    const double truth = best - (best - 1.0 / made.run.scale.classes) * std::exp(-5.0 * axis.progress(row) / made.at);
    validation[row] =
        static_cast<double>(random.binomial(samples, std::clamp(truth, 0.0, 1.0))) / static_cast<double>(samples);
    train[row] = std::min(1.0, truth + (1.0 - best) * axis.progress(row));
  }
  draft.add(Quantity::train_accuracy, train).add(Quantity::validation_accuracy, validation);
  Truth truth = overfitted(made, {"overfitting"});
  truth.finding = "overconfidence";
  truth.accept = {"overconfidence", "overfitting"};
  truth.begins.reset();
  return draft.finish(std::move(truth));
}

/// Both losses flatten early, high, and close together.
SimulatedRun underfits(Random& random) {
  const Axis axis = well_validated(any_axis(random, 40, 800), 12);
  const double level = random.uniform(0.55, 0.85);
  const double fast = random.uniform(8.0, 25.0);
  const Levels train = rows_of(axis, [&](double x) { return level + (1.0 - level) * std::exp(-fast * x); });
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, times(train, random.uniform(1.0, 1.03)));
  run.noise.relative = std::min(run.noise.relative, 0.04);
  run.validation_noise = {Noise::Kind::gaussian, 0.005, 0, 0, 0};
  run.best_accuracy = 0;
  if (random.chance(0.5)) run.rates = Levels(axis.rows(), any_peak_rate(random));
  Draft draft = draft_of(random, run);
  if (random.chance(0.7)) {
    const double chance = 1.0 / run.scale.classes;
    const AccuracyModel model{run.scale.classes, chance + (1.0 - chance) * random.uniform(0.15, 0.35), 1.0, 5000};
    draft.add(Quantity::train_accuracy, accuracies(train, level, model, random));
    draft.add(Quantity::validation_accuracy, accuracies(train, level, model, random));
  }
  return draft.finish(sick("underfitting", {"model-too-small", "too-much-regularization"},
                           {"loss-plateau", "loss-stuck-after-drop"}, kFlat));
}

/// The same validation numbers again and again while training goes on.
SimulatedRun frozen(Random& random) {
  const Axis axis = epoch_axis(random, 15, 200);
  const Levels train = along(steady_descent(random), axis);
  Levels validation = healthy_validation(random, train);
  const std::size_t from = random.chance(0.5) ? 0 : axis.rows() / static_cast<std::size_t>(random.integer(3, 8));
  for (std::size_t row = from; row < axis.rows(); ++row) validation[row] = validation[from];
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, {});
  Draft draft = draft_of(random, run);
  draft.add(Quantity::validation_loss, validation, run.scale);
  if (random.chance(0.6)) {
    draft.add(Quantity::validation_accuracy, Levels(axis.rows(), random.uniform(0.1, 0.7)));
  }
  return draft.finish(sick("validation-frozen",
                           {"validation-pipeline-bug", "stale-checkpoint", "metric-bug", "eval-mode-left-on"}, {},
                           {"loss-plateau", "loss-stuck-from-start", "confidence-without-learning", "overfitting",
                            "metric-contradicts-loss", "loss-stuck-after-drop", "underfitting"}));
}

/// Every answer is the majority class: the accuracy is frozen at its share although the loss creeps down.
SimulatedRun majority_class(Random& random) {
  const Axis axis = epoch_axis(random, 30, 150);
  const double share = random.uniform(0.3, 0.9);
  const double drop = random.uniform(0.03, 0.15);
  const Levels train = rows_of(axis, [&](double x) { return 1.0 - drop * x; });
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, train);
  run.noise = {Noise::Kind::gaussian, 0.003, 0, 0, 0};
  run.validation_noise = {Noise::Kind::gaussian, 0.001, 0, 0, 0};
  run.best_accuracy = 0;
  Draft draft = draft_of(random, run);
  draft.add(Quantity::validation_accuracy, Levels(axis.rows(), share));
  return draft.finish(sick("validation-frozen", {"class-imbalance", "validation-pipeline-bug", "metric-bug"},
                           {"confidence-without-learning"},
                           both(kFlat, {"metric-contradicts-loss", "accuracy-outruns-loss"})));
}

/// Validation lies far below training from beginning to end.
SimulatedRun better_than_training(Random& random) {
  const Axis axis = epoch_axis(random, 20, 200);
  const Levels train = along(any_descent(random), axis);
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, times(train, random.uniform(0.15, 0.45)));
  return draft_of(random, run)
      .finish(sick("validation-better-than-training",
                   {"data-leak", "too-much-regularization", "validation-pipeline-bug"}, {}, kFlat));
}

/// The loss falls by a lot and the accuracy knows nothing of it.
SimulatedRun confidence_only(Random& random) {
  const Axis axis = epoch_axis(random, 25, 200);
  const Levels train = along(steady_descent(random), axis);
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, healthy_validation(random, train));
  run.best_accuracy = 0;
  Draft draft = draft_of(random, run);
  const AccuracyModel model{run.scale.classes, 1.0, 1.0, random.log_integer(500, 5000)};
  const Levels nothing(axis.rows(), random.uniform(0.7, 1.0));
  draft.add(Quantity::train_accuracy, accuracies(nothing, 0.0, model, random));
  draft.add(Quantity::validation_accuracy, accuracies(nothing, 0.0, model, random));
  return draft.finish(sick("confidence-without-learning", {"class-imbalance", "metric-bug", "wrong-loss-function"}, {},
                           both(kFlat, {"metric-contradicts-loss", "validation-frozen"})));
}

/// The accuracy rises while the loss stands: benign, and worth saying so.
SimulatedRun accuracy_first(Random& random) {
  const Axis axis = epoch_axis(random, 30, 200);
  const double level = random.uniform(0.4, 0.7);
  const Levels train = rows_of(axis, [&](double x) { return level + (1.0 - level) * std::exp(-15.0 * x); });
  Ordinary run = ordinary(random, axis, classifier_scale(random), train, train);
  run.noise.relative = 0.005;
  run.validation_noise.relative = 0.005;
  run.best_accuracy = 0;
  Draft draft = draft_of(random, run);
  const double start = random.uniform(0.4, 0.5);
  const double gain = random.uniform(0.25, 0.4);
  const Levels accuracy = rows_of(axis, [&](double x) { return start + gain * x + 0.004 * random.normal(); });
  draft.add(Quantity::train_accuracy, accuracy).add(Quantity::validation_accuracy, accuracy);
  return draft.finish(sick("accuracy-outruns-loss", {"label-smoothing"}, {}, both(kFlat, {"metric-contradicts-loss"})));
}

/// Validation loss improves while the metric gets worse: one of them is computed wrongly.
SimulatedRun contradicts(Random& random) {
  const Axis axis = epoch_axis(random, 25, 200);
  const Levels train = along(steady_descent(random), axis);
  Ordinary run = ordinary(random, axis, any_scale(random), train, healthy_validation(random, train));
  run.best_accuracy = 0;
  Draft draft = draft_of(random, run);
  const double start = random.uniform(0.5, 0.9);
  const double fall = start * random.uniform(0.3, 0.7);
  const Levels metric = rows_of(axis, [&](double x) { return start - fall * x + 0.01 * random.normal(); });
  draft.add(random.pick<const char*>({"val_f1", "val/auc", "val_iou", "val_accuracy"}), metric, true);
  return draft.finish(sick("metric-contradicts-loss", {"metric-bug", "wrong-loss-function", "wrong-labels"}, {},
                           {"overfitting", "confidence-without-learning", "loss-plateau"}));
}

}  // namespace

std::vector<Family> sick_validation() {
  return {{"sick-overfits", false, overfits},
          {"sick-overfits-short", false, overfits_short},
          {"sick-overfits-sparsely", false, overfits_sparsely},
          {"sick-overfits-noisily", false, overfits_noisily},
          {"sick-overfits-quadratically", false, overfits_quadratically},
          {"sick-overconfident", false, overconfident},
          {"sick-underfits", false, underfits},
          {"sick-frozen-validation", false, frozen},
          {"sick-majority-class", false, majority_class},
          {"sick-better-than-training", false, better_than_training},
          {"sick-confidence-only", false, confidence_only},
          {"sick-accuracy-first", false, accuracy_first},
          {"sick-metric-contradicts", false, contradicts}};
}

}  // namespace osler::simulate
