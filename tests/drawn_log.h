// A log whose length, distance of steps, names and digits are drawn, for properties over random runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include "osler/run/run.h"
#include "simulate/random.h"

namespace osler {

using simulate::Random;
using Curve = std::function<double(double)>;  // of the progress from 0 to 1

constexpr std::size_t kDraws = 60;

/// A log whose length, distance of steps, names and digits are drawn.
class Log {
 public:
  explicit Log(Random& random) : random_(random) {
    points_ = static_cast<std::size_t>(random.log_integer(24, 600));
    stride_ = random.pick<std::int64_t>({1, 1, 10, 50});
    digits_ = random.pick({5, 6, 7, 9});
    style_ = static_cast<std::size_t>(random.integer(0, 3));
  }

  [[nodiscard]] std::size_t points() const { return points_; }
  /// Makes it at least that long.
  void lengthen(std::size_t points) { points_ = std::max(points_, points); }
  /// Makes it exactly that long, with this distance between steps.
  void shorten(std::size_t points, std::int64_t stride) {
    points_ = points;
    stride_ = stride;
  }

  /// Adds a series; `noise` is relative to each value.
  Log& add(const std::string& name, double noise, const Curve& at) {
    const SeriesId id = run_.series(name);
    for (std::size_t i = 0; i < points_; ++i) {
      const double x = static_cast<double>(i) / static_cast<double>(points_ - 1);
      const double value = at(x) * (1 + noise * random_.normal());
      run_.add(Event{id, static_cast<std::int64_t>(i) * stride_, kNoTime, rounded(value)});
    }
    return *this;
  }
  /// The same at every `every`-th point only.
  Log& evaluate(const std::string& name, std::size_t every, double noise, const Curve& at) {
    const SeriesId id = run_.series(name);
    for (std::size_t i = 0; i < points_; i += every) {
      const double x = static_cast<double>(i) / static_cast<double>(points_ - 1);
      run_.add(
          Event{id, static_cast<std::int64_t>(i) * stride_, kNoTime, rounded(at(x) * (1 + noise * random_.normal()))});
    }
    return *this;
  }
  Log& configure(const std::string& key, const std::string& value) {
    run_.config(key, value);
    return *this;
  }

  [[nodiscard]] std::string loss() const { return kLoss[style_]; }
  [[nodiscard]] std::string accuracy() const { return kAccuracy[style_]; }
  [[nodiscard]] std::string validation_loss() const { return kValidationLoss[style_]; }
  [[nodiscard]] std::string validation_accuracy() const { return kValidationAccuracy[style_]; }
  [[nodiscard]] std::string rate() const { return kRate[style_]; }
  [[nodiscard]] std::string norm() const { return kNorm[style_]; }
  [[nodiscard]] const Run& run() const { return run_; }

 private:
  static constexpr const char* kLoss[] = {"train/loss", "loss", "train_loss", "Loss/train"};
  static constexpr const char* kAccuracy[] = {"train/accuracy", "accuracy", "train_acc", "Acc/train"};
  static constexpr const char* kValidationLoss[] = {"val/loss", "val_loss", "eval_loss", "Loss/val"};
  static constexpr const char* kValidationAccuracy[] = {"val/accuracy", "val_accuracy", "eval_accuracy", "Acc/val"};
  static constexpr const char* kRate[] = {"train/lr", "learning_rate", "lr", "LR"};
  static constexpr const char* kNorm[] = {"train/grad_norm", "grad_norm", "gradient_norm", "total_grad_norm"};

  [[nodiscard]] double rounded(double value) const {
    if (value == 0 || !std::isfinite(value)) return value;
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) + 1 - digits_);
    return std::round(value / unit) * unit;
  }

  Random& random_;
  Run run_;
  std::size_t points_ = 0;
  std::int64_t stride_ = 1;
  int digits_ = 6;
  std::size_t style_ = 0;
};

}  // namespace osler
