// Programs that a trial makes sick or leaves sound: networks of many kinds, each with data that it can learn.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace osler::torch::trial {

namespace nn = ::torch::nn;
namespace F = ::torch::nn::functional;
constexpr std::int64_t kBatch = 32;

/// A network whose hidden values can be changed at places that have names: that is where faults are planted.
struct Net : nn::Module {
  virtual at::Tensor forward(const at::Tensor& x) = 0;
  std::map<std::string, std::function<at::Tensor(const at::Tensor&)>> planted;

 protected:
  [[nodiscard]] at::Tensor at_place(const std::string& name, const at::Tensor& hidden) const {
    const auto plant = planted.find(name);
    return plant == planted.end() ? hidden : plant->second(hidden);
  }
};

struct Perceptron : Net {
  explicit Perceptron(std::int64_t inputs, std::int64_t outputs)
      : fc1(register_module("fc1", nn::Linear(inputs, 32))),
        fc2(register_module("fc2", nn::Linear(32, 32))),
        fc3(register_module("fc3", nn::Linear(32, outputs))) {}
  nn::Linear fc1, fc2, fc3;
  at::Tensor forward(const at::Tensor& x) override {
    const at::Tensor h = at_place("fc1", at::relu(fc1(x)));
    return fc3(at_place("fc2", at::relu(fc2(h))));
  }
};

/// Many narrow layers; `sigmoid` takes the signal away on the way back.
struct Deep : Net {
  static constexpr int kLayers = 8;
  bool sigmoid = false;
  std::vector<nn::Linear> layers;
  nn::Linear head{nullptr};
  Deep(std::int64_t inputs, std::int64_t outputs) {
    for (int i = 0; i < kLayers; ++i) {
      layers.push_back(register_module("layer" + std::to_string(i), nn::Linear(i == 0 ? inputs : 24, 24)));
      nn::init::xavier_normal_(layers.back()->weight, 5.0 / 3);
    }
    head = register_module("head", nn::Linear(24, outputs));
  }
  at::Tensor forward(const at::Tensor& x) override {
    at::Tensor h = x;
    for (int i = 0; i < kLayers; ++i) {
      const at::Tensor sum = layers[static_cast<std::size_t>(i)](h);
      h = at_place("layer" + std::to_string(i), sigmoid ? at::sigmoid(sum) : at::tanh(sum));
    }
    return head(h);
  }
};

struct Convolutional : Net {
  explicit Convolutional(std::int64_t outputs) : head(register_module("head", nn::Linear(12, outputs))) {}
  nn::Conv2d conv1{register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 8, 3).padding(1)))};
  nn::BatchNorm2d bn1{register_module("bn1", nn::BatchNorm2d(8))};
  nn::Conv2d conv2{register_module("conv2", nn::Conv2d(nn::Conv2dOptions(8, 12, 3).padding(1)))};
  nn::BatchNorm2d bn2{register_module("bn2", nn::BatchNorm2d(12))};
  nn::Dropout drop{register_module("drop", nn::Dropout(0.1))};
  nn::Linear head;
  at::Tensor forward(const at::Tensor& x) override {
    at::Tensor h = at_place("conv1", at::relu(bn1(conv1(x))));
    h = at_place("conv2", at::relu(bn2(conv2(at::max_pool2d(h, 2)))));
    return head(drop(h.mean({2, 3})));
  }
};

struct Residual : Net {
  explicit Residual(std::int64_t outputs) : head(register_module("head", nn::Linear(8, outputs))) {
    for (int i = 0; i < 2; ++i) {
      const std::string block = "block" + std::to_string(i);
      convs.push_back(register_module(block + "_conv", nn::Conv2d(nn::Conv2dOptions(8, 8, 3).padding(1).bias(false))));
      norms.push_back(register_module(block + "_norm", nn::BatchNorm2d(8)));
    }
  }
  nn::Conv2d stem{register_module("stem", nn::Conv2d(nn::Conv2dOptions(1, 8, 3).padding(1)))};
  std::vector<nn::Conv2d> convs;
  std::vector<nn::BatchNorm2d> norms;
  nn::Linear head;
  at::Tensor forward(const at::Tensor& x) override {
    at::Tensor h = at_place("stem", at::relu(stem(x)));
    for (std::size_t i = 0; i < convs.size(); ++i) {
      h = h + at_place("block" + std::to_string(i), at::relu(norms[i](convs[i](h))));
    }
    return head(h.mean({2, 3}));
  }
};

