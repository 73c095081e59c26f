// Sending a random signal through a model, forward and backward.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "osler/torch/initialisation.h"
#include "torch/activation_trace.h"
#include "torch/probes/parameters.h"
#include "torch/probes/probe.h"
#include "torch/watch.h"

namespace osler::torch {
namespace {

using Outcome = Experiment::Outcome;

constexpr double kFar = 1000;        // times: a layer's signal against that of the layer it is measured by
constexpr double kCollapsed = 1e-9;  // spread of samples around their mean: they are all the same
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Measures activations as they are computed and hangs on to each to measure its gradient later.
class PropagationTrace final : public OperationObserver {
 public:
  explicit PropagationTrace(const ::torch::nn::Module& model) : trace_(model) {}

  void started(const Operation& operation) override { trace_.started(operation); }
  void finished(const Operation& operation) override {
    const std::size_t before = trace_.activations().size();
    trace_.finished(operation);
    if (trace_.activations().size() == before) return;  // no new layer; one that runs again counts once
    gradients_.push_back(std::make_shared<double>(kNone));
    const std::vector<at::Tensor> outputs = tensors_in(operation.values);
    if (outputs.empty() || !outputs.front().requires_grad()) return;
    (void)outputs.front().register_hook([size = gradients_.back()](const at::Tensor& gradient) {
      *size = gradient.detach().to(at::kDouble).square().mean().sqrt().item<double>();
    });
  }

  [[nodiscard]] const std::vector<Activation>& activations() const { return trace_.activations(); }
  [[nodiscard]] double gradient(std::size_t layer) const { return *gradients_[layer]; }

