// Lanczos: the extreme eigenvalues of a symmetric matrix that is known only by its products with vectors.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>

namespace osler::torch {

/// The ends of a spectrum. Each true end lies beyond the value given, or an eigenvalue lies within the error of it.
struct SpectrumEnds {
  double lowest = 0;
  double lowest_error = 0;
  double highest = 0;
  double highest_error = 0;
  int products = 0;
  bool converged = false;       ///< both errors are below the tolerance
  at::Tensor lowest_direction;  ///< of length 1; its product with itself through the matrix is `lowest`
};

struct LanczosOptions {
  int most_products = 60;
  double tolerance = 0.01;  ///< of each end, as a share of its size
};

/// Runs Lanczos from `start` with full reorthogonalisation, which keeps the computed ends from repeating themselves.
[[nodiscard]] SpectrumEnds spectrum_ends(const std::function<at::Tensor(const at::Tensor&)>& product,
                                         const at::Tensor& start, const LanczosOptions& options = {});

/// The largest number of vectors of `size` numbers that may be kept at once.
[[nodiscard]] int most_vectors(std::int64_t size);

}  // namespace osler::torch