/// A recurrent network that reads a sequence and answers at its end.
struct Recurrent : Net {
  Recurrent(bool gated, std::int64_t outputs) : head(register_module("head", nn::Linear(24, outputs))) {
    if (gated) {
      gru = register_module("gru", nn::GRU(nn::GRUOptions(3, 24).batch_first(true)));
    } else {
      lstm = register_module("lstm", nn::LSTM(nn::LSTMOptions(3, 24).batch_first(true)));
    }
  }
  nn::GRU gru{nullptr};
  nn::LSTM lstm{nullptr};
  nn::Linear head;
  at::Tensor forward(const at::Tensor& x) override {
    const at::Tensor states = gru ? std::get<0>(gru(x)) : std::get<0>(lstm(x));
    return head(at_place("states", states.select(1, -1)));
  }
};

constexpr std::int64_t kWords = 12;
constexpr std::int64_t kContext = 8;

/// One block of causal self-attention over words.
struct Transformer : Net {
  static constexpr std::int64_t kWidth = 32;
  nn::Embedding words{register_module("words", nn::Embedding(kWords, kWidth))};
  at::Tensor places{register_parameter("places", 0.02 * at::randn({kContext, kWidth}))};
  nn::LayerNorm norm1{register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({kWidth})))};
  nn::Linear qkv{register_module("qkv", nn::Linear(kWidth, 3 * kWidth))};
  nn::Linear mix{register_module("mix", nn::Linear(kWidth, kWidth))};
  nn::LayerNorm norm2{register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({kWidth})))};
  nn::Linear up{register_module("up", nn::Linear(kWidth, 2 * kWidth))};
  nn::Linear down{register_module("down", nn::Linear(2 * kWidth, kWidth))};
  nn::Dropout drop{register_module("drop", nn::Dropout(0.1))};
  nn::Linear head{register_module("head", nn::Linear(kWidth, kWords))};
  at::Tensor mask{register_buffer("mask", at::full({kContext, kContext}, -INFINITY).triu(1))};
  at::Tensor forward(const at::Tensor& x) override {
    at::Tensor h = words(x) + places;
    const std::vector<at::Tensor> parts = qkv(norm1(h)).chunk(3, -1);
    const at::Tensor fit = at::matmul(parts[0], parts[1].transpose(1, 2)) / std::sqrt(double(kWidth)) + mask;
    h = h + drop(mix(at_place("attention", at::matmul(at::softmax(fit, -1), parts[2]))));
    h = h + drop(down(at_place("up", at::gelu(up(norm2(h))))));
    return head(h);
  }
};

struct Autoencoder : Net {
  nn::Linear narrow{register_module("narrow", nn::Linear(16, 12))};
  nn::Linear code{register_module("code", nn::Linear(12, 4))};
  nn::Linear widen{register_module("widen", nn::Linear(4, 12))};
  nn::Linear out{register_module("out", nn::Linear(12, 16))};
  at::Tensor forward(const at::Tensor& x) override {
    const at::Tensor codes = at_place("code", code(at_place("narrow", at::elu(narrow(x)))));
    return out(at_place("widen", at::elu(widen(codes))));
  }
};

/// Gives the reconstruction, the mean and the log variance of the code side by side.
struct Variational : Net {
  nn::Linear encode{register_module("encode", nn::Linear(16, 24))};
  nn::Linear mean{register_module("mean", nn::Linear(24, 3))};
  nn::Linear spread{register_module("spread", nn::Linear(24, 3))};
  nn::Linear decode{register_module("decode", nn::Linear(3, 24))};
  nn::Linear out{register_module("out", nn::Linear(24, 16))};
  at::Tensor forward(const at::Tensor& x) override {
    const at::Tensor h = at_place("encode", at::relu(encode(x)));
    const at::Tensor center = mean(h);
    const at::Tensor logs = spread(h);
    const at::Tensor drawn = center + at::exp(0.5 * logs) * at::randn_like(center);
    return at::cat({out(at_place("decode", at::relu(decode(drawn)))), center, logs}, 1);
  }
};

