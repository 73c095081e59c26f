// Lanczos: the extreme eigenvalues of a symmetric matrix that is known only by its products with vectors.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>

#include "probes/krylov.h"

namespace osler::torch {

/// The ends of a spectrum, and where the lowest one points.
struct SpectrumEnds : probes::KrylovEnds {
  int products = 0;
  at::Tensor lowest_direction;  ///< of length 1; its product with itself through the matrix is `lowest`
};

struct LanczosOptions {
  int most_products = 60;
  double tolerance = 0.01;  ///< of each end, as a share of its size
};

/// Runs Lanczos from `start` with full reorthogonalisation, which keeps the computed ends from repeating themselves.
[[nodiscard]] SpectrumEnds spectrum_ends(const std::function<at::Tensor(const at::Tensor&)>& product,
                                         const at::Tensor& start, const LanczosOptions& options = {});

}  // namespace osler::torch
