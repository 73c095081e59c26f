// Treating a LibTorch training by machine: the remedies of its report, tried in short forks from the same start.
#pragma once

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "osler/probes/treat.h"
#include "osler/torch/training.h"

namespace osler::torch {

/// A training with everything it is made of. What the functions of `training` use must live as long as they do: keep it
/// in them, as shared pointers.
struct BuiltTraining {
  std::shared_ptr<::torch::nn::Module> model;
  std::shared_ptr<::torch::optim::Optimizer> optimizer;
  Training training;  ///< of this model and optimizer
};

/// Builds the training anew, with the changes of settings that it knows by name. The learning rate ("lr") and clipping
/// ("clip_norm") it may leave alone: treat() sees to them.
using Factory = std::function<BuiltTraining(const probes::Changes& changes)>;

/// How forks are run.
struct ForkOptions {
  std::vector<std::string> can_change = {};  ///< names of settings that the factory knows, beside "lr" and "clip_norm"
  std::int64_t steps = 200;
  std::uint64_t seed = 1;               ///< the same for every fork, before the factory is called
  std::int64_t validation_batches = 4;  ///< over which a fork is judged; the end of training where there are none
};

/// Tries the remedies of `report` on what `factory` builds and keeps what measurably helps.
[[nodiscard]] probes::Cure treat(const Report& report, const Factory& factory, const ForkOptions& forks = {},
                                 const probes::TreatOptions& options = {});

}  // namespace osler::torch
