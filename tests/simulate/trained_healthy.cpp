// Healthy families that are trained for real.
#include <algorithm>

#include "simulate/family_lists.h"
#include "simulate/schedule.h"
#include "simulate/trained_run.h"

namespace osler::simulate {
namespace {

/// Whether validation ends clearly above its best: real training overfits a little now and then.
bool overfitted(const std::vector<TrainedRow>& rows) {
  std::vector<double> losses;
  for (const TrainedRow& row : rows) {
    if (row.validated) losses.push_back(row.validation_loss);
  }
  if (losses.size() < 6) return false;
  const double best = *std::min_element(losses.begin(), losses.end());
  const double end = (losses[losses.size() - 1] + losses[losses.size() - 2] + losses[losses.size() - 3]) / 3.0;
  return end > 1.04 * best;
}

SimulatedRun run_setup(Random& random, const Setup& setup, TrainedColumns columns, Truth truth) {
  columns.accuracy = columns.accuracy && setup.task.classifies();
  const std::vector<TrainedRow> rows = train(setup.task, setup.training, random);
  if (overfitted(rows)) {
    truth.tolerate.push_back("overfitting");
    truth.tolerate.push_back("overconfidence");
  }
  return run_of(random, rows, setup.training, columns, std::move(truth));
}

SimulatedRun sound(Random& random) {
  const Setup setup = sound_setup(random);
  return run_setup(random, setup, any_columns(random), healthy({"loss-plateau"}));
}

SimulatedRun scheduled(Random& random) {
  Setup setup = sound_setup(random);
  Axis axis;
  axis.steps.resize(setup.training.steps / setup.training.log_every);
  setup.training.factors = schedule_factors(random.pick({Schedule::cosine, Schedule::linear, Schedule::step_decay,
                                                         Schedule::stable_then_decay, Schedule::one_cycle}),
                                            axis, random.pick({0.0, 0.03}), random);
  TrainedColumns columns = any_columns(random);
  columns.rate = true;
  return run_setup(random, setup, columns, healthy({"loss-plateau"}));
}

SimulatedRun with_dropout(Random& random) {
  Setup setup = sound_setup(random);
  setup.training.dropout = random.uniform(0.1, 0.3);
  TrainedColumns columns = any_columns(random);
  columns.validation = true;
  return run_setup(random, setup, columns, healthy({"loss-plateau", "validation-better-than-training"}));
}

SimulatedRun batch_of_one(Random& random) {
  Setup setup = sound_setup(random);
  setup.training.batch = 1;
  setup.training.steps = 12'000;
  setup.training.optimiser = Optimiser::sgd;
  setup.training.rate = 0.01;
  setup.training.log_every = static_cast<std::size_t>(random.pick({4, 20, 60}));
  setup.training.log_single_batches = random.chance(0.6);
  setup.training.validate_every = setup.training.steps / setup.training.log_every / 20;
  return run_setup(random, setup, any_columns(random), healthy({"loss-plateau"}));
}

SimulatedRun linear_model(Random& random) {
  Setup setup;
  setup.task =
      random.chance(0.5) ? blobs(random, 3, 10, 2000, random.uniform(0.4, 0.8)) : regression(random, 10, 2000, 0.3);
  setup.training.hidden = {};
  setup.training.optimiser = Optimiser::sgd;
  setup.training.rate = random.log_uniform(0.01, 0.05);
  setup.training.steps = 2000;
  setup.training.log_every = static_cast<std::size_t>(random.pick({5, 20, 125}));
  return run_setup(random, setup, any_columns(random), healthy({"loss-plateau", "underfitting"}));
}

SimulatedRun recurrent(Random& random) {
  Recurrence plan;
  plan.init = random.uniform(0.9, 1.1);
  plan.clip = 1.0;
  plan.rate = 0.03;
  plan.length = static_cast<std::size_t>(random.integer(5, 10));
  plan.steps = 1200;
  plan.log_every = static_cast<std::size_t>(random.pick({4, 8, 20}));
  return run_of(random, train_recurrent(plan, random), Training(), {false, false, true, true},
                healthy({"loss-plateau", "clipping-always"}));
}

}  // namespace

std::vector<Family> trained_healthy() {
  return {{"trained-healthy-sound", true, sound},          {"trained-healthy-scheduled", true, scheduled},
          {"trained-healthy-dropout", true, with_dropout}, {"trained-healthy-batch-of-one", true, batch_of_one},
          {"trained-healthy-linear", true, linear_model},  {"trained-healthy-recurrent", true, recurrent}};
}

}  // namespace osler::simulate
