// Saving and restoring random states, buffers and gradients.
#include "torch/saved_state.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <type_traits>

namespace osler::torch {
namespace {

at::Generator generator_of(const at::Device& device) {
  return at::globalContext().defaultGenerator(device);
}

/// Numbers in host memory, one behind the other.
bool plain(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.layout() == at::kStrided && tensor.is_contiguous() && tensor.numel() > 0;
}

}  // namespace

RandomState RandomState::now(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Device> devices = {at::Device(at::kCPU)};
  for (const at::Tensor& parameter : parameters) {
    if (!parameter.device().is_cuda()) continue;
    if (std::find(devices.begin(), devices.end(), parameter.device()) == devices.end()) {
      devices.push_back(parameter.device());
    }
  }
  States states;
  for (const at::Device& device : devices) {
    at::Generator generator = generator_of(device);
    const std::lock_guard lock(generator.mutex());
    states.emplace_back(device, generator.get_state());
  }
  return RandomState(std::move(states));
}

void RandomState::restore() const {
  for (const auto& [device, state] : states_) {
    const bool here = device.is_cpu() || (device.is_cuda() && at::globalContext().hasCUDA());
    if (!here) continue;
    at::Generator generator = generator_of(device);
    const std::lock_guard lock(generator.mutex());
    generator.set_state(state);
  }
}

void HostRandomState::save() {
  const at::Generator generator = generator_of(at::kCPU);
  auto* const host = at::check_generator<at::CPUGeneratorImpl>(generator);
  const std::lock_guard lock(host->mutex_);
  // In place: an assignment would copy the 2.5 KB of the engine a second time.
  static_assert(std::is_trivially_destructible_v<at::mt19937>);
  ::new (static_cast<void*>(&engine_)) at::mt19937(host->engine());
  next_float_ = host->next_float_normal_sample();
  next_double_ = host->next_double_normal_sample();
}

void HostRandomState::restore() const {
  const at::Generator generator = generator_of(at::kCPU);
  auto* const host = at::check_generator<at::CPUGeneratorImpl>(generator);
  const std::lock_guard lock(host->mutex_);
  host->set_engine(engine_);
  host->set_next_float_normal_sample(next_float_);
  host->set_next_double_normal_sample(next_double_);
}

void BufferState::save(const std::vector<at::Tensor>& buffers, std::int64_t most) {
  const at::NoGradGuard no_graph;
  copies_.resize(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].numel() > most) {
      copies_[i] = at::Tensor();
      continue;
    }
    const bool fits = copies_[i].defined() && copies_[i].sizes() == buffers[i].sizes() &&
                      copies_[i].device() == buffers[i].device() && copies_[i].dtype() == buffers[i].dtype();
    if (fits && plain(copies_[i]) && plain(buffers[i])) {
      // For some dozens of numbers an operation takes longer than the copy; on every step that counts.
      std::memcpy(copies_[i].data_ptr(), buffers[i].data_ptr(), buffers[i].nbytes());
    } else if (fits) {
      copies_[i].copy_(buffers[i]);
    } else {
      copies_[i] = buffers[i].detach().clone();
    }
  }
}

void BufferState::restore(const std::vector<at::Tensor>& buffers) const {
  const at::NoGradGuard no_graph;
  for (std::size_t i = 0; i < std::min(buffers.size(), copies_.size()); ++i) {
    if (!copies_[i].defined()) continue;
    at::Tensor buffer = buffers[i].detach();
    buffer.copy_(copies_[i]);
  }
}

ModuleModes::ModuleModes(::torch::nn::Module& model) : model_(model), training_(model.is_training()) {
  // The model itself may live on the stack, where LibTorch cannot list it among its modules.
  for (const std::shared_ptr<::torch::nn::Module>& module : model.modules(/*include_self=*/false)) {
    modules_.emplace_back(module, module->is_training());
  }
}

void ModuleModes::restore() const {
  // train() reaches down to the children, which are set after their parents.
  if (model_.is_training() != training_) model_.train(training_);
  for (const auto& [module, training] : modules_) {
    if (module->is_training() != training) module->train(training);
  }
}

GradientsAside::GradientsAside(std::vector<at::Tensor> parameters) : parameters_(std::move(parameters)) {
  for (at::Tensor& parameter : parameters_) {
    gradients_.push_back(parameter.grad());
    parameter.mutable_grad() = at::Tensor();
  }
}

GradientsAside::~GradientsAside() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i].mutable_grad() = gradients_[i];
}

}  // namespace osler::torch
