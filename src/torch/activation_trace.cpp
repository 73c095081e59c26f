// Measuring layer outputs as they are computed.
#include "torch/activation_trace.h"

#include <chrono>
#include <cmath>

#include "monitor/clock.h"
#include "torch/host_tensor.h"

namespace osler::torch {

using monitor::now;
namespace {

/// Operations that stand for themselves: what they are made of is not looked at.
bool counts_as_whole(Part part) {
  return part != Part::other && part != Part::joining;
}

/// The dimension along which units lie: channels for images, features for everything else.
std::size_t unit_axis(const at::Tensor& tensor) {
  if (tensor.dim() >= 4) return 1;
  return static_cast<std::size_t>(tensor.dim() - 1);
}

/// The mean entropy of the rows of a softmax over the largest possible, ln(n).
std::optional<double> row_entropy(const at::Tensor& probabilities) {
  const std::int64_t n = probabilities.size(-1);
  if (n < 2) return std::nullopt;
  const at::Tensor p = probabilities.detach().to(at::kFloat);
  const double mean = -(p * p.clamp_min(1e-30).log()).sum(-1).mean().item<double>();
  return mean / std::log(static_cast<double>(n));
}

/// How far running statistics are from the batch's: over the channels, the mean of |mean - running mean| and of
/// |std - running std|, the larger of the two, in running standard deviations.
std::optional<double> running_drift(std::span<const c10::IValue> values) {
  constexpr std::size_t kMean = 3;  // batch_norm(input, weight, bias, running_mean, running_var, ...)
  constexpr std::size_t kVariance = 4;
  if (values.size() <= kVariance) return std::nullopt;
  for (const std::size_t needed : {std::size_t{0}, kMean, kVariance}) {
    if (!values[needed].isTensor() || !values[needed].toTensor().defined()) return std::nullopt;
  }
  const at::Tensor x = values[0].toTensor().detach();
  const at::Tensor mean = values[kMean].toTensor().detach();
  const at::Tensor variance = values[kVariance].toTensor().detach();
  if (x.dim() < 2 || mean.dim() != 1 || variance.dim() != 1 || mean.numel() != x.size(1) ||
      variance.numel() != x.size(1)) {
    return std::nullopt;
  }
  const at::Tensor flat = x.transpose(0, 1).reshape({x.size(1), -1}).to(at::kFloat);
  if (flat.size(1) < 2) return std::nullopt;
  const at::Tensor scale = variance.to(at::kFloat).clamp_min(1e-10).sqrt();
  const at::Tensor shift = ((flat.mean(1) - mean.to(at::kFloat)).abs() / scale).mean();
  const at::Tensor spread = ((flat.std(1, false) - scale).abs() / scale).mean();
  return std::max(shift.item<double>(), spread.item<double>());
}

}  // namespace

ActivationTrace::ActivationTrace(const ::torch::nn::Module& model, Passes passes)
    : passes_(passes), names_(model), engine_(training_threads_engine()) {}

void ActivationTrace::clear() {
  names_.forget();
  activations_.clear();
  known_.clear();
  logits_.reset();
  frames_.clear();
  backward_depth_ = 0;
  seconds_ = 0;
  operations_ = 0;
}

void ActivationTrace::started(const Operation& operation) {
  const double before = now();
  begin(operation);
  ++operations_;
  seconds_ += now() - before;
}

void ActivationTrace::finished(const Operation& operation) {
  const double before = now();
  end(operation);
  seconds_ += now() - before;
}

void ActivationTrace::begin(const Operation& operation) {
  Frame frame;
  const bool backward =
      operation.kind == Operation::Kind::node || operation.name.starts_with("autograd::engine::evaluate_function");
  if (backward) ++backward_depth_;
  const bool nested = !frames_.empty() && (frames_.back().quiet || counts_as_whole(frames_.back().part));
  frame.quiet = backward_depth_ > 0 || nested || !measures(operation.builds_graph);
  if (!frame.quiet) {
    frame.plain = plain_name(operation.name);
    frame.part = part_of(frame.plain);
    const std::vector<at::Tensor> inputs = tensors_in(operation.values);
    frame.result = names_.result(frame.plain, inputs);
    if (frame.plain == "batch_norm") frame.drift = running_drift(operation.values);
    if (frame.part == Part::softmax || frame.plain == "cross_entropy_loss") note_logits(frame, inputs);
  }
  frames_.push_back(std::move(frame));
}

void ActivationTrace::end(const Operation& operation) {
  if (frames_.empty()) return;  // it had started before the watch
  const Frame frame = std::move(frames_.back());
  frames_.pop_back();
  if (operation.kind == Operation::Kind::node || operation.name.starts_with("autograd::engine::evaluate_function")) {
    --backward_depth_;
    return;
  }
  if (frame.quiet) return;
  const std::vector<at::Tensor> outputs = tensors_in(operation.values);
  for (const at::Tensor& output : outputs) names_.name(output, frame.result);
  // A recurrent layer also gives out its state, a normalisation its statistics: the first output is the layer's.
  if (!frame.result.empty() && counts_as_whole(frame.part) && !outputs.empty()) measure(frame, outputs.front());
}

Activation& ActivationTrace::entry(const std::string& layer) {
  const auto [at, fresh] = known_.emplace(layer, activations_.size());
  if (fresh) activations_.push_back({layer, {}, {}, {}, {}, {}, {}, {}, {}});
  return activations_[at->second];
}

void ActivationTrace::measure(const Frame& frame, const at::Tensor& output) {
  Activation& activation = entry(frame.result);
  activation.operation = frame.plain;
  activation.drift = frame.drift;
  ask(activation, output, frame.part);
  if (frame.plain == "softmax" && output.dim() >= 3) activation.entropy = row_entropy(output);
}

void ActivationTrace::ask(Activation& activation, const at::Tensor& tensor, Part part) {
  const auto host = host_tensor(tensor);
  if (!host || host->view.count() == 0) return;
  const auto shape = part == Part::activation ? activation_shape(activation.operation) : std::nullopt;
  stats::SummaryOptions options;
  options.histogram = histograms_;
  const bool saturates = shape && (shape->low != 0 || shape->high != 0);
  if (saturates) {
    if (shape->low != 0) options.low = shape->low;
    options.high = shape->high;
  }
  batch_.clear();
  const std::size_t summary = batch_.summarize(host->view, options);
  std::optional<std::size_t> units;
  if (shape && shape->rectifies && tensor.dim() >= 2) {
    if (const auto asked = batch_.count_units(host->view, unit_axis(tensor))) units = *asked;
  }
  std::optional<std::size_t> rows;
  if (tensor.dim() >= 2 && tensor.size(0) >= 2 && part != Part::softmax) {
    if (const auto asked = batch_.compare_rows(host->view)) rows = *asked;
  }
  if (!engine_->submit(batch_)) return;
  engine_->wait(batch_);
  activation.stats = batch_.summary(summary);
  activation.counts.reset();
  if (histograms_ && activation.stats.finite_count() > 0) activation.counts = batch_.histogram(summary);
  if (saturates) activation.saturated = activation.stats.saturated_share();
  if (units) activation.units = batch_.units(*units);
  if (rows) activation.rows = batch_.rows(*rows);
}

void ActivationTrace::note_logits(const Frame& frame, const std::vector<at::Tensor>& inputs) {
  // A softmax over three or more dimensions is attention; classes come as rows of a matrix, or go into log_softmax.
  if (inputs.empty() || (frame.plain == "softmax" && inputs.front().dim() > 2)) return;
  const std::string name = names_.of(inputs.front());
  if (name.empty()) return;
  Activation logits;
  logits.layer = name;
  logits.operation = frame.plain;
  ask(logits, inputs.front(), Part::softmax);
  logits_ = std::move(logits);
}

void ActivationTrace::tap(const std::string& name, const at::Tensor& tensor, bool builds_graph) {
  if (!measures(builds_graph)) return;
  names_.name(tensor, name);
  Activation& activation = entry(name);
  activation.operation = "tap";
  ask(activation, tensor, Part::other);
}

}  // namespace osler::torch
