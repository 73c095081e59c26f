// Measuring parameters with the statistics engine.
#include "torch/parameter_book.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "monitor/parameter_ledger.h"
#include "run/series_names.h"
#include "torch/host_tensor.h"

namespace osler::torch {
namespace {

bool is_half(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
}

/// Of the weights that had a gradient, the share that did not change.
double lost_share(const at::Tensor& before, const at::Tensor& after, const at::Tensor& pushed) {
  const auto count = pushed.sum().item<double>();
  return count > 0 ? before.eq(after).logical_and(pushed).sum().item<double>() / count : 0;
}

/// "fc1" of "fc1.weight".
std::string layer_of(const std::string& name) {
  const auto dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(0, dot);
}

/// Of a sparse gradient the numbers that it holds.
at::Tensor numbers_of(const at::Tensor& gradient) {
  if (!gradient.defined() || !gradient.is_sparse()) return gradient;
  const at::NoGradGuard no_graph;
  return gradient.coalesce().values();
}

/// The tensor itself, or a copy where its memory has gaps.
at::Tensor dense(const at::Tensor& tensor) {
  return tensor.layout() != at::kStrided || tensor.is_non_overlapping_and_dense() ? tensor : tensor.contiguous();
}

/// Makes `memory` what following `tensor` takes; whether it was so already.
bool fitted(at::Tensor& memory, const HostTensor& tensor) {
  const at::Tensor& now = tensor.owner;
  const auto count = static_cast<std::uint64_t>(now.numel());
  const std::size_t bytes = stats::Batch::memory_to_follow(tensor.view.dtype(), count);
  const bool copy = bytes == now.nbytes();
  const bool fits =
      memory.defined() && memory.dtype() == now.dtype() &&
      (copy ? memory.sizes() == now.sizes() && memory.strides() == now.strides() : memory.nbytes() == bytes);
  if (fits) return true;
  memory = copy ? at::zeros_like(now) : at::zeros({static_cast<std::int64_t>(bytes / now.itemsize())}, now.options());
  return false;
}

}  // namespace

ParameterBook::ParameterBook(const ::torch::nn::Module& model) : engine_(training_threads_engine()) {
  for (const auto& item : model.named_parameters()) {
    names_.push_back(item.key());
    parameters_.push_back(item.value());
    devices_.push_back(item.value().device());
    on_host_ = on_host_ && item.value().device().is_cpu();
  }
  entries_.resize(parameters_.size());
  sort_by_size();
}

void ParameterBook::sort_by_size() {
  std::unordered_set<std::string> guarded;  // layers with a small tensor
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].numel() > kSmall) continue;
    small_.push_back(i);
    guarded.insert(layer_of(names_[i]));
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].numel() > kSmall && !guarded.contains(layer_of(names_[i]))) unguarded_.push_back(i);
  }
  std::stable_sort(unguarded_.begin(), unguarded_.end(),
                   [&](std::size_t a, std::size_t b) { return parameters_[a].numel() < parameters_[b].numel(); });
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

GradientLook ParameterBook::look_at_small(std::int64_t most) {
  GradientLook look;
  std::size_t last = 0;                // the last in the model's order is the nearest to the output
  std::vector<std::size_t> elsewhere;  // on a GPU: asked all at once, because every answer is waited for
  std::vector<at::Tensor> answers;
  const auto accuse = [&](std::size_t i) {
    if (look.finite || i > last) last = i;
    look.finite = false;
    look.first_bad = names_[last];
  };
  const auto ask = [&](std::size_t i) {
    const at::Tensor gradient = numbers_of(parameters_[i].grad());
    if (!gradient.defined()) return;
    if (!gradient.device().is_cpu()) {
      const at::NoGradGuard no_graph;
      elsewhere.push_back(i);
      answers.push_back(at::isfinite(gradient).all().to(answers.empty() ? gradient.device() : answers[0].device()));
    } else if (!all_finite(gradient)) {
      accuse(i);
    }
  };
  for (const std::size_t i : small_) ask(i);
  for (const std::size_t i : unguarded_) {
    most -= parameters_[i].numel();
    if (most < 0) break;
    ask(i);
  }
  if (answers.empty()) return look;
  const at::Tensor finite = at::stack(answers).to(at::kCPU);
  for (std::size_t k = 0; k < elsewhere.size(); ++k) {
    if (!finite[static_cast<std::int64_t>(k)].item<bool>()) accuse(elsewhere[k]);
  }
  return look;
}

