// How much the loss rises when the weights are moved a little.
#include "osler/torch/sharpness.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "probes/surface_verdict.h"
#include "torch/probes/probe.h"
#include "torch/probes/surface_directions.h"

namespace osler::torch {
namespace {

void require(const SharpnessOptions& options) {
  if (!(options.radius > 0) || options.repeats < 2 || options.batches < 1) {
    throw std::invalid_argument("sharpness: a radius above 0, at least 2 repeats and at least 1 batch are needed.");
  }
}

class Prodding {
 public:
  Prodding(SurfaceLoss& surface, const SharpnessOptions& options, const Clock& clock)
      : surface_(surface), options_(options), clock_(clock), source_(options.seed), base_(surface.value()) {}

  [[nodiscard]] double base() const { return base_; }

  [[nodiscard]] std::vector<double> random(DirectionScale scale) {
    std::vector<double> rises;
    for (int i = 0; i < options_.repeats; ++i) {
      rises.push_back(rise_at(source_.direction(surface_, scale) * options_.radius));
    }
    surface_.move_back();
    return rises;
  }

  /// Gradient ascent that stays within `radius` of each parameter, from the weights and from random places nearby.
  [[nodiscard]] std::vector<double> worst() {
    std::vector<double> rises;
    for (int i = 0; i < options_.ascents; ++i) {
      at::Tensor offset = i == 0 ? at::zeros_like(surface_.origin())
                                 : source_.direction(surface_, DirectionScale::tensor) * (options_.radius / 2);
      double highest = -HUGE_VAL;
      for (int k = 0; k < options_.ascent_steps; ++k) {
        surface_.move(offset);
        offset = climbed(offset, surface_.gradient());
        highest = std::max(highest, rise_at(offset));
      }
      rises.push_back(highest);
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

}  // namespace

Experiment sharpness(const Training& training, const SharpnessOptions& options, const Limits& limits) {
  require(options);
  return run_probe("sharpness", training, limits, [&](Experiment& experiment, Preserved&, const Clock& clock) {
    SurfaceLoss surface(training, options.batches, options.evaluation_mode);
    Prodding prodding(surface, options, clock);
    experiment.values = {{"loss", prodding.base(), {}, {}}, {"radius", options.radius, {}, {}}};
    if (std::isfinite(prodding.base())) {
      probes::SharpnessFacts facts{options.radius, options.threshold};
      facts.plain = prodding.random(DirectionScale::tensor);
      facts.filter = prodding.random(DirectionScale::filter);
      facts.worst = prodding.worst();
      probes::write_sharpness(facts, experiment);
    } else {
      experiment.verdict = "The loss is not finite: there is no surface to measure.";
    }
  });
}

}  // namespace osler::torch
