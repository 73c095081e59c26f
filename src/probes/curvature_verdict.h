// What eigenvalues, trace and gradient say of the place where the weights are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "osler/run/experiment.h"
#include "probes/krylov.h"

namespace osler::probes {

/// What kind of place it is.
enum class Ground { slope, minimum, saddle, plateau };

/// How a place is told.
struct GroundOptions {
  double stationary_gain = 1e-3;  ///< a step along the gradient that gains less of the loss makes it stationary
  double negative_share = 0.05;   ///< an eigenvalue below minus this share of the largest is a way down
};

/// The measurements of one place.
struct CurvatureFacts {
  double loss = 0;
  double gradient_norm = 0;
  double gradient_signal = 0;  ///< the part of the squared gradient that all batches agree on
  double weights = 0;          ///< norm of all weights
  KrylovEnds ends = {};
};

/// A sample of v . Hv of the whole and of every layer's block, one row for each random vector v of signs; the whole
/// comes first.
using TraceSamples = std::vector<std::vector<double>>;

/// The curvature of one layer's block.
struct LayerCurvature {
  std::string layer;
  std::optional<double> top;  ///< its largest eigenvalue, where it was asked for
};

/// The part of a squared gradient that several batches agree on, from the square of their sum and the sum of squares.
[[nodiscard]] double squared_signal(double square_of_sum, double sum_of_squares, std::size_t batches);

/// By what could be gained along the gradient and along the most negative curvature.
[[nodiscard]] Ground ground_of(const CurvatureFacts& facts, const GroundOptions& options);

/// Whether bends along one direction, measured on other batches, lie below zero beyond their noise.
[[nodiscard]] bool bends_down(const std::vector<double>& bends);

/// Adds the values of the place, of the trace and of the layers.
void write_curvature(const CurvatureFacts& facts, bool exact, const TraceSamples& traces,
                     const std::vector<LayerCurvature>& layers, Experiment& experiment);
/// Writes outcome and verdict. `by_chance`: the way down is one of these batches alone.
void write_ground(const CurvatureFacts& facts, Ground ground, bool by_chance, const GroundOptions& options,
                  Experiment& experiment);
/// Adds how near steps are to the edge of stability: `top` of the curvature as they see it, `limit` what they bear.
void write_stability(double top, double limit, double learning_rate, const std::string& words, Experiment& experiment);

}  // namespace osler::probes
