// The experiments that settle() can choose from, each cut to what may be spent.
#pragma once

#include <cstdint>
#include <string_view>

#include "osler/run/experiment.h"
#include "osler/torch/training.h"

namespace osler::torch {

/// Runs the probe of that name within about `passes` passes forward and backward.
[[nodiscard]] Experiment run_settling_test(std::string_view probe, const Training& training, std::int64_t passes,
                                           const Limits& limits);

}  // namespace osler::torch
