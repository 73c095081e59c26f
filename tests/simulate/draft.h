// Draft: a run in the making: the rows of its log, the clean levels of its quantities, the noise on them, its style.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/simulated_run.h"

namespace osler::simulate {

/// One number per row of the log.
using Levels = std::vector<double>;

/// The rows of a log.
struct Axis {
  std::vector<std::int64_t> steps;  ///< the step each row is written at
  std::size_t rows_per_epoch = 1;   ///< 1: one row per epoch
  std::size_t validate_every = 1;   ///< rows from one validation to the next
  [[nodiscard]] std::size_t rows() const { return steps.size(); }
  /// How far training has come at a row, above 0 and at most 1.
  [[nodiscard]] double progress(std::size_t row) const {
    return static_cast<double>(row + 1) / static_cast<double>(rows());
  }
  [[nodiscard]] bool validates(std::size_t row) const { return (row + 1) % validate_every == 0; }
  [[nodiscard]] bool per_epoch() const { return rows_per_epoch == 1; }
};

/// One row per epoch, validated each time.
[[nodiscard]] Axis epoch_axis(Random& random, std::int64_t fewest, std::int64_t most);
/// One row every so many steps, validated rarely.
[[nodiscard]] Axis step_axis(Random& random, std::int64_t fewest, std::int64_t most);
/// Either of the two.
[[nodiscard]] Axis any_axis(Random& random, std::int64_t fewest, std::int64_t most);

/// What a loss of 0 and of 1 in normalised units mean in the log.
struct LossScale {
  double zero = 0;
  double unit = 1;
  int classes = 0;  ///< for classifiers and language models: the unit is ln(classes)
  [[nodiscard]] double operator()(double normalised) const { return zero + unit * normalised; }
};
[[nodiscard]] LossScale classifier_scale(Random& random);
[[nodiscard]] LossScale language_scale(Random& random);
[[nodiscard]] LossScale regression_scale(Random& random);  ///< anywhere from 1e-4 to 1e4
[[nodiscard]] LossScale negative_scale(Random& random);    ///< ends below zero, as an ELBO or a log-likelihood does
[[nodiscard]] LossScale any_scale(Random& random);
[[nodiscard]] LossScale positive_scale(Random& random);  ///< any but a negative one

/// How a logged number scatters around its level.
struct Noise {
  enum class Kind { gaussian, heavy, autocorrelated, skewed };
  Kind kind = Kind::gaussian;
  double relative = 0.02;  ///< standard deviation as a share of the level
  double absolute = 0;     ///< added to it, in normalised units
  double memory = 0;       ///< lag-1 correlation of an autocorrelated noise
  double periodic = 0;  ///< amplitude, as a share of the level, of what repeats in each epoch (the order of the data)
};
/// Noise as found in logs: small for epoch means, larger for single batches.
[[nodiscard]] Noise any_noise(Random& random, const Axis& axis);
/// `levels` with noise on them.
[[nodiscard]] Levels scattered(const Levels& levels, const Noise& noise, const Axis& axis, Random& random);
/// An exponential moving average, as many loggers write. `weight` is that of the past.
[[nodiscard]] Levels smoothed(const Levels& values, double weight);
/// The running mean since the start of the epoch, as progress bars show.
[[nodiscard]] Levels running_means(const Levels& values, const Axis& axis);

/// The axis with at least `fewest` validations, where a label rests on what they show.
[[nodiscard]] Axis well_validated(Axis axis, std::size_t fewest);

/// What a column of a log is.
enum class Quantity {
  train_loss,
  validation_loss,
  train_accuracy,
  validation_accuracy,
  learning_rate,
  gradient_norm,
  epoch,
  loss_scale,
  step_time,
};

/// A run in the making.
class Draft {
 public:
  Draft(Random& random, Axis axis) : random_(random), axis_(std::move(axis)) {}

  [[nodiscard]] const Axis& axis() const { return axis_; }
  /// Adds a column; validation quantities are written on validation rows only.
  Draft& add(Quantity quantity, const Levels& values);
  Draft& add(Quantity quantity, const Levels& values, const LossScale& scale);
  /// Adds a column under its own name, on every row or on validation rows only.
  Draft& add(const std::string& name, const Levels& values, bool on_validation = false);
  /// The finished run: a naming style and the printed precision are drawn, an epoch column may be added.
  [[nodiscard]] SimulatedRun finish(Truth truth);

 private:
  struct Column {
    Quantity quantity = Quantity::train_loss;
    std::string name;  // empty: named after the style
    bool on_validation = false;
    Levels values;
  };
  Random& random_;
  Axis axis_;
  std::vector<Column> columns_;
};

/// A healthy label; `tolerate` lists what would not be wrong to say.
[[nodiscard]] Truth healthy(std::vector<std::string> tolerate = {});
/// A sick label: the main finding, its causes (any is right), other findings that count as a hit, and what is true too.
[[nodiscard]] Truth sick(const std::string& finding, std::vector<std::string> causes,
                         std::vector<std::string> also_accept = {}, std::vector<std::string> tolerate = {});

}  // namespace osler::simulate
