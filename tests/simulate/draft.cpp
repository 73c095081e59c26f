// Rows, scales, noise and the writing style of simulated logs.
#include "simulate/draft.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace osler::simulate {
namespace {

/// How one kind of logger names the quantities, in the order of Quantity.
using Names = std::array<const char*, 9>;
constexpr std::array<Names, 9> kStyles = {{
    {"loss", "val_loss", "accuracy", "val_accuracy", "lr", "grad_norm", "epoch", "loss_scale", "step_time"},
    {"train_loss", "val_loss", "train_acc", "val_acc", "lr-AdamW", "grad_norm", "epoch", "loss_scale", "step_time"},
    {"train/loss", "eval/loss", "train/accuracy", "eval/accuracy", "train/learning_rate", "train/grad_norm",
     "train/epoch", "train/loss_scale", "train/step_time"},
    {"loss", "eval_loss", "accuracy", "eval_accuracy", "learning_rate", "grad_norm", "epoch", "loss_scale",
     "step_time"},
    {"Loss/train", "Loss/val", "Accuracy/train", "Accuracy/val", "LR", "grad_norm", "epoch", "loss_scale", "step_time"},
    {"train/loss", "val/loss", "train/acc", "val/acc", "lr", "grad_norm", "epoch", "scaler/scale", "step_time"},
    {"lm loss", "lm loss validation", "accuracy", "validation accuracy", "learning-rate", "grad-norm", "epoch",
     "loss-scale", "iteration-time"},
    {"train_loss", "valid_loss", "train_accuracy", "valid_accuracy", "learning_rate", "gnorm", "epoch", "loss_scale",
     "step_time"},
    {"training_loss", "validation_loss", "training_accuracy", "validation_accuracy", "lr", "grad_norm", "epoch",
     "loss_scale", "step_time"},
}};

constexpr double kTail = 6.0;    // batches scatter, but a jump beyond this is a spike and belongs to the sick
constexpr double kLeast = 0.03;  // the least share of its level that noise leaves of a positive loss

bool is_validation(Quantity quantity) {
  return quantity == Quantity::validation_loss || quantity == Quantity::validation_accuracy;
}

/// The precision a log prints: so many decimals where the values are large enough for it, else significant digits.
struct Precision {
  int significant = 6;
  int decimals = 0;  // 0: significant digits only
};

/// Below this a fixed number of decimals would print most values alike.
constexpr double kSmallestForDecimals = 0.1;

Precision for_column(Precision precision, const Levels& values) {
  const bool large =
      std::all_of(values.begin(), values.end(), [](double value) { return !(std::abs(value) < kSmallestForDecimals); });
  if (!large) precision.decimals = 0;
  return precision;
}

double printed(double value, Precision precision) {
  if (!std::isfinite(value) || value == 0.0) return value;
  const double places =
      precision.decimals > 0 ? precision.decimals : precision.significant - 1 - std::floor(std::log10(std::abs(value)));
  const double shift = std::pow(10.0, places);
  const double rounded = std::round(value * shift) / shift;
  return std::isfinite(rounded) ? rounded : value;
}

std::size_t per_validation(Random& random, std::size_t rows) {
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(2, rows / 8));
  return static_cast<std::size_t>(random.log_integer(1, most));
}

}  // namespace

Axis epoch_axis(Random& random, std::int64_t fewest, std::int64_t most) {
  Axis axis;
  const std::int64_t first = random.integer(0, 1);
  const std::int64_t stride = random.chance(0.6) ? 1 : random.log_integer(10, 2000);  // epochs, or their global steps
  const std::int64_t rows = random.log_integer(fewest, most);
  for (std::int64_t i = 0; i < rows; ++i) axis.steps.push_back((i + first) * stride);
  return axis;
}

Axis step_axis(Random& random, std::int64_t fewest, std::int64_t most) {
  Axis axis;
  const std::int64_t stride = random.pick<std::int64_t>({1, 1, 1, 5, 10, 10, 20, 50, 100, 500});
  const std::int64_t first = random.chance(0.5) ? stride : 0;
  const std::int64_t rows = random.log_integer(fewest, most);
  for (std::int64_t i = 0; i < rows; ++i) axis.steps.push_back(first + i * stride);
  axis.rows_per_epoch = static_cast<std::size_t>(std::max<std::int64_t>(2, rows / random.log_integer(1, 60)));
  axis.validate_every = random.chance(0.5) ? axis.rows_per_epoch : per_validation(random, axis.rows());
  return axis;
}

Axis any_axis(Random& random, std::int64_t fewest, std::int64_t most) {
  return random.chance(0.4) ? epoch_axis(random, fewest, std::min<std::int64_t>(most, 400))
                            : step_axis(random, std::max<std::int64_t>(fewest, 40), most);
}

Axis well_validated(Axis axis, std::size_t fewest) {
  axis.validate_every = std::clamp<std::size_t>(axis.validate_every, 1, std::max<std::size_t>(1, axis.rows() / fewest));
  return axis;
}

LossScale classifier_scale(Random& random) {
  const int classes = random.pick({2, 2, 3, 4, 5, 6, 10, 10, 20, 50, 100, 1000});
  return {0.0, std::log(static_cast<double>(classes)), classes};
}

LossScale language_scale(Random& random) {
  const int classes = random.pick({65, 256, 8000, 32000, 50257, 128256});
  return {0.0, std::log(static_cast<double>(classes)), classes};
}

LossScale regression_scale(Random& random) {
  return {0.0, random.log_uniform(1e-4, 1e4), 0};
}

