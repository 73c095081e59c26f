// How much the loss rises when the weights are moved a little.
#include "osler/torch/sharpness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "torch/probes/probe.h"
#include "torch/probes/surface_directions.h"

namespace osler::torch {
namespace {

using Outcome = Experiment::Outcome;

void require(const SharpnessOptions& options) {
  if (!(options.radius > 0) || options.repeats < 2 || options.batches < 1) {
    throw std::invalid_argument("sharpness: a radius above 0, at least 2 repeats and at least 1 batch are needed.");
  }
}

/// Mean, spread and an interval of two standard errors.
struct Rises {
  std::vector<double> values;

  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return values.empty() ? std::nan("") : sum / static_cast<double>(values.size());
  }
  [[nodiscard]] double spread() const {
    if (values.size() < 2) return 0;
    const double centre = mean();
    double squares = 0;
    for (const double value : values) squares += (value - centre) * (value - centre);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
  }
  [[nodiscard]] double error() const { return 2 * spread() / std::sqrt(static_cast<double>(values.size())); }
  [[nodiscard]] Experiment::Value named(std::string name) const {
    return {std::move(name), mean(), mean() - error(), mean() + error()};
  }
};

class Prodding {
 public:
  Prodding(SurfaceLoss& surface, const SharpnessOptions& options, const Clock& clock)
      : surface_(surface), options_(options), clock_(clock), source_(options.seed), base_(surface.value()) {}

  [[nodiscard]] double base() const { return base_; }

  [[nodiscard]] Rises random(DirectionScale scale) {
    Rises rises;
    for (int i = 0; i < options_.repeats; ++i) {
      rises.values.push_back(rise_at(source_.direction(surface_, scale) * options_.radius));
    }
    surface_.move_back();
    return rises;
  }

  /// Gradient ascent that stays within `radius` of each parameter, from the weights and from random places nearby.
  [[nodiscard]] Rises worst() {
    Rises rises;
    for (int i = 0; i < options_.ascents; ++i) {
      at::Tensor offset = i == 0 ? at::zeros_like(surface_.origin())
                                 : source_.direction(surface_, DirectionScale::tensor) * (options_.radius / 2);
      double highest = -HUGE_VAL;
      for (int k = 0; k < options_.ascent_steps; ++k) {
        surface_.move(offset);
        offset = climbed(offset, surface_.gradient());
        highest = std::max(highest, rise_at(offset));
      }
      rises.values.push_back(highest);
    }
    surface_.move_back();
    return rises;
  }

 private:
  [[nodiscard]] double rise_at(const at::Tensor& offset) {
    constexpr double kAgainstZero = 1e-8;
    clock_.check();
    surface_.move(offset);
    return (surface_.value() - base_) / (std::abs(base_) + kAgainstZero);
  }

  /// One step up, each parameter on its own, back onto its ball when it left it.
  [[nodiscard]] at::Tensor climbed(const at::Tensor& offset, const at::Tensor& gradient) const {
    constexpr double kAgainstZero = 1e-30;
    std::vector<at::Tensor> parts;
    for (const SurfaceLoss::Part& part : surface_.parts()) {
      const double radius = options_.radius * part.origin.norm().item<double>();
      const at::Tensor slope = gradient.slice(0, part.begin, part.end);
      at::Tensor moved =
          offset.slice(0, part.begin, part.end) + slope * (radius / (slope.norm().item<double>() + kAgainstZero));
      const double norm = moved.norm().item<double>();
      if (norm > radius) moved = moved * (radius / (norm + kAgainstZero));
      parts.push_back(moved);
    }
    return at::cat(parts);
  }

  SurfaceLoss& surface_;
  const SharpnessOptions& options_;
  const Clock& clock_;
  DirectionSource source_;
  double base_;
};

Outcome judged(const Rises& rises, const SharpnessOptions& options) {
  if (rises.mean() - rises.error() > options.threshold) return Outcome::failed;
  if (rises.mean() + rises.error() < options.threshold) return Outcome::passed;
  return Outcome::undecided;
}

std::string told(const Rises& plain, const Rises& worst, Outcome outcome, const SharpnessOptions& options) {
  std::string text = fmt::format(
      "Moving every weight tensor by {:.3g} % of its size in random directions raises the loss by {:.3g} % "
      "(+- {:.2g} over {} tries): ",
      100 * options.radius, 100 * plain.mean(), 100 * plain.error(), plain.values.size());
  text += outcome == Outcome::failed   ? "a sharp minimum."
          : outcome == Outcome::passed ? "flat around the weights."
                                       : "too close to the limit to say sharp or flat.";
  if (!worst.values.empty()) {
    const double highest = *std::max_element(worst.values.begin(), worst.values.end());
    text += fmt::format(" In the worst direction found it rises by {:.3g} %.", 100 * highest);
  }
  return text;
}

void measure(Prodding& prodding, const SharpnessOptions& options, Experiment& experiment) {
  const Rises plain = prodding.random(DirectionScale::tensor);
  const Rises filter = prodding.random(DirectionScale::filter);
  const Rises worst = prodding.worst();
  experiment.outcome = judged(plain, options);
  experiment.values.push_back(plain.named("ratio"));
  experiment.values.push_back({"ratio-spread", plain.spread(), {}, {}});
  experiment.values.push_back(filter.named("filter-ratio"));
  if (!worst.values.empty()) {
    const auto [least, most] = std::minmax_element(worst.values.begin(), worst.values.end());
    experiment.values.push_back({"worst-ratio", *most, *least, *most});
  }
  experiment.columns = {{"ratio", plain.values}, {"filter-ratio", filter.values}};
  experiment.verdict = told(plain, worst, experiment.outcome, options);
}

}  // namespace

Experiment sharpness(const Training& training, const SharpnessOptions& options, const Limits& limits) {
  require(options);
  return run_probe("sharpness", training, limits, [&](Experiment& experiment, Preserved&, const Clock& clock) {
    SurfaceLoss surface(training, options.batches, options.evaluation_mode);
    Prodding prodding(surface, options, clock);
    experiment.values = {{"loss", prodding.base(), {}, {}}, {"radius", options.radius, {}, {}}};
    if (std::isfinite(prodding.base())) {
      measure(prodding, options, experiment);
    } else {
      experiment.verdict = "The loss is not finite: there is no surface to measure.";
    }
  });
}

}  // namespace osler::torch
