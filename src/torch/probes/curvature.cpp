// Eigenvalues and trace of the Hessian, and what they say of the place where the weights are.
#include "osler/torch/curvature.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "probes/curvature_verdict.h"
#include "torch/probes/curvature_product.h"
#include "torch/probes/curvature_stability.h"
#include "torch/probes/lanczos.h"
#include "torch/probes/probe.h"
#include "torch/probes/surface_directions.h"

namespace osler::torch {
namespace {

constexpr int kFreshBatches = 8;  // on which a way down must be seen again

void require(const CurvatureOptions& options) {
  if (options.batches < 1 || options.most_products < 3 || options.trace_samples < 0 || options.trace_samples == 1) {
    throw std::invalid_argument(
        "curvature: at least 1 batch, 3 products, and no or at least 2 samples for the trace are needed.");
  }
}

/// The part of the squared gradient that all batches agree on; the rest is noise of the batches.
double signal_of(const std::vector<at::Tensor>& gradients) {
  const at::Tensor all = at::stack(gradients).to(at::kDouble);
  return probes::squared_signal(all.sum(0).square().sum().item<double>(), all.square().sum().item<double>(),
                                gradients.size());
}

class Survey {
 public:
  Survey(SurfaceLoss& surface, const CurvatureOptions& options, const Clock& clock)
      : surface_(surface),
        options_(options),
        clock_(clock),
        product_(surface, options.differences),
        source_(options.seed),
        blocks_(surface.blocks()) {}

  [[nodiscard]] const HessianProduct& product() const { return product_; }

  [[nodiscard]] SpectrumEnds whole() {
    return spectrum_ends([&](const at::Tensor& v) { return times(v); }, source_.gaussian(surface_), lanczos());
  }
  /// Of the Hessian with `scale` on both sides.
  [[nodiscard]] SpectrumEnds scaled(const at::Tensor& scale) {
    return spectrum_ends([&](const at::Tensor& v) { return scale * times(scale * v); }, source_.gaussian(surface_),
                         lanczos());
  }
  /// Of the block of one layer.
  [[nodiscard]] SpectrumEnds within(const SurfaceLoss::Block& block) {
    LanczosOptions options = lanczos();
    options.most_products = options_.products_per_layer;
    const at::Tensor start = source_.gaussian(surface_).slice(0, block.begin, block.end);
    const auto part = [&](const at::Tensor& v) {
      at::Tensor padded = at::zeros({surface_.size()}, v.options());
      padded.slice(0, block.begin, block.end).copy_(v);
      return times(padded).slice(0, block.begin, block.end);
    };
    return spectrum_ends(part, start, options);
  }

  /// With signs v, v . Hv summed over a block has that block's trace as its mean, so one product serves all of them.
  [[nodiscard]] probes::TraceSamples traces() {
    probes::TraceSamples samples;
    for (int i = 0; i < options_.trace_samples; ++i) {
      const at::Tensor signs = source_.signs(surface_);
      const at::Tensor terms = signs * times(signs);
      std::vector<double>& row = samples.emplace_back();
      row.push_back(terms.sum(at::kDouble).item<double>());
      for (const SurfaceLoss::Block& block : blocks_) {
        row.push_back(terms.slice(0, block.begin, block.end).sum(at::kDouble).item<double>());
      }
    }
    return samples;
  }

  [[nodiscard]] std::vector<probes::LayerCurvature> layers() {
    std::vector<probes::LayerCurvature> layers;
    for (const SurfaceLoss::Block& block : blocks_) {
      layers.push_back({block.layer, std::nullopt});
      if (options_.products_per_layer >= 3) layers.back().top = within(block).highest;
    }
    return layers;
  }

 private:
  [[nodiscard]] at::Tensor times(const at::Tensor& v) {
    clock_.check();
    return product_(v);
  }
  [[nodiscard]] LanczosOptions lanczos() const { return {options_.most_products, options_.tolerance}; }

  SurfaceLoss& surface_;
  const CurvatureOptions& options_;
  const Clock& clock_;
  HessianProduct product_;
  DirectionSource source_;
  std::vector<SurfaceLoss::Block> blocks_;
};

void add_stability(const Training& training, SurfaceLoss& surface, Survey& survey, const SpectrumEnds& ends,
                   Experiment& experiment) {
  const StabilityAnswer answer = step_stability(training.optimizer, surface);
  if (!answer.stability) {
    experiment.verdict += " The edge of stability is not known: " + answer.why_not + ".";
    return;
  }
  const StepStability& stability = *answer.stability;
  const double top = stability.scale.defined() ? survey.scaled(stability.scale).highest : ends.highest;
  probes::write_stability(top, stability.limit, stability.learning_rate, stability.words, experiment);
}

/// Whether the direction that bends down on the measured batches does so on others. A few samples have ways down of
/// their own, which the loss of all samples has not.
bool bends_down_elsewhere(const Training& training, const at::Tensor& direction, const CurvatureOptions& options,
                          const Clock& clock) {
  std::vector<double> bends;
  for (int i = 0; i < kFreshBatches; ++i) {
    clock.check();
    SurfaceLoss fresh(training, 1, options.evaluation_mode);
    HessianProduct product(fresh, options.differences);
    bends.push_back(direction.dot(product(direction)).item<double>());
  }
  return probes::bends_down(bends);
}

void measure(const Training& training, const CurvatureOptions& options, const Clock& clock, Experiment& experiment) {
  SurfaceLoss surface(training, options.batches, options.evaluation_mode);
  const double loss = surface.value();
  experiment.values = {{"loss", loss, {}, {}}};
  if (!std::isfinite(loss)) {
    experiment.verdict = "The loss is not finite: there is no curvature to measure.";
    return;
  }
  Survey survey(surface, options, clock);
  const SpectrumEnds ends = survey.whole();
  const probes::GroundOptions limits{options.stationary_gain, options.negative_share};
  probes::CurvatureFacts facts;
  facts.loss = loss;
  facts.gradient_norm = survey.product().gradient().norm().item<double>();
  facts.gradient_signal = signal_of(survey.product().gradients());
  facts.weights = surface.origin().norm().item<double>();
  facts.ends = ends;
  const probes::TraceSamples traces = survey.traces();
  probes::write_curvature(facts, survey.product().exact(), traces, survey.layers(), experiment);
  const probes::Ground ground = probes::ground_of(facts, limits);
  const bool by_chance =
      ground == probes::Ground::saddle && !bends_down_elsewhere(training, ends.lowest_direction, options, clock);
  probes::write_ground(facts, ground, by_chance, limits, experiment);
  add_stability(training, surface, survey, ends, experiment);
  if (!survey.product().exact()) {
    experiment.verdict += survey.product().why_not().empty()
                              ? " Products were taken by differences of gradients, as asked."
                              : " Products were taken by differences of gradients: " + survey.product().why_not();
  }
}

}  // namespace

Experiment curvature(const Training& training, const CurvatureOptions& options, const Limits& limits) {
  require(options);
  return run_probe("curvature", training, limits, [&](Experiment& experiment, Preserved&, const Clock& clock) {
    measure(training, options, clock, experiment);
  });
}

}  // namespace osler::torch
