// The gradient noise scale from the products of several gradients at the same weights.
#pragma once

#include <span>

#include "osler/run/experiment.h"

namespace osler::probes {

/// Writes values, outcome and verdict. `products` holds every product of two of the gradients, row by row; each
/// gradient is that of `batch_size` samples. A scale `factor` times the batch size means that steps are mostly noise.
void write_noise_scale(std::span<const double> products, double batch_size, double factor, Experiment& experiment);

/// Whether more gradients could decide what `write_noise_scale` left open.
[[nodiscard]] bool wants_more_gradients(const Experiment& experiment);

}  // namespace osler::probes
