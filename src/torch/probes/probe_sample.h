// A small training to try probes on.
#pragma once

#include <torch/torch.h>

#include <memory>

#include "osler/torch/training.h"

namespace osler::torch {

/// A network with one hidden layer on a fixed set of points.
struct SampleNet : ::torch::nn::Module {
  explicit SampleNet(std::int64_t hidden = 6)
      : in(register_module("in", ::torch::nn::Linear(4, hidden))),
        out(register_module("out", ::torch::nn::Linear(hidden, 3))) {}

  at::Tensor forward(const at::Tensor& x) { return out(at::tanh(in(x))); }

  ::torch::nn::Linear in;
  ::torch::nn::Linear out;
};

/// The net with an optimizer and batches; the same at every call with the same seed.
struct SampleTraining {
  explicit SampleTraining(std::uint64_t seed = 1, std::int64_t samples = 64, std::int64_t batch = 64) {
    at::set_num_threads(1);
    at::manual_seed(seed);
    net = std::make_shared<SampleNet>();
    optimizer = std::make_unique<::torch::optim::SGD>(net->parameters(), ::torch::optim::SGDOptions(0.1));
    inputs = at::randn({samples, 4});
    labels = inputs.slice(1, 0, 3).argmax(1);
    size = batch;
  }

  [[nodiscard]] Training training() {
    return {*net,
            *optimizer,
            [this](const at::Tensor& x) { return net->forward(x); },
            [](const at::Tensor& y, const at::Tensor& labels) { return at::cross_entropy_loss(y, labels); },
            [this] { return next(); },
            {},
            3};
  }
  [[nodiscard]] Batch next() {
    const std::int64_t count = inputs.size(0);
    const at::Tensor rows = (at::arange(size) + place) % count;
    place = (place + size) % count;
    return {inputs.index_select(0, rows), labels.index_select(0, rows)};
  }
  void train(int steps) {
    for (int i = 0; i < steps; ++i) {
      const Batch batch = next();
      optimizer->zero_grad();
      at::cross_entropy_loss(net->forward(batch.inputs), batch.targets).backward();
      optimizer->step();
    }
  }

  std::shared_ptr<SampleNet> net;
  std::unique_ptr<::torch::optim::Optimizer> optimizer;
  at::Tensor inputs;
  at::Tensor labels;
  std::int64_t size = 0;
  std::int64_t place = 0;
};

}  // namespace osler::torch
