// Eigenvalues and trace of the Hessian, and what they say of the place where the weights are.
#include "osler/torch/curvature.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "torch/probes/curvature_product.h"
#include "torch/probes/curvature_stability.h"
#include "torch/probes/lanczos.h"
#include "torch/probes/probe.h"
#include "torch/probes/surface_directions.h"

namespace osler::torch {
namespace {

using Outcome = Experiment::Outcome;

constexpr int kFreshBatches = 8;  // on which a way down must be seen again
constexpr double kWalk = 0.1;     // of the weights' size: how far one looks when asking whether a place is flat

void require(const CurvatureOptions& options) {
  if (options.batches < 1 || options.most_products < 3 || options.trace_samples < 0 || options.trace_samples == 1) {
    throw std::invalid_argument(
        "curvature: at least 1 batch, 3 products, and no or at least 2 samples for the trace are needed.");
  }
}

/// The part of the squared gradient that all batches agree on; the rest is noise of the batches.
double squared_signal(const std::vector<at::Tensor>& gradients) {
  const auto count = static_cast<double>(gradients.size());
  const at::Tensor all = at::stack(gradients).to(at::kDouble);
  const double sum = all.sum(0).square().sum().item<double>();
  const double each = all.square().sum().item<double>();
  if (gradients.size() < 2) return sum;
  return std::max(0.0, (sum - each) / (count * (count - 1)));
}

/// Hutchinson's estimate with its standard error, of the whole and of each block.
struct Traces {
  std::vector<double> means;  ///< the whole first
  std::vector<double> errors;
};

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
  [[nodiscard]] const std::vector<SurfaceLoss::Block>& blocks() const { return blocks_; }

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
  [[nodiscard]] Traces traces() {
    const auto rows = static_cast<std::size_t>(options_.trace_samples);
    std::vector<std::vector<double>> samples(blocks_.size() + 1);
    for (std::size_t i = 0; i < rows; ++i) {
      const at::Tensor signs = source_.signs(surface_);
      const at::Tensor terms = signs * times(signs);
      samples[0].push_back(terms.sum(at::kDouble).item<double>());
      for (std::size_t b = 0; b < blocks_.size(); ++b) {
        samples[b + 1].push_back(terms.slice(0, blocks_[b].begin, blocks_[b].end).sum(at::kDouble).item<double>());
      }
    }
    Traces traces;
    for (const std::vector<double>& sample : samples) add(sample, traces);
    return traces;
  }

 private:
  [[nodiscard]] at::Tensor times(const at::Tensor& v) {
    clock_.check();
    return product_(v);
  }
  [[nodiscard]] LanczosOptions lanczos() const { return {options_.most_products, options_.tolerance}; }

  static void add(const std::vector<double>& sample, Traces& traces) {
    const auto count = static_cast<double>(sample.size());
    double mean = 0;
    for (const double value : sample) mean += value / count;
    double squares = 0;
    for (const double value : sample) squares += (value - mean) * (value - mean);
    traces.means.push_back(mean);
    traces.errors.push_back(std::sqrt(squares / (count - 1) / count));
  }

