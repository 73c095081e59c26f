// Looking at parameters, gradients and modes.
#include "torch/probes/parameters.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace osler::torch {

ParameterUse parameter_use(const Training& training) {
  std::unordered_set<const void*> optimized;
  for (const auto& group : training.optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) optimized.insert(parameter.unsafeGetTensorImpl());
  }
  ParameterUse use;
  for (const auto& item : training.model.named_parameters()) {
    if (!item.value().requires_grad()) {
      use.frozen.push_back(item.key());
    } else if (optimized.count(item.value().unsafeGetTensorImpl()) == 0) {
      use.missing.push_back(item.key());
    } else {
      use.trained.push_back(item.key());
    }
  }
  return use;
}

GradientReach gradient_reach(const Training& training, const Batch& batch) {
  constexpr double kFaint = 1e-6;
  training.model.zero_grad();
  for (const at::Tensor& parameter : training.model.parameters()) parameter.mutable_grad() = at::Tensor();
  training.loss_of(batch).backward();
  GradientReach reach;
  std::vector<std::pair<std::string, double>> sizes;
  double largest = 0;
  for (const auto& item : training.model.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    const at::Tensor& gradient = item.value().grad();
    if (!gradient.defined()) {
      reach.none.push_back(item.key());
      continue;
    }
    const double size = gradient.detach().to(at::kDouble).square().mean().sqrt().item<double>();
    if (!std::isfinite(size)) {
      reach.nonfinite.push_back(item.key());
    } else if (size == 0) {
      reach.zero.push_back(item.key());
    } else {
      sizes.emplace_back(item.key(), size);
      largest = std::max(largest, size);
    }
  }
  for (auto& [name, size] : sizes) (size < kFaint * largest ? reach.faint : reach.well).push_back(name);
  return reach;
}

std::vector<std::string> modules_in_evaluation(const ::torch::nn::Module& model) {
  std::vector<std::string> names;
  for (const auto& item : model.named_modules("", false)) {
    if (!item.value()->is_training()) names.push_back(item.key());
  }
  return names;
}

BatchReport label_report(const at::Tensor& targets, const std::optional<std::int64_t>& classes) {
  constexpr std::int64_t kLeftOut = -100;
  if (!targets.defined()) return {};
  if (targets.is_floating_point()) return validate_batch({}, targets);
  return validate_batch({}, targets.masked_select(targets.ne(kLeftOut)), {classes, 0});
}

std::vector<std::int64_t> class_labels(const Batch& batch) {
  const at::Tensor& targets = batch.targets;
  if (!targets.defined() || targets.dim() != 1 || targets.is_floating_point()) return {};
  const at::Tensor host = targets.detach().to(at::kCPU).to(at::kLong).contiguous();
  const auto* first = host.data_ptr<std::int64_t>();
  return {first, first + host.numel()};
}

}  // namespace osler::torch
