// Running the gallery's probes on the training of a recipe.
#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "osler/gallery/probe.h"
#include "osler/torch/monitor.h"
#include "osler/torch/training.h"

namespace osler::trainer {

using torch::Limits;
using torch::Monitor;
using torch::Training;

/// What a probe is run on.
struct ProbeSubject {
  Training training;
  Monitor* monitor = nullptr;  ///< takes the results; none where the training has not begun
  std::function<at::Tensor()> load_validation;
};

/// Runs a probe and tells the monitor, if there is one, what it found.
[[nodiscard]] gallery::ProbeAnswer run_probe(const gallery::Probe& probe, const ProbeSubject& subject,
                                             const Limits& limits,
                                             const std::function<void(const gallery::ProbeProgress&)>& on_progress);

}  // namespace osler::trainer
