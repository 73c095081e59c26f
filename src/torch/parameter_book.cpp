// Measuring parameters with the statistics engine.
#include "torch/parameter_book.h"

#include <ATen/core/grad_mode.h>

#include <cmath>

#include "torch/host_tensor.h"

namespace osler::torch {
namespace {

/// A copy in memory that is kept from time to time.
void copy_into(at::Tensor& copy, const at::Tensor& source) {
  const bool fits = copy.defined() && copy.sizes() == source.sizes() && copy.device() == source.device() &&
                    copy.dtype() == source.dtype();
  if (fits) {
    copy.copy_(source);
  } else {
    copy = source.detach().clone();
  }
}

/// The share of weights in half precision that had a gradient and did not change; nothing for wider types.
std::optional<double> lost_share(const at::Tensor& before, const at::Tensor& after, const at::Tensor& gradient) {
  const bool half = after.scalar_type() == at::kHalf || after.scalar_type() == at::kBFloat16;
  if (!half || !gradient.defined()) return std::nullopt;
  const at::Tensor pushed = gradient.ne(0);
  const auto count = pushed.sum().item<double>();
  return count > 0 ? before.eq(after).logical_and(pushed).sum().item<double>() / count : 0;
}

}  // namespace

ParameterBook::ParameterBook(const ::torch::nn::Module& model) : engine_(stats::make_cpu_engine(0)) {
  for (const auto& item : model.named_parameters()) {
    names_.push_back(item.key());
    parameters_.push_back(item.value());
    devices_.push_back(item.value().device());
  }
  gradients_.resize(parameters_.size());
  weights_before_.resize(parameters_.size());
  gradients_before_.resize(parameters_.size());
}

std::vector<LayerInfo> ParameterBook::layers() const {
  std::vector<LayerInfo> layers;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto dot = names_[i].rfind('.');
    layers.push_back({names_[i], dot == std::string::npos ? names_[i] : names_[i].substr(dot + 1),
                      parameters_[i].sizes().vec(), static_cast<std::uint64_t>(parameters_[i].numel())});
  }
  return layers;
}

bool ParameterBook::in_place() const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].device() != devices_[i]) return false;
  }
  return true;
}

GradientLook ParameterBook::look(bool all) {
  GradientLook look;
  look.complete = all;
  std::vector<std::pair<std::size_t, std::size_t>> asked;
  std::vector<HostTensor> alive;
  alive.reserve(parameters_.size());
  batch_.clear();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    gradients_[i].reset();
    const at::Tensor& gradient = parameters_[i].grad();
    if (!gradient.defined() || (!all && gradient.numel() > kSmall)) continue;
    auto host = host_tensor(gradient);
    if (!host) continue;
    asked.emplace_back(i, batch_.summarize(host->view));
    alive.push_back(std::move(*host));
  }
  if (!engine_->submit(batch_)) return look;
  engine_->wait(batch_);
  double squares = 0;
  for (const auto& [i, number] : asked) {
    const stats::TensorStats& stats = batch_.summary(number);
    gradients_[i] = stats;
    if (stats.nan_count + stats.inf_count > 0) {
      look.finite = false;
      look.first_bad = names_[i];  // the last in the model's order is the nearest to the output
    }
    const double l2 = stats.l2();
    squares += l2 * l2;
  }
  look.norm = std::sqrt(squares);
  return look;
}

void ParameterBook::record(Recorder& recorder, std::int64_t step) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (gradients_[i]) {
      recorder.tensor(step, TensorKind::gradient, names_[i], *gradients_[i]);
    } else if (parameters_[i].requires_grad() && !parameters_[i].grad().defined()) {
      recorder.scalar(step, tensor_name(TensorKind::gradient, names_[i]) + "#norm", 0);  // not part of the graph
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> asked;
  std::vector<HostTensor> alive;
  batch_.clear();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    auto host = host_tensor(parameters_[i]);
    if (!host) continue;
    asked.emplace_back(i, batch_.summarize(host->view));
    alive.push_back(std::move(*host));
  }
  if (!engine_->submit(batch_)) return;
  engine_->wait(batch_);
  for (const auto& [i, number] : asked) {
    recorder.tensor(step, TensorKind::weight, names_[i], batch_.summary(number));
  }
}

