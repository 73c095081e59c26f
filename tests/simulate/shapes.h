// Shapes: formulas for clean curves, in units where a loss starts near 1.
#pragma once

#include "simulate/draft.h"

namespace osler::simulate {

/// A falling curve: a power law, an exponential, or their sum, drawn at random.
struct Descent {
  double start = 1;
  double floor = 0.2;
  double power = 0.5;      ///< exponent of the power law
  double stretch = 100;    ///< how far the power law runs: (1 + stretch)^-power is left at the end
  double rate = 5;         ///< e-folds of the exponential over the whole run
  double exponential = 0;  ///< share of the exponential, 0 to 1
  [[nodiscard]] double operator()(double progress) const;
};
[[nodiscard]] Descent any_descent(Random& random);
/// One that still falls visibly in the middle of the run.
[[nodiscard]] Descent steady_descent(Random& random);
/// The descent at every row.
[[nodiscard]] Levels along(const Descent& descent, const Axis& axis);

/// `shape(progress)` at every row.
template <typename Shape>
[[nodiscard]] Levels rows_of(const Axis& axis, Shape shape) {
  Levels levels(axis.rows());
  for (std::size_t row = 0; row < levels.size(); ++row) levels[row] = shape(axis.progress(row));
  return levels;
}

/// A smooth step from 0 to 1 around `at`, `width` wide.
[[nodiscard]] double smooth_step(double progress, double at, double width);

/// An accuracy that goes with a loss: chance at 1, `best` at the floor; counted on `samples` examples each time.
struct AccuracyModel {
  int classes = 10;
  double best = 0.95;
  double bend = 1.0;
  std::int64_t samples = 2000;
};
[[nodiscard]] Levels accuracies(const Levels& losses, double floor, const AccuracyModel& model, Random& random);

/// Gradient norms that look healthy: they follow the loss a little, drift, and have a heavy right tail.
[[nodiscard]] Levels gradient_norms(const Levels& losses, Random& random);

/// The parts of an ordinary supervised run, clean and normalised. draft() adds noise, smoothing and the usual columns.
struct Ordinary {
  Axis axis;
  LossScale scale;
  Levels train;
  Levels validation;  ///< empty: none logged
  Noise noise;
  Noise validation_noise;
  Levels rates;     ///< learning rates; empty: not logged
  Levels gradient;  ///< gradient norms; empty: not logged
  double floor = 0.2;
  double best_accuracy = 0;   ///< 0: no accuracies
  double smoothing = 0;       ///< weight of the past in the logged training loss
  bool running_mean = false;  ///< the logged training loss is a mean since the start of the epoch
};
/// Noise, log habits and companions as found in the wild, for clean training and validation levels.
[[nodiscard]] Ordinary ordinary(Random& random, Axis axis, const LossScale& scale, Levels train, Levels validation);
[[nodiscard]] Draft draft_of(Random& random, const Ordinary& run);

/// Validation levels for a healthy run: the training levels, late and with a gap that grows to its final width.
[[nodiscard]] Levels healthy_validation(Random& random, const Levels& train);

}  // namespace osler::simulate