bool ParameterBook::run() {
  const bool started = static_cast<bool>(engine_->submit(batch_));
  if (started) engine_->wait(batch_);
  alive_.clear();
  return started;
}

void ParameterBook::ask_gradients(bool paired) {
  const at::NoGradGuard no_graph;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Entry& entry = entries_[i];
    entry.gradient_number.reset();
    entry.gradient.reset();
    entry.paired = false;
    const at::Tensor gradient = numbers_of(parameters_[i].grad());
    auto host = host_tensor(paired && gradient.defined() ? dense(gradient) : gradient);
    if (!host) continue;
    if (paired) {
      entry.paired = fitted(entry.gradient_before, *host) && remembers_gradients_;
      if (const auto number = batch_.follow(host->view, entry.gradient_before.data_ptr())) {
        entry.gradient_number = *number;
      }
    } else {
      entry.gradient_number = batch_.summarize(host->view, {.brief = true});
    }
    alive_.push_back(std::move(host->owner));
  }
}

GradientLook ParameterBook::read_gradients(bool paired) {
  GradientLook look;
  look.complete = true;
  double squares = 0;
  stats::PairStats pair;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (!entry.gradient_number) continue;
    entry.gradient = batch_.summary(*entry.gradient_number);
    if (entry.gradient->nan_count + entry.gradient->inf_count > 0) {
      look.finite = false;
      look.first_bad = names_[i];  // the last in the model's order is the nearest to the output
    }
    const double l2 = entry.gradient->l2();
    squares += l2 * l2;
    if (!paired) continue;
    const double before = std::exchange(entry.squared_before, l2 * l2);
    if (!entry.paired) continue;
    const double difference = batch_.moved(*entry.gradient_number);
    pair.merge({.dot = (before + l2 * l2 - difference) / 2,  // the law of cosines
                .a_squared = before,
                .b_squared = l2 * l2,
                .difference_squared = difference});
  }
  look.norm = std::sqrt(squares);
  if (paired) {
    if (look.finite && pair.a_squared > 0) pair_ = pair;
    remembers_gradients_ = look.finite && !remembers_gradients_;
  }
  return look;
}

GradientLook ParameterBook::look(bool paired) {
  batch_.clear();
  ask_gradients(paired);
  return run() ? read_gradients(paired) : GradientLook{};
}

void ParameterBook::ask_weights() {
  const at::NoGradGuard no_graph;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Entry& entry = entries_[i];
    entry.weight_number.reset();
    entry.lost.reset();
    auto host = host_tensor(dense(parameters_[i]));
    if (!host) continue;
    const at::Tensor& weight = host->owner;
    fitted(entry.before, *host);
    // Before the weights are followed: then the old ones are gone.
    if (remembers_ && entry.pushed.defined()) entry.lost = lost_share(entry.before, weight.detach(), entry.pushed);
    if (const auto number = batch_.follow(host->view, entry.before.data_ptr())) entry.weight_number = *number;
    alive_.push_back(std::move(host->owner));
  }
}

void ParameterBook::read_weights() {
  for (Entry& entry : entries_) {
    entry.moved.reset();
    if (!entry.weight_number) continue;
    const double norm_before = entry.weight ? entry.weight->l2() : 0;
    entry.weight = batch_.summary(*entry.weight_number);
    if (!remembers_) continue;
    entry.moved = std::sqrt(batch_.moved(*entry.weight_number));
    entry.relative = norm_before > 0 ? *entry.moved / norm_before : 0;
  }
}

GradientLook ParameterBook::measure(bool paired) {
  batch_.clear();
  ask_gradients(paired);
  ask_weights();
  if (!run()) return {};
  const GradientLook look = read_gradients(paired);
  read_weights();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!is_half(parameters_[i])) continue;
    const at::Tensor& gradient = parameters_[i].grad();
    entries_[i].pushed = gradient.defined() ? gradient.detach().ne(0).to(at::kCPU) : at::Tensor();
  }
  compared_ = remembers_;
  remembers_ = true;
  return look;
}

