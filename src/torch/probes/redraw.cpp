// LibTorch knows how to draw the weights of each of its layers, but only by the layer's own type.
#include "torch/probes/redraw.h"

#include <ATen/core/grad_mode.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/instancenorm.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/modules/rnn.h>

#include <unordered_set>
#include <utility>

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;

template <typename Layer>
bool redraw_as(nn::Module& module) {
  auto* const layer = dynamic_cast<Layer*>(&module);
  if (layer == nullptr) return false;
  layer->reset_parameters();
  return true;
}

template <typename... Layers>
bool redraw_as_any(nn::Module& module) {
  return (redraw_as<Layers>(module) || ...);
}

bool redraw_layer(nn::Module& module) {
  return redraw_as_any<nn::LinearImpl, nn::BilinearImpl, nn::Conv1dImpl, nn::Conv2dImpl, nn::Conv3dImpl,
                       nn::ConvTranspose1dImpl, nn::ConvTranspose2dImpl, nn::ConvTranspose3dImpl, nn::EmbeddingImpl,
                       nn::EmbeddingBagImpl, nn::BatchNorm1dImpl, nn::BatchNorm2dImpl, nn::BatchNorm3dImpl,
                       nn::InstanceNorm1dImpl, nn::InstanceNorm2dImpl, nn::InstanceNorm3dImpl, nn::LayerNormImpl,
                       nn::GroupNormImpl, nn::RNNImpl, nn::LSTMImpl, nn::GRUImpl, nn::RNNCellImpl, nn::LSTMCellImpl,
                       nn::GRUCellImpl>(module);
}

}  // namespace

std::vector<std::string> redraw(nn::Module& model) {
  const at::NoGradGuard no_graph;
  std::vector<std::pair<at::Tensor, at::Tensor>> frozen;
  for (at::Tensor& parameter : model.parameters()) {
    if (!parameter.requires_grad()) frozen.emplace_back(parameter, parameter.detach().clone());
  }
  std::unordered_set<const void*> drawn;
  const auto visit = [&](nn::Module& module) {
    if (!redraw_layer(module)) return;
    for (const at::Tensor& parameter : module.parameters()) drawn.insert(parameter.unsafeGetTensorImpl());
  };
  // The model itself may live on the stack, where LibTorch cannot list it among its modules.
  visit(model);
  for (const auto& module : model.modules(/*include_self=*/false)) visit(*module);
  for (auto& [parameter, before] : frozen) parameter.copy_(before);
  std::vector<std::string> left;
  for (const auto& item : model.named_parameters()) {
    if (item.value().requires_grad() && !drawn.contains(item.value().unsafeGetTensorImpl())) left.push_back(item.key());
  }
  return left;
}

}  // namespace osler::torch
