// The checkup before a training: a list of what must be in place, each point passed or failed.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "osler/run/experiment.h"
#include "osler/run/run.h"
#include "osler/torch/overfit.h"
#include "osler/torch/training.h"

namespace osler::torch {

/// How the training saves itself and comes back, for the checkup to try.
struct CheckpointTrial {
  std::function<void()> save;              ///< writes a checkpoint as the training does
  std::function<void()> load;              ///< comes back from that checkpoint as a resumed training does
  std::function<void()> advance_schedule;  ///< one step of the learning rate schedule
};

/// What the checkup may know beyond the training itself. What is not given is reported as not checked.
struct CheckupOptions {
  std::optional<std::vector<std::int64_t>> output_shape;  ///< of one sample's output
  std::size_t batches = 8;                                ///< drawn of training and of validation
  std::function<at::Tensor()> load_validation;            ///< the same validation samples on every call, loaded afresh
  CheckpointTrial checkpoint;
  const Run* recorded = nullptr;  ///< a run that this training wrote, to see what is logged
  OverfitOptions overfit;
};

/// Runs every point of the list (probe "checkup"): one check each, `undecided` where something was not given or does
/// not apply. The outcome is `failed` when any point failed.
///
/// output-shape, first-loss, loss-falls, overfit-one-batch, inputs-finite, normalisation, labels, batches-shuffled,
/// disjoint-splits, validation-not-augmented, train-mode, scheduler-in-checkpoint, learning-rate-logged, zero-input,
/// every-parameter-learns, samples-independent, units-alive, initialisation, signal-propagation.
[[nodiscard]] Experiment checkup(const Training& training, const CheckupOptions& options = {},
                                 const Limits& limits = {});

/// For a program's exit: 0 passed, 1 failed, 2 without an answer.
[[nodiscard]] int exit_status(const Experiment& experiment);

}  // namespace osler::torch