 private:
  ActivationTrace trace_;
  std::vector<std::shared_ptr<double>> gradients_;
};

/// Random numbers of the shape and kind of `like`: normal ones, or whole ones within the same range.
at::Tensor random_like(const at::Tensor& like) {
  if (like.is_floating_point()) return at::randn_like(like);
  if (like.numel() == 0 || like.scalar_type() == at::kBool) return like;
  const std::int64_t low = like.min().item<std::int64_t>();
  const std::int64_t high = like.max().item<std::int64_t>();
  return at::randint(low, high + 1, like.sizes(), like.options());
}

/// One layer's measurements, as far as they can be compared with other layers'.
struct Layer {
  std::string name;
  double forward = kNone;
  double backward = kNone;
  double spread = kNone;
};

std::vector<Layer> layers_of(const PropagationTrace& trace) {
  std::vector<Layer> layers;
  for (std::size_t i = 0; i < trace.activations().size(); ++i) {
    const Activation& activation = trace.activations()[i];
    // Probabilities are small by nature.
    if (part_of(activation.operation) == Part::softmax) continue;
    Layer layer{activation.layer, activation.stats.std_dev(), trace.gradient(i), kNone};
    if (activation.rows) layer.spread = activation.rows->spread;
    layers.push_back(std::move(layer));
  }
  return layers;
}

/// The first layer's value forward, the last one's backward: where the signal starts.
double origin(const std::vector<Layer>& layers, double Layer::*value, bool backward) {
  const auto starts = [&](const Layer& layer) { return layer.*value > 0; };
  if (backward) {
    const auto last = std::find_if(layers.rbegin(), layers.rend(), starts);
    return last == layers.rend() ? kNone : (*last).*value;
  }
  const auto first = std::find_if(layers.begin(), layers.end(), starts);
  return first == layers.end() ? kNone : (*first).*value;
}

Experiment::Check judge(const Layer& layer, double forward_origin, double backward_origin) {
  const double forward = layer.forward / forward_origin;
  const double backward = layer.backward / backward_origin;
  std::string text = fmt::format("Activations have a standard deviation of {:.3g}", layer.forward);
  if (std::isfinite(layer.backward)) text += fmt::format(", gradients a size of {:.3g}", layer.backward);
  std::vector<std::string> wrong;
  if (!std::isfinite(layer.forward)) wrong.emplace_back("values are not finite");
  if (layer.forward == 0) wrong.emplace_back("all values are the same");
  if (layer.spread < kCollapsed) wrong.emplace_back("every sample gives the same");
  if (forward > 0 && forward < 1 / kFar)
    wrong.push_back(fmt::format("the signal has shrunk to {:.2g} of what it was", forward));
  if (forward > kFar) wrong.push_back(fmt::format("the signal has grown {:.2g} times", forward));
  if (layer.backward == 0) wrong.emplace_back("no gradient comes back");
  if (backward > 0 && backward < 1 / kFar) {
    wrong.push_back(fmt::format("the gradient has shrunk to {:.2g} of what it was", backward));
  }
  if (backward > kFar) wrong.push_back(fmt::format("the gradient has grown {:.2g} times", backward));
  if (wrong.empty()) return {layer.name, Outcome::passed, text + "."};
  for (const std::string& what : wrong) text += ": " + what;
  return {layer.name, Outcome::failed, text + "."};
}

/// The mean factor per layer, from the origin to the other end.
double factor(const std::vector<Layer>& layers, double Layer::*value, bool backward) {
  const double from = origin(layers, value, backward);
  const double to = origin(layers, value, !backward);
  const auto steps = static_cast<double>(layers.size() - 1);
  return steps > 0 ? std::pow(to / from, 1 / steps) : 1.0;
}

void conclude(const std::vector<Layer>& layers, Experiment& experiment) {
  const double forward = factor(layers, &Layer::forward, false);
  const double backward = factor(layers, &Layer::backward, true);
  experiment.values = {{"layers", static_cast<double>(layers.size()), {}, {}},
                       {"forward-factor", forward, {}, {}},
                       {"backward-factor", backward, {}, {}}};
  std::vector<std::string> bad;
  for (const Experiment::Check& check : experiment.checks) {
    if (check.outcome == Outcome::failed) bad.push_back(check.id);
  }
  const std::string factors =
      fmt::format("{:.2g} times per layer forward and {:.2g} times backward", forward, backward);
  if (bad.empty()) {
    experiment.outcome = Outcome::passed;
    experiment.verdict = fmt::format("A random signal passes all {} layers: it changes {}.", layers.size(), factors);
  } else {
    experiment.outcome = Outcome::failed;
    experiment.verdict = fmt::format("A random signal does not pass well: it changes {}; {} of {} layers are off ({}).",
                                     factors, bad.size(), layers.size(), some_of(bad));
  }
}

void propagate(const Training& training, Experiment& experiment, const Clock& clock) {
  switch_to_training(training.model);
  const Batch batch = training.next_batch();
  PropagationTrace trace(training.model);
  {
    const Watch watch(trace);
    if (!watch.active()) {
      experiment.verdict = "Another trace is looking at this process; try again when it has ended.";
      return;
    }
    const at::Tensor outputs = training.forward(random_like(batch.inputs));
    clock.check();
    if (outputs.requires_grad()) outputs.backward(at::randn_like(outputs));
  }
  const std::vector<Layer> layers = layers_of(trace);
  if (layers.empty()) {
    experiment.verdict = "No layer of the model was seen at work.";
    return;
  }
  const double forward_origin = origin(layers, &Layer::forward, false);
  const double backward_origin = origin(layers, &Layer::backward, true);
  std::vector<double> depth;
  std::vector<double> forward;
  std::vector<double> backward;
  for (const Layer& layer : layers) {
    depth.push_back(static_cast<double>(depth.size()));
    forward.push_back(layer.forward);
    backward.push_back(layer.backward);
    experiment.checks.push_back(judge(layer, forward_origin, backward_origin));
  }
  experiment.columns = {
      {"depth", std::move(depth)}, {"activation-std", std::move(forward)}, {"gradient-std", std::move(backward)}};
  conclude(layers, experiment);
}

}  // namespace

Experiment signal_propagation(const Training& training, const Limits& limits) {
  return run_probe("signal-propagation", training, limits, [&](Experiment& experiment, Preserved&, const Clock& clock) {
    propagate(training, experiment, clock);
  });
}

}  // namespace osler::torch
