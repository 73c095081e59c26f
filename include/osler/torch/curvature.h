// curvature(): how the loss bends around the weights: eigenvalues of its Hessian, layer by layer and in all.
#pragma once

#include <cstdint>

#include "osler/run/experiment.h"
#include "osler/torch/training.h"

namespace osler::torch {

/// How curvature is measured.
struct CurvatureOptions {
  int batches = 2;              ///< the Hessian is that of the mean loss over these; their graphs are kept meanwhile
  int most_products = 60;       ///< Hessian-vector products for the extreme eigenvalues of the whole
  double tolerance = 0.01;      ///< of each eigenvalue, as a share of its size
  int trace_samples = 16;       ///< random vectors for the trace; 0: none
  int products_per_layer = 12;  ///< for the largest eigenvalue of each layer's own block; 0: none
  bool differences = false;     ///< products by differences of gradients even where they can be had exactly
  bool evaluation_mode = true;  ///< false: dropout and batch statistics as in training
  /// A step along the gradient that gains less than this share of the loss makes the place stationary.
  double stationary_gain = 1e-3;
  /// An eigenvalue below minus this share of the largest is a way down and no rounding.
  double negative_share = 0.05;
  std::uint64_t seed = 1;  ///< of the random vectors
};

/// Probe `curvature`: the largest and the most negative eigenvalue of the Hessian by Lanczos, its trace by Hutchinson's
/// estimator with its standard error, both also for each layer's block, and what follows: whether the weights lie at a
/// minimum, on a saddle, on a plateau or still on a slope; and how near the step size is to the edge of stability (2 /
/// lr for plain gradient descent, with the corrections for momentum and for Adam's preconditioner). Fails on a saddle.
///
/// Values: loss, gradient-norm, gradient-signal (the part of it that batches agree on), gradient-gain (what the best
/// step along it would win, as a share of the loss), top-eigenvalue, lowest-eigenvalue, trace, stability-ratio (1 at
/// the edge), stability-limit, exact-products (0 when differences of gradients were used). Columns, a row for each
/// check's layer: layer-top-eigenvalue, layer-trace, layer-trace-error.
[[nodiscard]] Experiment curvature(const Training& training, const CurvatureOptions& options = {},
                                   const Limits& limits = {});

}  // namespace osler::torch
