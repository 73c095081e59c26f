// Taking a training's snapshot and going back to it.
#include "torch/snapshot.h"

#include <ATen/core/grad_mode.h>

#include <unordered_set>

namespace osler::torch {
namespace {

std::vector<at::Tensor> tensors_of(const ::torch::nn::Module& model, const ::torch::optim::Optimizer& optimizer) {
  std::vector<at::Tensor> all = model.parameters();
  for (const ::torch::optim::OptimizerParamGroup& group : optimizer.param_groups()) {
    all.insert(all.end(), group.params().begin(), group.params().end());
  }
  for (const at::Tensor& buffer : model.buffers()) all.push_back(buffer);
  std::vector<at::Tensor> once;  // tied weights appear several times
  std::unordered_set<const void*> seen;
  for (const at::Tensor& tensor : all) {
    if (tensor.defined() && seen.insert(tensor.unsafeGetTensorImpl()).second) once.push_back(tensor);
  }
  return once;
}

bool in_its_place(const at::Tensor& tensor, const at::Tensor& place) {
  return tensor.dtype() == place.dtype() && tensor.device() == place.device() && tensor.sizes() == place.sizes() &&
         tensor.layout() == place.layout() &&
         (place.layout() != at::kStrided ||
          (tensor.strides() == place.strides() && tensor.data_ptr() == place.data_ptr()));
}

}  // namespace

Snapshot::Snapshot(::torch::nn::Module& model, ::torch::optim::Optimizer& optimizer)
    : optimizer_(optimizer), modes_(model), optimizer_state_(optimizer), random_(RandomState::now(model.parameters())) {
  const at::NoGradGuard no_graph;
  for (const at::Tensor& tensor : tensors_of(model, optimizer)) keep(tensor);
}

void Snapshot::keep(const at::Tensor& tensor) {
  Kept kept;
  kept.tensor = tensor;
  kept.place = tensor.variable_data();
  kept.value = kept.place.clone();
  kept.gradient = tensor.grad();
  if (kept.gradient.defined()) kept.gradient_value = kept.gradient.detach().clone();
  kept.requires_grad = tensor.requires_grad();
  tensors_.push_back(std::move(kept));
}

void Snapshot::put_back(const Kept& kept) {
  at::Tensor tensor = kept.tensor;
  kept.place.copy_(kept.value);
  if (!in_its_place(tensor, kept.place)) {
    // The gradient must go first: LibTorch refuses a change of type beneath it.
    tensor.mutable_grad() = at::Tensor();
    tensor.set_data(kept.place);
  }
  if (kept.gradient.defined()) {
    const bool strided = kept.gradient.layout() == at::kStrided;
    if (strided) kept.gradient.variable_data().copy_(kept.gradient_value);
    tensor.mutable_grad() = strided ? kept.gradient : kept.gradient_value.clone();
  } else {
    tensor.mutable_grad() = at::Tensor();
  }
  if (tensor.requires_grad() != kept.requires_grad) tensor.set_requires_grad(kept.requires_grad);
}

void Snapshot::restore() const {
  const at::NoGradGuard no_graph;
  for (const Kept& kept : tensors_) put_back(kept);
  modes_.restore();
  optimizer_state_.restore(optimizer_);
  random_.restore();
}

}  // namespace osler::torch
