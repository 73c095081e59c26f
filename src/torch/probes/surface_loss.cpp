// Evaluating a loss at displaced weights.
#include "torch/probes/surface_loss.h"

#include <torch/torch.h>

#include <stdexcept>

namespace osler::torch {
namespace {

std::vector<SurfaceLoss::Part> trainable_parts(const ::torch::nn::Module& model) {
  std::vector<SurfaceLoss::Part> parts;
  std::int64_t begin = 0;
  for (const auto& item : model.named_parameters()) {
    const at::Tensor& value = item.value();
    if (!value.requires_grad() || !value.is_floating_point()) continue;
    parts.push_back({item.key(), value, value.detach().clone(), begin, begin + value.numel()});
    begin += value.numel();
  }
  if (parts.empty()) throw std::invalid_argument("osler: the model has no parameter that requires a gradient");
  return parts;
}

void set_evaluation_mode(::torch::nn::Module& model, bool on_host) {
  model.eval();
  if (on_host) return;
  // cuDNN differentiates recurrent layers in training mode only.
  for (const auto& module : model.modules(/*include_self=*/false)) {
    const std::string& name = module->name();
    const bool recurrent = name.find("LSTM") != std::string::npos || name.find("GRU") != std::string::npos ||
                           name.find("RNN") != std::string::npos;
    if (recurrent) module->train();
  }
}

}  // namespace

SurfaceLoss::SurfaceLoss(const Training& training, int batches, bool evaluation_mode)
    : training_(training),
      parts_(trainable_parts(training.model)),
      random_(RandomState::now(training.model.parameters())) {
  if (batches < 1) throw std::invalid_argument("osler: an experiment needs at least one batch");
  for (const Part& part : parts_) values_.push_back(part.value);
  for (int i = 0; i < batches; ++i) batches_.push_back(training.next_batch());
  if (evaluation_mode) {
    set_evaluation_mode(training.model, parts_.front().value.device().is_cpu());
  } else {
    training.model.train();
  }
  random_ = RandomState::now(training.model.parameters());
}

void SurfaceLoss::redraw(int batches) {
  batches_.clear();
  for (int i = 0; i < batches; ++i) batches_.push_back(training_.next_batch());
  random_ = RandomState::now(training_.model.parameters());
}

std::vector<SurfaceLoss::Block> SurfaceLoss::blocks() const {
  std::vector<Block> blocks;
  for (const Part& part : parts_) {
    const auto dot = part.name.rfind('.');
    const std::string layer = dot == std::string::npos ? part.name : part.name.substr(0, dot);
    if (!blocks.empty() && blocks.back().layer == layer) {
      blocks.back().end = part.end;
    } else {
      blocks.push_back({layer, part.begin, part.end});
    }
  }
  return blocks;
}

at::Tensor SurfaceLoss::origin() const {
  std::vector<at::Tensor> flat;
  for (const Part& part : parts_) flat.push_back(part.origin.reshape({-1}));
  return at::cat(flat);
}

at::Tensor SurfaceLoss::loss_of(std::size_t batch) {
  random_.restore();
  at::Tensor loss = training_.loss_of(batches_[batch]);
  if (!loss.defined() || loss.numel() != 1) {
    throw std::invalid_argument("osler: the loss must be a single number; reduce it with mean() or sum() first");
  }
  return loss;
}

double SurfaceLoss::value() {
  const at::NoGradGuard no_graph;
  double sum = 0;
  for (std::size_t i = 0; i < batches_.size(); ++i) sum += loss_of(i).item<double>();
  return sum / static_cast<double>(batches_.size());
}

at::Tensor SurfaceLoss::gradient() {
  at::Tensor sum = gradient_of(0);
  for (std::size_t i = 1; i < batches_.size(); ++i) sum += gradient_of(i);
  return sum / static_cast<double>(batches_.size());
}

at::Tensor SurfaceLoss::gradient_of(std::size_t batch, bool graph) {
  const at::AutoGradMode with_graph(true);
  const at::Tensor loss = loss_of(batch);
  if (!loss.requires_grad()) {
    throw std::invalid_argument(
        "osler: the loss does not depend on any parameter; was it computed under NoGradGuard or detached?");
  }
  return derivative(loss, graph);
}

at::Tensor SurfaceLoss::derivative(const at::Tensor& scalar, bool graph) const {
  const auto gradients = ::torch::autograd::grad({scalar}, values_, {}, /*retain_graph=*/true, /*create_graph=*/graph,
                                                 /*allow_unused=*/true);
  std::vector<at::Tensor> flat;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const at::Tensor& gradient = gradients[i];
    const at::Tensor dense = !gradient.defined()    ? at::zeros_like(parts_[i].origin)
                             : gradient.is_sparse() ? gradient.to_dense()
                                                    : gradient;
    flat.push_back(dense.reshape({-1}));
  }
  return at::cat(flat);
}

void SurfaceLoss::move(const at::Tensor& offset) {
  const at::NoGradGuard no_graph;
  for (const Part& part : parts_) {
    part.value.copy_(part.origin + offset.slice(0, part.begin, part.end).view_as(part.origin));
  }
}

void SurfaceLoss::move_back() {
  const at::NoGradGuard no_graph;
  for (const Part& part : parts_) part.value.copy_(part.origin);
}

}  // namespace osler::torch