  SurfaceLoss& surface_;
  const CurvatureOptions& options_;
  const Clock& clock_;
  HessianProduct product_;
  DirectionSource source_;
  std::vector<SurfaceLoss::Block> blocks_;
};

Experiment::Value within_error(std::string name, double value, double error) {
  return {std::move(name), value, value - error, value + error};
}

enum class Ground { slope, minimum, saddle, plateau };

/// What kind of place it is, by what could be gained along the gradient and along the most negative curvature.
Ground ground_of(double loss, double signal, double weights, const SpectrumEnds& ends,
                 const CurvatureOptions& options) {
  const double steepest = std::max(ends.highest, -ends.lowest);
  const double enough = options.stationary_gain * std::abs(loss);
  if (signal > 0 && !(signal / 2 <= enough * steepest)) return Ground::slope;
  const double walk = kWalk * std::max(weights, 1.0);
  const bool way_down = ends.lowest + ends.lowest_error < -options.negative_share * std::max(ends.highest, 0.0);
  if (way_down && -ends.lowest * walk * walk / 2 > enough) return Ground::saddle;
  return steepest * walk * walk / 2 > enough ? Ground::minimum : Ground::plateau;
}

std::string told(Ground ground, double norm, double gain, const SpectrumEnds& ends, const CurvatureOptions& options) {
  const std::string numbers =
      fmt::format("gradient norm {:.3g}, eigenvalues from {:.3g} to {:.3g}", norm, ends.lowest, ends.highest);
  switch (ground) {
    case Ground::slope:
      return fmt::format("The weights are on a slope: a step along the gradient would gain {:.2g} % of the loss ({}).",
                         100 * gain, numbers);
    case Ground::saddle:
      return fmt::format("The weights are on a saddle: the gradient leads nowhere, but a direction bends down ({}).",
                         numbers);
    case Ground::plateau:
      return fmt::format("The weights are on a plateau: neither slope nor bend within {:.0f} % of their size ({}).",
                         100 * kWalk, numbers);
    case Ground::minimum:
      break;
  }
  return fmt::format(
      "The weights are at a minimum, as far as the batches tell: the gradient leads nowhere and no direction bends "
      "down by more than {:.3g} % of the largest curvature ({}).",
      100 * options.negative_share, numbers);
}

void add_layers(Survey& survey, const Traces& traces, const CurvatureOptions& options, Experiment& experiment) {
  std::vector<double> tops;
  for (const SurfaceLoss::Block& block : survey.blocks()) {
    tops.push_back(options.products_per_layer >= 3 ? survey.within(block).highest : std::nan(""));
  }
  for (std::size_t i = 0; i < tops.size(); ++i) {
    std::string text = std::isnan(tops[i]) ? "" : fmt::format("top eigenvalue {:.3g}", tops[i]);
    if (!traces.means.empty()) {
      text +=
          fmt::format("{}trace {:.3g} +- {:.2g}", text.empty() ? "" : ", ", traces.means[i + 1], traces.errors[i + 1]);
    }
    experiment.checks.push_back({survey.blocks()[i].layer, Outcome::passed, text});
  }
  experiment.columns = {{"layer-top-eigenvalue", tops}};
  if (traces.means.empty()) return;
  experiment.columns.push_back({"layer-trace", {traces.means.begin() + 1, traces.means.end()}});
  experiment.columns.push_back({"layer-trace-error", {traces.errors.begin() + 1, traces.errors.end()}});
}

void add_stability(const Training& training, SurfaceLoss& surface, Survey& survey, const SpectrumEnds& ends,
                   Experiment& experiment) {
  const StabilityAnswer answer = step_stability(training.optimizer, surface);
  if (!answer.stability) {
    experiment.verdict += " The edge of stability is not known: " + answer.why_not + ".";
    return;
  }
  const StepStability& stability = *answer.stability;
  const double top = stability.scale.defined() ? survey.scaled(stability.scale).highest : ends.highest;
  const double ratio = top / stability.limit;
  experiment.values.push_back({"stability-limit", stability.limit, {}, {}});
  experiment.values.push_back({"stability-ratio", ratio, {}, {}});
  experiment.verdict += fmt::format(" The largest curvature is {:.3g} % of what steps of {:.3g} bear ({}).",
                                    100 * ratio, stability.learning_rate, stability.words);
}

/// Whether the direction that bends down on the measured batches does so on others. A few samples have ways down of
/// their own, which the loss of all samples has not.
bool bends_down_elsewhere(const Training& training, const at::Tensor& direction, const CurvatureOptions& options,
                          const Clock& clock) {
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kFreshBatches; ++i) {
    clock.check();
    SurfaceLoss fresh(training, 1, options.evaluation_mode);
    HessianProduct product(fresh, options.differences);
    const double bend = direction.dot(product(direction)).item<double>();
    sum += bend;
    squares += bend * bend;
  }
  const double mean = sum / kFreshBatches;
  const double variance = std::max(0.0, squares / kFreshBatches - mean * mean) / (kFreshBatches - 1);
  constexpr double kErrors = 2;
  return mean + kErrors * std::sqrt(variance) < 0;
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
  const double norm = survey.product().gradient().norm().item<double>();
  const double signal = squared_signal(survey.product().gradients());
  const SpectrumEnds ends = survey.whole();
  const double steepest = std::max(ends.highest, -ends.lowest);
  const double gain = signal == 0 ? 0 : signal / (2 * steepest) / std::abs(loss);
  experiment.values.push_back({"gradient-norm", norm, {}, {}});
  experiment.values.push_back({"gradient-signal", std::sqrt(signal), {}, {}});
  experiment.values.push_back({"gradient-gain", gain, {}, {}});
  experiment.values.push_back(within_error("top-eigenvalue", ends.highest, ends.highest_error));
  experiment.values.push_back(within_error("lowest-eigenvalue", ends.lowest, ends.lowest_error));
  experiment.values.push_back({"exact-products", survey.product().exact() ? 1.0 : 0.0, {}, {}});
  const Traces traces = options.trace_samples > 0 ? survey.traces() : Traces{};
  if (!traces.means.empty()) {
    experiment.values.push_back(within_error("trace", traces.means[0], 2 * traces.errors[0]));
  }
  add_layers(survey, traces, options, experiment);
  const double weights = surface.origin().norm().item<double>();
  Ground ground = ground_of(loss, signal, weights, ends, options);
  const bool by_chance =
      ground == Ground::saddle && !bends_down_elsewhere(training, ends.lowest_direction, options, clock);
  if (by_chance) ground = Ground::minimum;
  experiment.outcome = ground == Ground::saddle ? Outcome::failed : Outcome::passed;
  experiment.verdict = by_chance ? fmt::format(
                                       "The gradient leads nowhere, and the direction that bends down on these "
                                       "batches does not on others (gradient norm {:.3g}, eigenvalues from "
                                       "{:.3g} to {:.3g}): larger batches would tell a saddle from a minimum.",
                                       norm, ends.lowest, ends.highest)
                                 : told(ground, norm, gain, ends, options);
  if (!ends.converged) {
    experiment.verdict += fmt::format(" After {} products the eigenvalues are known only within {:.2g} and {:.2g}.",
                                      ends.products, ends.lowest_error, ends.highest_error);
  }
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
