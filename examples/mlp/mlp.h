// A multilayer perceptron that sorts points of a 32-dimensional space into ten noisy clouds.
#pragma once

#include <torch/torch.h>

#include <utility>

namespace examples {

struct Mlp : torch::nn::Module {
  torch::nn::Linear fc1{register_module("fc1", torch::nn::Linear(32, 256))};
  torch::nn::Linear fc2{register_module("fc2", torch::nn::Linear(256, 256))};
  torch::nn::Linear fc3{register_module("fc3", torch::nn::Linear(256, 10))};

  at::Tensor forward(const at::Tensor& x) { return fc3(torch::relu(fc2(torch::relu(fc1(x))))); }
};

/// Points of ten clouds whose centres are the same in every run, and the clouds' numbers.
inline std::pair<at::Tensor, at::Tensor> clouds(std::int64_t samples) {
  static const at::Tensor centres = at::sin(at::arange(320).view({10, 32}) * 1.7);
  const at::Tensor labels = at::randint(0, 10, {samples}, at::kLong);
  return {centres.index_select(0, labels) + at::randn({samples, 32}), labels};
}

}  // namespace examples
