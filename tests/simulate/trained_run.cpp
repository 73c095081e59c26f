// Sound settings for small trainings, and their logs.
#include "simulate/trained_run.h"

#include <algorithm>

#include "simulate/schedule.h"

namespace osler::simulate {
namespace {

Levels column(const std::vector<TrainedRow>& rows, double TrainedRow::*member) {
  Levels values;
  for (const TrainedRow& row : rows) values.push_back(row.*member);
  return values;
}

/// A log row for each few steps, or for each epoch.
void choose_rows(Random& random, const Task& task, Training& training) {
  const std::size_t epoch = std::max<std::size_t>(1, task.training / training.batch);
  if (random.chance(0.5)) {
    training.log_every = std::max<std::size_t>(epoch, training.steps / 150);
    return;
  }
  training.log_every = static_cast<std::size_t>(random.pick({2, 5, 10}));
  training.log_single_batches = random.chance(0.4);
  training.validate_every = std::max<std::size_t>(1, training.steps / training.log_every / 25);
}

}  // namespace

TrainedColumns any_columns(Random& random) {
  return {random.chance(0.75), random.chance(0.6), random.chance(0.6), random.chance(0.5)};
}

SimulatedRun run_of(Random& random, const std::vector<TrainedRow>& rows, const Training& training,
                    const TrainedColumns& columns, Truth truth) {
  Axis axis;
  for (const TrainedRow& row : rows) axis.steps.push_back(row.step);
  axis.validate_every = training.validate_every;
  axis.rows_per_epoch = training.validate_every;  // what these logs call an epoch ends with a validation
  Draft draft(random, axis);
  draft.add(Quantity::train_loss, column(rows, &TrainedRow::train_loss));
  if (columns.validation) draft.add(Quantity::validation_loss, column(rows, &TrainedRow::validation_loss));
  if (columns.accuracy) {
    draft.add(Quantity::train_accuracy, column(rows, &TrainedRow::train_accuracy));
    if (columns.validation) draft.add(Quantity::validation_accuracy, column(rows, &TrainedRow::validation_accuracy));
  }
  if (columns.rate) draft.add(Quantity::learning_rate, column(rows, &TrainedRow::rate));
  if (columns.gradient) draft.add(Quantity::gradient_norm, column(rows, &TrainedRow::gradient_norm));
  return draft.finish(std::move(truth));
}

Setup sound_setup(Random& random) {
  Setup setup;
  const auto classes = static_cast<std::size_t>(random.integer(2, 6));
  const double which = random.uniform();
  if (which < 0.4) {
    setup.task = blobs(random, classes, 8, 1500, random.uniform(0.4, 0.9));
  } else if (which < 0.7) {
    setup.task = spirals(random, std::min<std::size_t>(classes, 4), 1500, random.uniform(2.0, 4.0));
  } else {
    setup.task = regression(random, 6, 1500, random.uniform(0.1, 0.4));
  }
  setup.training.hidden = random.chance(0.5) ? std::vector<std::size_t>{32} : std::vector<std::size_t>{24, 24};
  setup.training.activation = random.pick({Activation::relu, Activation::tanh});
  setup.training.optimiser = random.pick({Optimiser::adam, Optimiser::momentum, Optimiser::sgd});
  switch (setup.training.optimiser) {
    case Optimiser::adam:
      setup.training.rate = random.log_uniform(1e-3, 5e-3);
      break;
    case Optimiser::momentum:
      setup.training.rate = random.log_uniform(3e-3, 2e-2);
      break;
    case Optimiser::sgd:
      setup.training.rate = random.log_uniform(0.03, 0.12);
      break;
  }
  setup.training.steps = static_cast<std::size_t>(random.integer(1000, 2500));
  choose_rows(random, setup.task, setup.training);
  return setup;
}

}  // namespace osler::simulate