LossScale negative_scale(Random& random) {
  const double unit = random.log_uniform(0.1, 1e4);
  return {-unit * random.uniform(0.4, 3.0), unit, 0};
}

LossScale any_scale(Random& random) {
  const double which = random.uniform();
  if (which < 0.4) return classifier_scale(random);
  if (which < 0.6) return language_scale(random);
  return which < 0.9 ? regression_scale(random) : negative_scale(random);
}

LossScale positive_scale(Random& random) {
  LossScale scale = any_scale(random);
  while (scale.zero < 0) scale = any_scale(random);
  return scale;
}

Noise any_noise(Random& random, const Axis& axis) {
  Noise noise;
  noise.kind = random.pick({Noise::Kind::gaussian, Noise::Kind::gaussian, Noise::Kind::heavy,
                            Noise::Kind::autocorrelated, Noise::Kind::skewed});
  noise.relative = axis.per_epoch() ? random.log_uniform(0.001, 0.03) : random.log_uniform(0.004, 0.15);
  noise.absolute = random.chance(0.5) ? 0.0 : noise.relative * random.uniform(0.02, 0.2);
  noise.memory = noise.kind == Noise::Kind::autocorrelated ? random.uniform(0.2, 0.9) : 0.0;
  if (!axis.per_epoch() && random.chance(0.2)) noise.periodic = random.log_uniform(0.002, 0.03);
  return noise;
}

Levels scattered(const Levels& levels, const Noise& noise, const Axis& axis, Random& random) {
  Levels pattern(axis.rows_per_epoch);
  for (double& value : pattern) value = random.normal();
  Levels values = levels;
  double carried = random.normal();
  for (std::size_t row = 0; row < values.size(); ++row) {
    const double level = std::abs(levels[row]);
    double draw = noise.kind == Noise::Kind::heavy ? std::clamp(random.heavy(), -kTail, kTail) : random.normal();
    carried = noise.memory * carried + std::sqrt(1.0 - noise.memory * noise.memory) * draw;
    if (noise.kind == Noise::Kind::autocorrelated) draw = carried;
    if (noise.kind == Noise::Kind::skewed) {
      const double sigma = noise.relative;
      values[row] += level * (std::exp(sigma * draw - 0.5 * sigma * sigma) - 1.0) + noise.absolute * std::abs(draw);
    } else {
      values[row] += (noise.relative * level + noise.absolute) * draw;
    }
    values[row] += noise.periodic * level * pattern[row % axis.rows_per_epoch];
    if (levels[row] > 0.0)
      values[row] = std::max(values[row], kLeast * level);  // a loss does not change its sign by chance
  }
  return values;
}

Levels smoothed(const Levels& values, double weight) {
  Levels result = values;
  for (std::size_t row = 1; row < values.size(); ++row) {
    result[row] = weight * result[row - 1] + (1.0 - weight) * values[row];
  }
  return result;
}

Levels running_means(const Levels& values, const Axis& axis) {
  Levels result = values;
  double sum = 0;
  for (std::size_t row = 0; row < values.size(); ++row) {
    const std::size_t within = row % axis.rows_per_epoch;
    sum = within == 0 ? values[row] : sum + values[row];
    result[row] = sum / static_cast<double>(within + 1);
  }
  return result;
}

Draft& Draft::add(Quantity quantity, const Levels& values) {
  columns_.push_back({quantity, "", is_validation(quantity), values});
  return *this;
}

Draft& Draft::add(Quantity quantity, const Levels& values, const LossScale& scale) {
  Levels scaled = values;
  for (double& value : scaled) value = scale(value);
  return add(quantity, scaled);
}

Draft& Draft::add(const std::string& name, const Levels& values, bool on_validation) {
  columns_.push_back({Quantity::train_loss, name, on_validation, values});
  return *this;
}

SimulatedRun Draft::finish(Truth truth) {
  const Names& names = kStyles[static_cast<std::size_t>(random_.integer(0, kStyles.size() - 1))];
  const Precision precision{random_.pick({4, 5, 6, 8, 16}), random_.chance(0.3) ? random_.pick({3, 4}) : 0};
  SimulatedRun run;
  run.truth = std::move(truth);
  if (random_.chance(0.4)) {
    Levels epochs(axis_.rows());
    for (std::size_t row = 0; row < epochs.size(); ++row) {
      epochs[row] = std::floor(static_cast<double>(row) / static_cast<double>(axis_.rows_per_epoch));
    }
    columns_.push_back({Quantity::epoch, "", false, std::move(epochs)});
  }
  for (const Column& column : columns_) {
    const Precision digits = for_column(precision, column.values);
    Curve curve;
    curve.name = column.name.empty() ? names[static_cast<std::size_t>(column.quantity)] : column.name;
    for (std::size_t row = 0; row < axis_.rows() && row < column.values.size(); ++row) {
      if (column.on_validation && !axis_.validates(row)) continue;
      curve.samples.push_back({axis_.steps[row], printed(column.values[row], digits)});
    }
    run.curves.push_back(std::move(curve));
  }
  return run;
}

Truth healthy(std::vector<std::string> tolerate) {
  Truth truth;
  truth.tolerate = std::move(tolerate);
  return truth;
}

Truth sick(const std::string& finding, std::vector<std::string> causes, std::vector<std::string> also_accept,
           std::vector<std::string> tolerate) {
  Truth truth;
  truth.healthy = false;
  truth.finding = finding;
  truth.accept = std::move(also_accept);
  truth.accept.insert(truth.accept.begin(), finding);
  truth.tolerate = std::move(tolerate);
  truth.causes = std::move(causes);
  return truth;
}

}  // namespace osler::simulate