/// Ratings of items by users, by products of embeddings.
struct Recommender : Net {
  static constexpr std::int64_t kMany = 60;
  nn::Embedding users{register_module("users", nn::Embedding(kMany, 8))};
  nn::Embedding items{register_module("items", nn::Embedding(kMany, 8))};
  nn::Linear head{register_module("head", nn::Linear(16, 16))};
  nn::Linear last{register_module("last", nn::Linear(16, 1))};
  at::Tensor forward(const at::Tensor& x) override {
    const at::Tensor both = at::cat({users(x.select(1, 0)), items(x.select(1, 1))}, 1);
    return last(at_place("head", at::relu(head(both)))).squeeze(1);
  }
};

/// Normalised by layer, with a smooth activation.
struct Normalised : Net {
  explicit Normalised(std::int64_t outputs) : head(register_module("head", nn::Linear(32, outputs))) {}
  nn::Linear fc1{register_module("fc1", nn::Linear(10, 32))};
  nn::LayerNorm norm1{register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({32})))};
  nn::Linear fc2{register_module("fc2", nn::Linear(32, 32))};
  nn::LayerNorm norm2{register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({32})))};
  nn::Linear head;
  at::Tensor forward(const at::Tensor& x) override {
    const at::Tensor h = at_place("fc1", at::gelu(norm1(fc1(x))));
    return head(at_place("fc2", at::gelu(norm2(fc2(h)))));
  }
};

struct Sample {
  at::Tensor x;
  at::Tensor y;
};

/// Makes an optimizer for parameters.
using MakeOptimizer = std::function<std::unique_ptr<::torch::optim::Optimizer>(std::vector<at::Tensor>)>;

inline MakeOptimizer sgd(double rate, double momentum = 0, double decay = 0) {
  return [=](std::vector<at::Tensor> parameters) {
    return std::make_unique<::torch::optim::SGD>(
        std::move(parameters), ::torch::optim::SGDOptions(rate).momentum(momentum).weight_decay(decay));
  };
}

template <typename Optimizer>
MakeOptimizer adaptive(double rate) {
  return [=](std::vector<at::Tensor> parameters) { return std::make_unique<Optimizer>(std::move(parameters), rate); };
}
inline MakeOptimizer adam(double rate) {
  return adaptive<::torch::optim::Adam>(rate);
}
inline MakeOptimizer adamw(double rate) {
  return adaptive<::torch::optim::AdamW>(rate);
}

/// What is trained, on what, and how.
struct Program {
  std::shared_ptr<Net> net;
  std::function<Sample()> draw;
  std::function<at::Tensor(const at::Tensor& output, const at::Tensor& target)> loss;
  MakeOptimizer optimizer;
  std::optional<std::int64_t> classes;
};

inline at::Tensor entropy_loss(const at::Tensor& output, const at::Tensor& target) {
  return F::cross_entropy(output.flatten(0, -2), target.flatten());
}

/// Clouds of points around centres, to be told apart; some lie between two clouds.
inline std::function<Sample()> clouds(std::int64_t inputs, std::int64_t classes, double apart = 1.2) {
  const at::Tensor centres = at::randn({classes, inputs}) * apart;
  return [=] {
    const at::Tensor y = at::randint(0, classes, {kBatch}, at::kLong);
    return Sample{(centres.index_select(0, y) + at::randn({kBatch, inputs})) / std::sqrt(1 + apart * apart), y};
  };
}

/// Images of stripes in one of four directions, in noise.
inline std::function<Sample()> stripes() {
  return [] {
    const at::Tensor y = at::randint(0, 4, {kBatch}, at::kLong);
    const at::Tensor turn = y.to(at::kFloat).view({-1, 1, 1}) * (M_PI / 4);
    const at::Tensor row = at::arange(8).view({1, 8, 1});
    const at::Tensor column = at::arange(8).view({1, 1, 8});
    const at::Tensor wave =
        at::sin(1.5 * (at::cos(turn) * row + at::sin(turn) * column) + 6 * at::rand({kBatch, 1, 1}));
    return Sample{(wave + 0.7 * at::randn({kBatch, 8, 8})).unsqueeze(1), y};
  };
}

/// Sequences of three numbers a step; which of the first two sums is larger, or what the first one is.
inline std::function<Sample()> sequences(bool which) {
  return [=] {
    const at::Tensor x = at::randn({kBatch, 10, 3});
    const at::Tensor sums = x.sum(1) / std::sqrt(10.0);
    if (which) return Sample{x, (sums.select(1, 0) > sums.select(1, 1)).to(at::kLong)};
    return Sample{x, sums.slice(1, 0, 1)};
  };
}

