// gradient_noise_scale(), update_ratios(): which batch size and which learning rates the gradients themselves suggest.
#pragma once

#include <cstdint>

#include <optional>

#include "osler/run/experiment.h"
#include "osler/torch/training.h"

namespace osler::torch {

/// How the gradient noise scale is measured.
struct NoiseScaleOptions {
  int batches = 16;    ///< gradients at the same weights to begin with; fewer where memory would not hold them
  double factor = 20;  ///< a noise scale this many times the batch size means that steps are mostly noise
  int most = 256;      ///< gradients in all: twice as many again are taken for as long as they leave the question open
};

/// Probe `gradient-noise-scale`: the batch size at which noise and signal of a gradient are equal (McCandlish et al.
/// 2018; value `noise-scale` with an interval from the jackknife), and the batch size that it suggests: larger ones
/// waste samples, smaller ones waste steps. The first dimension of a batch's inputs is taken for its samples. Fails
/// when steps are mostly noise; undecided when the gradients have nothing in common, or when the interval holds the
/// limit (value `gradients-needed`: how many would decide).
[[nodiscard]] Experiment gradient_noise_scale(const Training& training, const NoiseScaleOptions& options = {},
                                              const Limits& limits = {});

/// How a learning rate follows the batch size.
enum class BatchScaling {
  linear,       ///< for SGD, up to the noise scale (Goyal et al. 2017)
  square_root,  ///< for Adam and its kin (Malladi et al. 2022)
};
/// The learning rate for batches of `new_batch` samples that goes with `learning_rate` for batches of `batch`. Throws
/// std::invalid_argument when a size is not above zero.
[[nodiscard]] double scaled_learning_rate(double learning_rate, double batch, double new_batch,
                                          BatchScaling scaling = BatchScaling::linear);

/// How update ratios are measured.
struct UpdateRatioOptions {
  /// Relative change of a weight tensor in one step. By itself what is usual for the optimizer: 1e-3 for gradient
  /// descent (Karpathy), 5e-3 for Adam and its like, whose first steps move every element by the whole rate.
  std::optional<double> target = {};
  double tolerance = 30;  ///< a ratio this many times above or below the target fails
  int steps = 5;          ///< optimizer steps; the median counts
};

/// Probe `update-ratios`: how far one step changes each weight tensor relative to its norm, and the learning rate at
/// which that would be `target`. A check for each weight, and the columns `update-ratio` and `learning-rate`.
[[nodiscard]] Experiment update_ratios(const Training& training, const UpdateRatioOptions& options = {},
                                       const Limits& limits = {});

}  // namespace osler::torch