void ParameterBook::record_start(Recorder& recorder) {
  const at::NoGradGuard no_graph;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& weight = parameters_[i];
    // The weights of recurrent layers follow the size of the state, not the number of inputs.
    const bool recurrent = names_[i].find("_ih") != std::string::npos || names_[i].find("_hh") != std::string::npos;
    if (weight.dim() < 2 || weight.size(0) < 2 || !weight.is_floating_point() || recurrent) continue;
    const at::Tensor rows = weight.detach().reshape({weight.size(0), -1}).to(at::kFloat);
    const auto inputs = static_cast<double>(rows.size(1));
    recorder.scalar(0, "osler/init/scale/" + names_[i],
                    rows.square().mean().sqrt().item<double>() / std::sqrt(2 / inputs));
    const double size = rows.square().sum().item<double>();
    const double apart = (rows - rows.mean(0, true)).square().sum().item<double>();
    if (size > 0) recorder.scalar(0, "osler/init/rows/" + names_[i], apart / size);
  }
}

void ParameterBook::remember() {
  const at::NoGradGuard no_graph;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    copy_into(weights_before_[i], parameters_[i]);
    if (parameters_[i].grad().defined()) {
      copy_into(gradients_before_[i], parameters_[i].grad());
    } else {
      gradients_before_[i] = at::Tensor();
    }
  }
  remembers_ = true;
}

void ParameterBook::record_updates(Recorder& recorder, std::int64_t step) {
  std::vector<std::pair<std::size_t, std::size_t>> asked;
  std::vector<HostTensor> alive;
  batch_.clear();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].requires_grad()) continue;
    auto before = host_tensor(weights_before_[i]);
    auto after = host_tensor(parameters_[i]);
    if (!before || !after) continue;
    if (const auto number = batch_.compare(before->view, after->view)) asked.emplace_back(i, *number);
    alive.push_back(std::move(*before));
    alive.push_back(std::move(*after));
  }
  if (!engine_->submit(batch_)) return;
  engine_->wait(batch_);
  for (const auto& [i, number] : asked) {
    const std::string name = tensor_name(TensorKind::update, names_[i]);
    recorder.scalar(step, name + "#norm", batch_.pair(number).difference_norm());
    recorder.scalar(step, name + "#ratio", batch_.pair(number).relative_change());
    if (const auto lost = lost_share(weights_before_[i], parameters_[i].detach(), gradients_before_[i])) {
      recorder.scalar(step, name + "#lost-share", *lost);
    }
  }
}

std::optional<GradientPair> ParameterBook::compare_gradients() {
  remembers_ = false;
  std::vector<std::size_t> asked;
  std::vector<HostTensor> alive;
  batch_.clear();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    auto before = host_tensor(gradients_before_[i]);
    auto after = host_tensor(parameters_[i].grad());
    if (!before || !after || before->owner.sizes() != after->owner.sizes()) continue;
    if (const auto number = batch_.compare(before->view, after->view)) asked.push_back(*number);
    alive.push_back(std::move(*before));
    alive.push_back(std::move(*after));
  }
  if (asked.empty() || !engine_->submit(batch_)) return std::nullopt;
  engine_->wait(batch_);
  GradientPair pair;
  for (const std::size_t number : asked) pair.pair.merge(batch_.pair(number));
  if (!(pair.pair.a_squared > 0)) return std::nullopt;
  pair.carried = pair.pair.dot / pair.pair.a_squared;
  return pair;
}

double ParameterBook::weight_sum() {
  double sum = 0;
  std::vector<std::size_t> asked;
  std::vector<HostTensor> alive;
  batch_.clear();
  for (const at::Tensor& parameter : parameters_) {
    auto host = host_tensor(parameter);
    if (!host) continue;
    asked.push_back(batch_.summarize(host->view));
    alive.push_back(std::move(*host));
  }
  if (!engine_->submit(batch_)) return sum;
  engine_->wait(batch_);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const stats::TensorStats& stats = batch_.summary(asked[i]);
    // Weighted by place, so that exchanged tensors do not cancel.
    sum += static_cast<double>(i + 1) * (stats.l1 + stats.mean * static_cast<double>(stats.count));
  }
  return sum;
}

}  // namespace osler::torch