void ParameterBook::record(Recorder& recorder, std::int64_t step) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    // What was left of a gradient when the parameter was frozen is none.
    if (entry.gradient && parameters_[i].requires_grad()) {
      recorder.tensor(step, TensorKind::gradient, names_[i], *entry.gradient);
    } else if (parameters_[i].requires_grad() && !parameters_[i].grad().defined()) {
      recorder.scalar(step, tensor_name(TensorKind::gradient, names_[i]) + "#norm", 0);  // not part of the graph
    }
    if (entry.weight_number) recorder.tensor(step, TensorKind::weight, names_[i], *entry.weight);
  }
}

void ParameterBook::record_histograms(Recorder& recorder, std::int64_t step) {
  const at::NoGradGuard no_graph;
  struct Asked {
    std::size_t number;
    TensorKind kind;
    const std::string* name;
  };
  std::vector<Asked> asked;
  batch_.clear();
  const auto ask = [&](const at::Tensor& tensor, TensorKind kind, const std::string& name) {
    auto host = host_tensor(tensor);
    if (!host || host->view.count() == 0) return;
    asked.push_back({batch_.summarize(host->view, {.histogram = true}), kind, &name});
    alive_.push_back(std::move(host->owner));
  };
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].dim() < 2) continue;
    ask(parameters_[i], TensorKind::weight, names_[i]);
    if (parameters_[i].requires_grad()) ask(numbers_of(parameters_[i].grad()), TensorKind::gradient, names_[i]);
  }
  if (!run()) return;
  for (const Asked& each : asked) {
    const stats::TensorStats& stats = batch_.summary(each.number);
    if (stats.finite_count() == 0) continue;
    const std::string name = tensor_name(each.kind, *each.name);
    recorder.histogram(step, name, to_histogram(batch_.histogram(each.number), stats));
    // What a brief look leaves out.
    recorder.scalar(step, name + "#mean-abs", stats.mean_abs());
    recorder.scalar(step, name + "#min", stats.min);
  }
}

void ParameterBook::record_updates(Recorder& recorder, std::int64_t step) {
  if (!compared_) {
    batch_.clear();
    ask_weights();
    if (run()) read_weights();
    remembers_ = false;
  }
  compared_ = false;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (!entry.moved || !parameters_[i].requires_grad()) continue;
    if (!entry.norm_series) {
      const std::string name = tensor_name(TensorKind::update, names_[i]);
      entry.norm_series = recorder.series(name + "#norm");
      entry.ratio_series = recorder.series(name + "#ratio");
    }
    recorder.record(*entry.norm_series, step, *entry.moved);
    recorder.record(*entry.ratio_series, step, *entry.relative);
    if (entry.lost) recorder.scalar(step, tensor_name(TensorKind::update, names_[i]) + "#lost-share", *entry.lost);
  }
}

void ParameterBook::record_start(Recorder& recorder) {
  const at::NoGradGuard no_graph;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& weight = parameters_[i];
    const at::IntArrayRef sizes = weight.sizes();
    if (!weight.is_floating_point() || !monitor::starts_by_rule(names_[i], {sizes.data(), sizes.size()})) continue;
    const at::Tensor rows = weight.detach().reshape({weight.size(0), -1}).to(at::kFloat);
    const auto inputs = static_cast<double>(rows.size(1));
    recorder.scalar(0, series_name::completed(series_name::kInitScaleOf, names_[i]),
                    rows.square().mean().sqrt().item<double>() / std::sqrt(2 / inputs));
    const double size = rows.square().sum().item<double>();
    const double apart = (rows - rows.mean(0, true)).square().sum().item<double>();
    if (size > 0) recorder.scalar(0, series_name::completed(series_name::kInitRowsOf, names_[i]), apart / size);
  }
}

double ParameterBook::weight_sum() {
  double sum = 0;
  std::vector<std::size_t> asked;
  batch_.clear();
  for (const at::Tensor& parameter : parameters_) {
    auto host = host_tensor(parameter);
    if (!host) continue;
    asked.push_back(batch_.summarize(host->view));
    alive_.push_back(std::move(host->owner));
  }
  if (!run()) return sum;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const stats::TensorStats& stats = batch_.summary(asked[i]);
    // Weighted by place, so that exchanged tensors do not cancel.
    sum += static_cast<double>(i + 1) * (stats.l1 + stats.mean * static_cast<double>(stats.count));
  }
  return sum;
}

}  // namespace osler::torch
