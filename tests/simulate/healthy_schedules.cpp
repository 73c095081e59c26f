// Healthy families from the noisy quadratic model: curves that follow their learning-rate schedule.
#include <cmath>

#include "simulate/family_lists.h"
#include "simulate/quadratic.h"
#include "simulate/schedule.h"
#include "simulate/shapes.h"

namespace osler::simulate {
namespace {

struct Scheduled {
  Schedule schedule = Schedule::cosine;
  double warmup = 0;
  double peak = 0.5;          // in units where 2 is the limit of stability
  double gradient_noise = 0;  // 0: drawn
};

SimulatedRun scheduled(Random& random, const Axis& axis, const LossScale& scale, const Scheduled& plan, Truth truth) {
  const Levels factors = schedule_factors(plan.schedule, axis, plan.warmup, random);
  Quadratic task;
  task.floor = random.uniform(0.05, 0.5);
  task.exponent = random.uniform(0.03, 0.3);
  task.gradient_noise = plan.gradient_noise > 0.0 ? plan.gradient_noise : random.log_uniform(0.01, 0.3);
  task.steps_per_row = static_cast<double>(random.log_integer(1, 40));
  // The slowest mode is about done, or not quite, when the run ends.
  const double time = plan.peak * task.steps_per_row * static_cast<double>(axis.rows());
  task.decades = std::max(0.5, std::log10(time) - random.uniform(-0.3, 0.7));
  task.overshoot = random.chance(0.5) ? 0.0 : -random.uniform(0.0, 0.15);
  QuadraticCurves curves = train_quadratic(task, times(factors, plan.peak), random);
  Ordinary run = ordinary(random, axis, scale, curves.train, random.chance(0.6) ? curves.validation : Levels());
  run.floor = task.floor;
  run.noise.relative = std::min(run.noise.relative, 0.08);
  if (random.chance(0.75)) run.rates = times(factors, any_peak_rate(random));
  if (random.chance(0.3)) {
    run.gradient = curves.gradient;
    const double unit = random.log_uniform(0.1, 10.0);
    for (double& norm : run.gradient) norm = unit * std::hypot(norm, 0.3) * std::exp(0.15 * random.normal());
  }
  return draft_of(random, run).finish(std::move(truth));
}

SimulatedRun any_of_them(Random& random) {
  return scheduled(random, any_axis(random, 40, 3000), any_scale(random),
                   {any_schedule(random), random.pick({0.0, 0.02, 0.05}), random.uniform(0.1, 0.9), 0},
                   healthy({"loss-plateau"}));
}

SimulatedRun step_decays(Random& random) {
  return scheduled(random, any_axis(random, 60, 2000), classifier_scale(random),
                   {Schedule::step_decay, 0, random.uniform(0.3, 0.9), random.uniform(0.1, 0.4)},
                   healthy({"loss-plateau"}));
}

SimulatedRun cosine(Random& random) {
  return scheduled(random, any_axis(random, 40, 3000), any_scale(random),
                   {Schedule::cosine, random.pick({0.0, 0.03}), random.uniform(0.2, 0.9), random.uniform(0.05, 0.3)},
                   healthy({"loss-plateau"}));
}

SimulatedRun cooldown(Random& random) {
  return scheduled(random, step_axis(random, 200, 5000), language_scale(random),
                   {Schedule::stable_then_decay, 0.02, random.uniform(0.3, 0.9), random.uniform(0.1, 0.4)},
                   healthy({"loss-plateau"}));
}

/// Each restart lifts the loss by design.
SimulatedRun warm_restarts(Random& random) {
  return scheduled(random, any_axis(random, 80, 2000), classifier_scale(random),
                   {Schedule::warm_restarts, 0, random.uniform(0.4, 0.9), random.uniform(0.1, 0.4)},
                   healthy({"loss-plateau", "loss-spikes", "loss-oscillating"}));
}

SimulatedRun one_cycle(Random& random) {
  return scheduled(random, any_axis(random, 40, 1500), classifier_scale(random),
                   {Schedule::one_cycle, 0, random.uniform(0.4, 1.0), random.uniform(0.1, 0.4)},
                   healthy({"loss-plateau"}));
}

}  // namespace

std::vector<Family> healthy_schedules() {
  return {{"healthy-any-schedule", true, any_of_them},
          {"healthy-step-decay", true, step_decays},
          {"healthy-cosine", true, cosine},
          {"healthy-cooldown", true, cooldown},
          {"healthy-warm-restarts", true, warm_restarts},
          {"healthy-one-cycle", true, one_cycle}};
}

}  // namespace osler::simulate
