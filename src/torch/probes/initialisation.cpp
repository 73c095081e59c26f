// Looking at the weights of every layer before they are trained.
#include "osler/torch/initialisation.h"

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "probes/start.h"

namespace osler::torch {
namespace {

/// The sum of squared distances of rows from their mean over the sum of squares: 0 when all rows are equal.
double row_difference(const at::Tensor& weight) {
  if (weight.dim() < 2 || weight.size(0) < 2) return std::numeric_limits<double>::quiet_NaN();
  const at::Tensor rows = weight.reshape({weight.size(0), -1});
  const double size = rows.square().sum().item<double>();
  return size > 0 ? (rows - rows.mean(0, true)).square().sum().item<double>() / size : 0.0;
}

probes::WeightStart start_of(const std::string& name, const at::Tensor& parameter, const ::torch::nn::Module& owner) {
  const at::Tensor weight = parameter.detach().to(at::kCPU).to(at::kDouble);
  probes::WeightStart start;
  start.name = name;
  start.size = weight.square().mean().sqrt().item<double>();
  start.largest = weight.abs().max().item<double>();
  start.rows = row_difference(weight);
  start.vector = weight.dim() < 2;
  if (start.vector) return start;
  // A transposed convolution keeps its inputs along the first dimension.
  const bool transposed = owner.name().find("ConvTranspose") != std::string::npos;
  const auto rows = static_cast<double>(weight.size(0));
  const auto columns = static_cast<double>(weight.size(1));
  const double kernel = static_cast<double>(weight.numel()) / (rows * columns);
  start.units = weight.size(0);
  start.inputs = (transposed ? rows : columns) * kernel;
  start.outputs = (transposed ? columns : rows) * kernel;
  start.recurrent = name.find("_ih") != std::string::npos || name.find("_hh") != std::string::npos;
  // A table of positions is one too.
  const bool table = name.substr(name.rfind('.') + 1).find("weight") == std::string::npos;
  start.embedding = table || dynamic_cast<const ::torch::nn::EmbeddingImpl*>(&owner) != nullptr;
  return start;
}

}  // namespace

Experiment initialisation_check(const ::torch::nn::Module& model) {
  if (model.parameters().empty()) {
    throw std::invalid_argument(
        "initialisation-check: the model has no parameters; register them with register_parameter "
        "and register_module.");
  }
  const at::NoGradGuard no_graph;
  Experiment experiment;
  experiment.probe = "initialisation-check";
  std::vector<probes::WeightStart> starts;
  const auto look = [&](const std::string& prefix, const ::torch::nn::Module& owner) {
    for (const auto& item : owner.named_parameters(false)) {
      if (!item.value().is_floating_point() || item.value().numel() == 0) continue;
      starts.push_back(start_of(prefix.empty() ? item.key() : prefix + "." + item.key(), item.value(), owner));
    }
  };
  look("", model);
  for (const auto& item : model.named_modules("", false)) look(item.key(), *item.value());
  probes::write_starts(starts, experiment);
  return experiment;
}

}  // namespace osler::torch
