// From the rows of a real small training to a simulated run.
#pragma once

#include "simulate/draft.h"
#include "simulate/trainer.h"

namespace osler::simulate {

/// Which columns the log of a training shows; drawn at random unless a family needs one.
struct TrainedColumns {
  bool validation = true;
  bool accuracy = true;
  bool rate = true;
  bool gradient = true;
};
[[nodiscard]] TrainedColumns any_columns(Random& random);

/// The run whose log holds these rows.
[[nodiscard]] SimulatedRun run_of(Random& random, const std::vector<TrainedRow>& rows, const Training& training,
                                  const TrainedColumns& columns, Truth truth);

/// How a network that learns well is trained on some task of moderate difficulty.
struct Setup {
  Task task;
  Training training;
};
[[nodiscard]] Setup sound_setup(Random& random);

}  // namespace osler::simulate
