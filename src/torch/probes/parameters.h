// What probes look up in a training: which parameters are trained and reached by the gradient, modes, labels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "osler/torch/batch_check.h"
#include "osler/torch/training.h"
#include "probes/words.h"

namespace osler::torch {

/// The names of a model's parameters, by what the training does with them.
struct ParameterUse {
  std::vector<std::string> trained;
  std::vector<std::string> frozen;   ///< want no gradient
  std::vector<std::string> missing;  ///< want gradients but are not in the optimizer
};
[[nodiscard]] ParameterUse parameter_use(const Training& training);

/// The names of parameters that want gradients, by what a backward pass brings them.
struct GradientReach {
  std::vector<std::string> well;
  std::vector<std::string> none;   ///< not part of the graph
  std::vector<std::string> zero;   ///< exactly zero everywhere
  std::vector<std::string> faint;  ///< a million times below the largest, per element
  std::vector<std::string> nonfinite;
};
/// Runs one forward and backward pass, which leaves its gradients behind.
[[nodiscard]] GradientReach gradient_reach(const Training& training, const Batch& batch);

/// The names of modules in evaluation mode.
[[nodiscard]] std::vector<std::string> modules_in_evaluation(const ::torch::nn::Module& model);

/// The labels of a batch as validate_batch sees them; labels of -100, which LibTorch's losses leave out, count as
/// valid.
[[nodiscard]] BatchReport label_report(const at::Tensor& targets, const std::optional<std::int64_t>& classes);

/// The labels of a batch when they are class numbers, one per sample; empty when they are not.
[[nodiscard]] std::vector<std::int64_t> class_labels(const Batch& batch);

using probes::some_of;

}  // namespace osler::torch
