// A small convolutional network that tells the direction of a stripe in a noisy image.
#pragma once

#include <torch/torch.h>

#include <utility>

namespace examples {

struct Cnn : torch::nn::Module {
  torch::nn::Conv2d conv1{register_module("conv1", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 16, 3).padding(1)))};
  torch::nn::BatchNorm2d bn1{register_module("bn1", torch::nn::BatchNorm2d(16))};
  torch::nn::Conv2d conv2{register_module("conv2", torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 32, 3).padding(1)))};
  torch::nn::BatchNorm2d bn2{register_module("bn2", torch::nn::BatchNorm2d(32))};
  torch::nn::Linear head{register_module("head", torch::nn::Linear(32 * 4 * 4, 4))};

  at::Tensor forward(at::Tensor x) {
    x = torch::max_pool2d(torch::relu(bn1(conv1(x))), 2);
    x = torch::max_pool2d(torch::relu(bn2(conv2(x))), 2);
    return head(x.flatten(1));
  }
};

/// Images of 16 x 16 with a stripe in one of four directions, and the direction.
inline std::pair<at::Tensor, at::Tensor> stripes(std::int64_t samples) {
  const at::Tensor labels = at::randint(0, 4, {samples}, at::kLong);
  const at::Tensor angle = labels.to(at::kFloat).view({-1, 1, 1}) * 0.7854;
  const at::Tensor row = at::arange(16, at::kFloat).view({1, -1, 1}) - 7.5;
  const at::Tensor column = at::arange(16, at::kFloat).view({1, 1, -1}) - 7.5;
  const at::Tensor shift = at::randn({samples, 1, 1}) * 2;
  const at::Tensor distance = row * at::cos(angle) + column * at::sin(angle) - shift;
  return {(at::exp(-distance.square() / 2) + 0.3 * at::randn({samples, 16, 16})).unsqueeze(1), labels};
}

}  // namespace examples
