// Random directions in the space of weights, scaled so that nets of different scale can be compared.
#pragma once

#include <ATen/ATen.h>

#include "torch/probes/surface_loss.h"

namespace osler::torch {

/// How a random direction is scaled.
enum class DirectionScale {
  tensor,  ///< each parameter's part has the parameter's norm
  filter,  ///< each filter's (row's) part has the filter's norm, and biases and scales stay (Li et al. 2018)
};

/// Random numbers of an experiment's own, so that those of the model do not move. The same seed gives the same ones.
class DirectionSource {
 public:
  explicit DirectionSource(std::uint64_t seed);

  /// A flat direction of Gaussian entries, scaled.
  [[nodiscard]] at::Tensor direction(const SurfaceLoss& surface, DirectionScale scale);
  /// A flat vector of Gaussian entries.
  [[nodiscard]] at::Tensor gaussian(const SurfaceLoss& surface);
  /// A flat vector of +1 and -1.
  [[nodiscard]] at::Tensor signs(const SurfaceLoss& surface);

 private:
  at::Generator generator_;
};

}  // namespace osler::torch