/// Words of which each makes some that follow it likely.
inline std::function<Sample()> sentences() {
  const at::Tensor follows = at::softmax(1.5 * at::randn({kWords, kWords}), 1);
  return [=] {
    std::vector<at::Tensor> words = {at::randint(0, kWords, {kBatch}, at::kLong)};
    for (std::int64_t i = 0; i < kContext; ++i) {
      words.push_back(at::multinomial(follows.index_select(0, words.back()), 1).squeeze(1));
    }
    const at::Tensor text = at::stack(words, 1);
    return Sample{text.slice(1, 0, kContext), text.slice(1, 1)};
  };
}

/// Sixteen numbers that are made of four.
inline std::function<Sample()> few_in_many() {
  const at::Tensor made = at::randn({4, 16}) / 2;
  return [=] {
    const at::Tensor x = at::matmul(at::randn({kBatch, 4}), made) + 0.1 * at::randn({kBatch, 16});
    return Sample{x, x};
  };
}

inline Program perceptron() {
  return {std::make_shared<Perceptron>(10, 4), clouds(10, 4, 0.7), entropy_loss, sgd(0.1), 4};
}
inline Program deep() {
  return {std::make_shared<Deep>(10, 4), clouds(10, 4, 0.7), entropy_loss, sgd(0.05), 4};
}
inline Program convolutional() {
  return {std::make_shared<Convolutional>(4), stripes(), entropy_loss, sgd(0.05, 0.9), 4};
}
inline Program residual() {
  return {std::make_shared<Residual>(4), stripes(), entropy_loss, adam(2e-3), 4};
}
inline Program lstm() {
  return {std::make_shared<Recurrent>(false, 1),
          sequences(false),
          [](const at::Tensor& out, const at::Tensor& y) { return F::mse_loss(out, y); },
          adam(5e-3),
          {}};
}
inline Program gru() {
  return {std::make_shared<Recurrent>(true, 2), sequences(true), entropy_loss, adam(5e-3), 2};
}
inline Program transformer() {
  return {std::make_shared<Transformer>(), sentences(), entropy_loss, adamw(2e-3), kWords};
}
inline Program autoencoder() {
  return {std::make_shared<Autoencoder>(),
          few_in_many(),
          [](const at::Tensor& out, const at::Tensor& y) { return F::mse_loss(out, y); },
          adam(3e-3),
          {}};
}
inline Program variational() {
  return {std::make_shared<Variational>(),
          few_in_many(),
          [](const at::Tensor& out, const at::Tensor& y) {
            const at::Tensor center = out.slice(1, 16, 19);
            const at::Tensor logs = out.slice(1, 19, 22);
            const at::Tensor rest = 0.5 * (center.square() + logs.exp() - logs - 1).sum(1);
            return ((out.slice(1, 0, 16) - y).square().sum(1) / 0.2 + rest).mean();
          },
          adam(3e-3),
          {}};
}
inline Program recommender() {
  const at::Tensor tastes = at::randn({Recommender::kMany, 2});
  const at::Tensor traits = at::randn({Recommender::kMany, 2});
  return {std::make_shared<Recommender>(),
          [=] {
            const at::Tensor x = at::randint(0, Recommender::kMany, {kBatch, 2}, at::kLong);
            const at::Tensor liked = tastes.index_select(0, x.select(1, 0)) + traits.index_select(0, x.select(1, 1));
            return Sample{x, liked.sum(1) + 0.3 * at::randn({kBatch})};
          },
          [](const at::Tensor& out, const at::Tensor& y) { return F::smooth_l1_loss(out, y); },
          adam(5e-3),
          {}};
}
inline Program normalised() {
  const at::Tensor direction = at::randn({10, 1}) / 3;
  return {std::make_shared<Normalised>(1),
          [=] {
            const at::Tensor x = at::randn({kBatch, 10});
            return Sample{x, at::sin(at::matmul(x, direction)) + 0.1 * at::randn({kBatch, 1})};
          },
          [](const at::Tensor& out, const at::Tensor& y) { return F::huber_loss(out, y); },
          adamw(3e-3),
          {}};
}

}  // namespace osler::torch::trial
