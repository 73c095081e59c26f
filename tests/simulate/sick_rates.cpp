// Families whose learning rate, or clock, is wrong.
#include <algorithm>
#include <cmath>

#include "simulate/family_lists.h"
#include "simulate/quadratic.h"
#include "simulate/schedule.h"
#include "simulate/shapes.h"

namespace osler::simulate {
namespace {

/// A training of the noisy quadratic model under a rate given as a share of its peak.
Ordinary under_rates(Random& random, const Axis& axis, const Levels& factors, double exponent) {
  Quadratic task;
  task.steps_per_row = 6000.0 / static_cast<double>(axis.rows());
  task.decades = 3.0;
  task.exponent = exponent;
  task.floor = random.uniform(0.02, 0.1);
  task.gradient_noise = 0.05;
  const QuadraticCurves curves = train_quadratic(task, times(factors, 0.6), random);
  Ordinary run = ordinary(random, axis, any_scale(random), curves.train, random.chance(0.6) ? curves.train : Levels());
  run.noise.relative = std::min(run.noise.relative, 0.03);
  run.floor = task.floor;
  run.rates = times(factors, any_peak_rate(random));
  return run;
}

/// The schedule ends long before training does: from there on nothing happens.
SimulatedRun spent(Random& random) {
  const Axis axis = any_axis(random, 60, 2000);
  const double end = random.uniform(0.1, 0.3);
  const double rest = random.pick({1e-3, 1e-4, 1e-5});
  const Levels factors = rows_of(
      axis, [&](double x) { return x < end ? std::max(rest, 0.5 * (1.0 + std::cos(3.14159265 * x / end))) : rest; });
  Ordinary run = under_rates(random, axis, factors, random.uniform(0.1, 0.2));
  Truth truth = sick("learning-rate-spent", {"lr-decayed-too-fast"}, {"loss-stuck-after-drop", "loss-plateau"},
                     both(kFlat, {"overfitting", "learning-rate-zero"}));
  return draft_of(random, run).finish(std::move(truth));
}

/// Resumed without the scheduler's state: the rate jumps back to its peak, the loss follows it up.
SimulatedRun jumps(Random& random) {
  const Axis axis = any_axis(random, 60, 2000);
  const double at = random.uniform(0.4, 0.8);
  const Levels factors = rows_of(
      axis, [&](double x) { return std::max(0.01, 0.5 * (1.0 + std::cos(3.14159265 * (x < at ? x : x - at)))); });
  Ordinary run = under_rates(random, axis, factors, random.uniform(0.2, 0.4));
  Truth truth = sick("learning-rate-jump", {"scheduler-state-lost"}, {},
                     {"loss-spikes", "loss-plateau", "loss-diverging", "late-loss-variance", "loss-oscillating"});
  const auto row = static_cast<std::size_t>(at * static_cast<double>(axis.rows()));
  truth.begins = {axis.steps[row > 2 ? row - 2 : 0], axis.steps[std::min(axis.rows() - 1, row + 2)]};
  return draft_of(random, run).finish(std::move(truth));
}

/// A large model at its full rate from the first step: the first percent of the run is chaos.
SimulatedRun no_warmup(Random& random) {
  const Axis axis = step_axis(random, 300, 3000);
  const double rough = random.uniform(0.03, 0.07);
  Descent descent = any_descent(random);
  descent.start = 1.0;
  // The descent begins when the rough part is over.
  Levels train = rows_of(axis, [&](double x) { return descent(std::max(0.0, x - rough)); });
  Levels norms = gradient_norms(train, random);
  for (std::size_t row = 1; row < axis.rows() && axis.progress(row) < rough; ++row) {
    train[row] += random.uniform(0.1, 1.0) * (1.0 - axis.progress(row) / rough);
    norms[row] *= random.log_uniform(5.0, 60.0);
  }
  Ordinary run = ordinary(random, axis, language_scale(random), train, {});
  run.noise = {Noise::Kind::gaussian, random.uniform(0.005, 0.02), 0, 0, 0};
  run.smoothing = 0;
  run.running_mean = false;
  run.best_accuracy = 0;
  run.gradient = norms;
  run.rates = times(schedule_factors(random.pick({Schedule::cosine, Schedule::constant}), axis, 0, random),
                    random.pick({3e-4, 1e-3, 3e-3}));
  return draft_of(random, run)
      .finish(sick("no-warmup", {"warmup-missing", "lr-too-high"}, {"loss-spikes"}, both(kUnstable, {"loss-plateau"})));
}

/// The rate is exactly zero: nothing can move.
SimulatedRun rate_is_zero(Random& random) {
  const Axis axis = any_axis(random, 20, 800);
  const Levels train(axis.rows(), 1.0);
  Ordinary run = ordinary(random, axis, any_scale(random), train, random.chance(0.5) ? train : Levels());
  run.noise = any_noise(random, axis);
  run.noise.relative = std::min(run.noise.relative, 0.05);
  run.validation_noise.relative = 0;
  run.best_accuracy = 0;
  run.rates = Levels(axis.rows(), 0.0);
  if (random.chance(0.3)) run.rates[0] = 1e-4;
  return draft_of(random, run)
      .finish(sick("learning-rate-zero",
                   {"lr-too-low", "lr-decayed-too-fast", "scheduler-state-lost", "frozen-parameters"},
                   {"loss-stuck-from-start"}, both(kFlat, {"validation-frozen", "learning-rate-spent"})));
}

/// From some step on every step takes several times as long.
SimulatedRun slows_down(Random& random) {
  const Axis axis = step_axis(random, 150, 2000);
  const double at = random.uniform(0.3, 0.8);
  const double factor = random.uniform(2.5, 10.0);
  const double seconds = random.log_uniform(0.02, 5.0);
  Ordinary run = ordinary(random, axis, any_scale(random), along(any_descent(random), axis), {});
  Draft draft = draft_of(random, run);
  draft.add(Quantity::step_time, rows_of(axis, [&](double x) {
              return seconds * (x > at ? factor : 1.0) * std::exp(0.08 * random.normal());
            }));
  Truth truth = sick("step-time-cliff", {}, {}, {"loss-plateau"});
  const auto row = static_cast<std::size_t>(at * static_cast<double>(axis.rows()));
  truth.begins = {axis.steps[row > 5 ? row - 5 : 0], axis.steps[std::min(axis.rows() - 1, row + 5)]};
  return draft.finish(std::move(truth));
}

}  // namespace

std::vector<Family> sick_rates() {
  return {{"sick-rate-spent", false, spent},
          {"sick-rate-jumps", false, jumps},
          {"sick-no-warmup", false, no_warmup},
          {"sick-rate-zero", false, rate_is_zero},
          {"sick-step-time-cliff", false, slows_down}};
}

}  // namespace osler::simulate
