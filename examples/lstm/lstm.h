// A recurrent network for the adding problem: the sum of the two marked numbers of a sequence.
#pragma once

#include <torch/torch.h>

#include <tuple>
#include <utility>

namespace examples {

struct Lstm : torch::nn::Module {
  torch::nn::LSTM lstm{register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(2, 64).batch_first(true)))};
  torch::nn::Linear head{register_module("head", torch::nn::Linear(64, 1))};

  at::Tensor forward(const at::Tensor& x) { return head(std::get<0>(lstm(x)).select(1, -1)).squeeze(1); }
};

/// Sequences of numbers with two of them marked, and the sum of those (Hochreiter and Schmidhuber 1997).
inline std::pair<at::Tensor, at::Tensor> sums(std::int64_t samples, std::int64_t length = 24) {
  const at::Tensor numbers = at::rand({samples, length});
  const at::Tensor first = at::randint(0, length / 2, {samples, 1}, at::kLong);
  const at::Tensor second = at::randint(length / 2, length, {samples, 1}, at::kLong);
  const at::Tensor marks = at::zeros({samples, length}).scatter(1, first, 1.0).scatter(1, second, 1.0);
  return {at::stack({numbers, marks}, 2), (numbers * marks).sum(1)};
}

}  // namespace examples
