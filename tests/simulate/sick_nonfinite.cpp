// Families whose loss stops being a number.
#include <algorithm>
#include <cmath>
#include <limits>

#include "simulate/family_lists.h"
#include "simulate/schedule.h"
#include "simulate/shapes.h"

namespace osler::simulate {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

const std::vector<std::string> kSudden = {"log-of-zero",  "division-by-zero", "sqrt-at-zero",
                                          "exp-overflow", "corrupt-data",     "bad-batches"};
const std::vector<std::string> kBlowUp = {"lr-too-high", "exploding-signal", "no-clipping"};

/// Labels by the step of the first bad value, as the catalogue does: within ten steps of the start, or later.
Truth nonfinite(std::int64_t first_bad, std::int64_t first, std::vector<std::string> causes) {
  const bool early = first_bad - first < 10;
  Truth truth = sick(early ? "loss-nonfinite-at-start" : "loss-nonfinite-later", std::move(causes),
                     {early ? "loss-nonfinite-later" : "loss-nonfinite-at-start"},
                     both(kUnstable, {"gradient-nonfinite", "validation-frozen", "overfitting", "overconfidence",
                                      "loss-scale-collapsing", "loss-stuck-from-start", "loss-plateau"}));
  truth.begins = {first_bad, first_bad};
  return truth;
}

void spoil(Levels& values, std::size_t from) {
  for (std::size_t row = from; row < values.size(); ++row) values[row] = kNan;
}

/// Not one number from the first row on.
SimulatedRun never_a_number(Random& random) {
  const Axis axis = any_axis(random, 10, 300);
  Draft draft(random, axis);
  Levels nothing(axis.rows(), kNan);
  draft.add(Quantity::train_loss, nothing);
  if (random.chance(0.5)) draft.add(Quantity::validation_loss, nothing);
  if (random.chance(0.4)) draft.add(Quantity::learning_rate, Levels(axis.rows(), any_peak_rate(random)));
  if (random.chance(0.4)) draft.add(Quantity::train_accuracy, Levels(axis.rows(), 0.1));
  return draft.finish(nonfinite(axis.steps[0], axis.steps[0], {}));
}

/// Explodes within its first steps: each loss is a large multiple of the one before.
SimulatedRun explodes_at_once(Random& random) {
  Axis axis = step_axis(random, 20, 300);
  for (std::size_t row = 0; row < axis.rows(); ++row) axis.steps[row] = static_cast<std::int64_t>(row);
  const auto bad = static_cast<std::size_t>(random.integer(3, 8));
  const double growth = std::pow(1e38, 1.0 / static_cast<double>(bad));
  Levels loss(axis.rows());
  double now = random.uniform(0.9, 1.2);
  for (std::size_t row = 0; row < bad; ++row, now *= growth * random.uniform(0.5, 2.0)) loss[row] = now;
  spoil(loss, bad);
  if (random.chance(0.5)) loss[bad] = kInfinity;
  Draft draft(random, axis);
  draft.add(Quantity::train_loss, loss, any_scale(random));
  draft.add(Quantity::learning_rate, Levels(axis.rows(), random.pick({0.5, 1.0, 3.0, 10.0})));
  if (random.chance(0.6)) {
    Levels norms = loss;
    for (double& norm : norms) norm *= 30.0;
    draft.add(Quantity::gradient_norm, norms);
  }
  Truth truth = nonfinite(axis.steps[bad], 0, kBlowUp);
  truth.causes.push_back("data-not-normalized");
  return draft.finish(std::move(truth));
}

/// A few ordinary losses, then a single bad operation: nothing announces it.
SimulatedRun sudden_at_start(Random& random) {
  Axis axis = step_axis(random, 20, 300);
  for (std::size_t row = 0; row < axis.rows(); ++row) axis.steps[row] = static_cast<std::int64_t>(row);
  const auto bad = static_cast<std::size_t>(random.integer(1, 8));
  Levels loss = scattered(rows_of(axis, [](double x) { return 1.0 - 0.2 * x; }), {Noise::Kind::gaussian, 0.03, 0, 0, 0},
                          axis, random);
  Levels norms = gradient_norms(loss, random);
  spoil(loss, bad);
  spoil(norms, bad);
  Draft draft(random, axis);
  draft.add(Quantity::train_loss, loss, any_scale(random));
  draft.add(Quantity::learning_rate, Levels(axis.rows(), random.pick({1e-5, 1e-4, 3e-4})));
  if (random.chance(0.7)) draft.add(Quantity::gradient_norm, norms);
  return draft.finish(nonfinite(axis.steps[bad], 0, kSudden));
}

struct Descending {
  Axis axis;
  LossScale scale;
  Levels train;
  Levels validation;
  std::size_t bad = 0;
};

/// An ordinary descent, and the row at which it will break.
Descending descending(Random& random, std::int64_t fewest, std::int64_t most) {
  Descending run;
  run.axis = any_axis(random, fewest, most);
  run.scale = any_scale(random);
  const Levels clean = along(any_descent(random), run.axis);
  Noise noise = any_noise(random, run.axis);
  noise.relative = std::min(noise.relative, 0.05);
  run.train = scattered(clean, noise, run.axis, random);
  run.validation = scattered(healthy_validation(random, clean), noise, run.axis, random);
  run.bad = static_cast<std::size_t>(static_cast<double>(run.axis.rows()) * random.uniform(0.4, 0.9));
  return run;
}

SimulatedRun finish_broken(Random& random, Descending& run, Levels norms, double rate,
                           std::vector<std::string> causes) {
  spoil(run.train, run.bad);
  spoil(run.validation, run.bad);
  spoil(norms, run.bad);
  Draft draft(random, run.axis);
  draft.add(Quantity::train_loss, run.train, run.scale);
  if (random.chance(0.5)) draft.add(Quantity::validation_loss, run.validation, run.scale);
  if (random.chance(0.7)) draft.add(Quantity::learning_rate, Levels(run.axis.rows(), rate));
  draft.add(Quantity::gradient_norm, norms);
  return draft.finish(nonfinite(run.axis.steps[run.bad], run.axis.steps[0], std::move(causes)));
}

/// Descends, then the norm and the loss grow for some rows and run away.
SimulatedRun blows_up_later(Random& random) {
  Descending run = descending(random, 40, 1500);
  Levels norms = gradient_norms(run.train, random);
  const std::size_t length = std::max<std::size_t>(3, run.bad / static_cast<std::size_t>(random.integer(8, 30)));
  const double growth = random.uniform(4.0, 30.0);
  for (std::size_t row = run.bad - length; row < run.bad; ++row) {
    const double into = static_cast<double>(row - (run.bad - length) + 1) / static_cast<double>(length);
    run.train[row] *= std::exp(growth * into * into);
    run.validation[row] *= std::exp(growth * into * into);
    norms[row] *= std::exp(1.5 * growth * into);
  }
  return finish_broken(random, run, norms, random.pick({1e-3, 1e-2, 0.1, 0.5}), kBlowUp);
}

/// Descends with ordinary norms and is not a number from one row to the next.
SimulatedRun sudden_later(Random& random) {
  Descending run = descending(random, 40, 1500);
  return finish_broken(random, run, gradient_norms(run.train, random), any_peak_rate(random), kSudden);
}

/// Half precision: the loss scale is halved again and again before the end.
SimulatedRun half_precision(Random& random) {
  Descending run = descending(random, 100, 1500);
  Levels scale(run.axis.rows(), 65536.0);
  const std::size_t fall = run.bad - std::min<std::size_t>(run.bad / 2, 60);
  for (std::size_t row = fall; row < scale.size(); ++row) {
    scale[row] = std::max(1.0, scale[row - 1] / (row % 3 == 0 ? 2.0 : 1.0));
  }
  Levels norms = gradient_norms(run.train, random);
  for (std::size_t row = fall; row < run.bad; ++row) {
    if (row % 3 == 0) norms[row] = kInfinity;
  }
  spoil(run.train, run.bad);
  spoil(norms, run.bad);
  Draft draft(random, run.axis);
  draft.add(Quantity::train_loss, run.train, run.scale);
  draft.add(Quantity::gradient_norm, norms).add(Quantity::loss_scale, scale);
  Truth truth = nonfinite(run.axis.steps[run.bad], run.axis.steps[0], {"fp16-overflow"});
  truth.tolerate.push_back("loss-scale-collapsing");
  return draft.finish(std::move(truth));
}

/// One bad epoch among good ones: a spike, a NaN, and then training goes on.
SimulatedRun passing_nan(Random& random) {
  Descending run = descending(random, 40, 300);
  run.train[run.bad - 1] *= random.uniform(5.0, 50.0);
  const std::size_t last = std::min(run.train.size() - 2, run.bad + static_cast<std::size_t>(random.integer(0, 2)));
  for (std::size_t row = run.bad; row <= last; ++row) run.train[row] = kNan;
  Draft draft(random, run.axis);
  draft.add(Quantity::train_loss, run.train, run.scale);
  Truth truth = nonfinite(run.axis.steps[run.bad], run.axis.steps[0], {});
  truth.accept.push_back("loss-spikes");
  return draft.finish(std::move(truth));
}

}  // namespace

std::vector<Family> sick_nonfinite() {
  return {{"sick-never-a-number", false, never_a_number},
          {"sick-explodes-at-once", false, explodes_at_once},
          {"sick-sudden-nan-at-start", false, sudden_at_start},
          {"sick-blows-up-later", false, blows_up_later},
          {"sick-sudden-nan-later", false, sudden_later},
          {"sick-half-precision", false, half_precision},
          {"sick-passing-nan", false, passing_nan}};
}

}  // namespace osler::simulate
