// sharpness(), loss_surface(): how the loss looks around the weights.
#pragma once

#include <cstdint>

#include "osler/run/experiment.h"
#include "osler/torch/training.h"

namespace osler::torch {

/// How sharpness is measured.
struct SharpnessOptions {
  double radius = 0.05;    ///< size of a perturbation, as a share of each parameter's norm
  double threshold = 0.1;  ///< relative rise of the loss from which a minimum counts as sharp
  int batches = 4;
  int repeats = 20;             ///< random perturbations, plain and filter-normalised each
  int ascents = 3;              ///< searches for the worst direction, from different starts; 0: none
  int ascent_steps = 5;         ///< gradient steps of each search
  bool evaluation_mode = true;  ///< false: dropout and batch statistics as in training
  std::uint64_t seed = 1;       ///< of the directions
};

/// Probe `sharpness`: the relative rise of the loss under random relative perturbations of the weights (value `ratio`),
/// under filter-normalised ones (`filter-ratio`, Li et al. 2018) and in the worst direction found by ascent within the
/// same ball (`worst-ratio`, Foret et al. 2021), with their spread over repeats. Fails when `ratio` is above the
/// threshold, and leaves it undecided where the spread does not allow to say.
[[nodiscard]] Experiment sharpness(const Training& training, const SharpnessOptions& options = {},
                                   const Limits& limits = {});

/// Where a loss surface is measured.
struct SurfaceOptions {
  int dimensions = 2;  ///< 1: along one direction, 2: over a plane
  int points = 21;     ///< along each direction; odd, so that the weights themselves are among them
  double span = 1;     ///< how far to go, in units of the weights' own size
  int batches = 2;
  bool evaluation_mode = true;
  std::uint64_t seed = 1;
};

/// Probe `loss-surface`: the loss along one or two random filter-normalised directions through the weights (Li et al.
/// 2018), as columns `a`, `b` (of a plane) and `loss`; osler plot --experiment loss-surface draws it. Passes when no
/// lower place was met.
[[nodiscard]] Experiment loss_surface(const Training& training, const SurfaceOptions& options = {},
                                      const Limits& limits = {});

}  // namespace osler::torch
