// The four examples as trainings that probes can work on.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cnn/cnn.h"
#include "gpt/gpt.h"
#include "lstm/lstm.h"
#include "mlp/mlp.h"
#include "osler/torch/training.h"

namespace osler::torch {

/// Makes an optimizer for parameters; the rate is the optimizer's own business.
using MakeOptimizer = std::function<std::unique_ptr<::torch::optim::Optimizer>(std::vector<at::Tensor>)>;

inline MakeOptimizer sgd(double rate, double momentum = 0) {
  return [=](std::vector<at::Tensor> parameters) {
    return std::make_unique<::torch::optim::SGD>(std::move(parameters),
                                                 ::torch::optim::SGDOptions(rate).momentum(momentum));
  };
}

template <typename Optimizer>
MakeOptimizer adaptive(double rate) {
  return [=](std::vector<at::Tensor> parameters) { return std::make_unique<Optimizer>(std::move(parameters), rate); };
}

/// A model with its optimizer and the training of both.
struct Trainee {
  std::shared_ptr<::torch::nn::Module> model;
  std::unique_ptr<::torch::optim::Optimizer> optimizer;
  Training training;
};

/// A trainee from a model whose forward takes one tensor.
template <typename Model, typename Data, typename Loss>
Trainee trainee(std::shared_ptr<Model> model, const MakeOptimizer& make, Data data, Loss loss,
                std::optional<std::int64_t> classes = {}) {
  auto optimizer = make(model->parameters());
  const auto batch = [data] {
    const auto [x, y] = data();
    return Batch{x, y};
  };
  Training training{*model,
                    *optimizer,
                    [model](const at::Tensor& x) { return model->forward(x); },
                    [loss](const at::Tensor& outputs, const at::Tensor& targets) { return loss(outputs, targets); },
                    batch,
                    batch,
                    classes};
  return {model, std::move(optimizer), std::move(training)};
}

inline at::Tensor class_loss(const at::Tensor& outputs, const at::Tensor& targets) {
  return at::cross_entropy_loss(outputs, targets);
}

inline Trainee mlp(const MakeOptimizer& make, std::int64_t samples = 64) {
  return trainee(
      std::make_shared<examples::Mlp>(), make, [=] { return examples::clouds(samples); }, class_loss, 10);
}

inline Trainee cnn(const MakeOptimizer& make, std::int64_t samples = 32) {
  return trainee(
      std::make_shared<examples::Cnn>(), make, [=] { return examples::stripes(samples); }, class_loss, 4);
}

inline Trainee lstm(const MakeOptimizer& make, std::int64_t samples = 32, std::int64_t length = 12) {
  return trainee(
      std::make_shared<examples::Lstm>(), make, [=] { return examples::sums(samples, length); },
      [](const at::Tensor& outputs, const at::Tensor& targets) { return at::mse_loss(outputs, targets); });
}

inline Trainee gpt(const MakeOptimizer& make, std::int64_t samples = 4) {
  return trainee(
      std::make_shared<examples::Gpt>(), make, [=] { return examples::pieces(samples); }, examples::next_character_loss,
      examples::kVocabulary);
}

}  // namespace osler::torch
