// Multilayer perceptrons, convolutional and residual networks, LSTMs and transformers by recipe.
#include "trainer/network.h"

#include <torch/nn.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace osler::trainer {
namespace {

namespace nn = ::torch::nn;
using gallery::Activation;
using gallery::Initialisation;
using gallery::Model;
using gallery::Normalisation;
using gallery::Precision;
using gallery::Recipe;
using gallery::Task;

at::Tensor activate(const Recipe& recipe, const at::Tensor& x) {
  switch (recipe.activation) {
    case Activation::relu:
      return at::relu(x);
    case Activation::leaky_relu:
      return at::leaky_relu(x, 0.01);
    case Activation::gelu:
      return at::gelu(x);
    case Activation::tanh:
      return at::tanh(x);
    case Activation::sigmoid:
      return at::sigmoid(x);
  }
  return x;
}

/// Values as half precision would hold them. The way back rounds gradients in the same way, so both overflow and
/// underflow as they do on hardware with half precision; LibTorch has no such arithmetic for the CPU.
at::Tensor stored(const Recipe& recipe, const at::Tensor& x) {
  return recipe.precision == Precision::fp16 ? x.to(at::kHalf).to(at::kFloat) : x;
}

void initialise(const Recipe& recipe, at::Tensor weight, at::Tensor bias, bool output) {
  at::NoGradGuard guard;
  const double fan_in = static_cast<double>(weight[0].numel());
  const double fan_out = static_cast<double>(weight.select(1, 0).numel());
  const double xavier = std::sqrt(2 / (fan_in + fan_out));
  switch (recipe.init) {
    case Initialisation::he:
      // The output has no activation behind it that halves its variance.
      weight.normal_(0, recipe.init_gain * (output ? xavier : std::sqrt(2 / fan_in)));
      break;
    case Initialisation::xavier:
      weight.normal_(0, recipe.init_gain * xavier);
      break;
    case Initialisation::normal:
      weight.normal_(0, recipe.init_gain * recipe.init_std);
      break;
    case Initialisation::equal:
      weight.fill_(0.05 * recipe.init_gain);
      break;
  }
  if (bias.defined()) bias.fill_(output ? 0 : recipe.bias);
}

/// What stands behind a layer: normalisation, activation, dropout.
class Behind : public nn::Module {
 public:
  Behind(const Recipe& recipe, std::int64_t size, bool pictures) : recipe_(recipe) {
    if (recipe.normalization == Normalisation::batch) {
      if (pictures) {
        batch2_ = register_module("batch_norm", nn::BatchNorm2d(size));
      } else {
        batch1_ = register_module("batch_norm", nn::BatchNorm1d(size));
      }
    } else if (recipe.normalization == Normalisation::layer) {
      if (pictures) {
        group_ = register_module("group_norm", nn::GroupNorm(nn::GroupNormOptions(1, size)));
      } else {
        layer_ = register_module("layer_norm", nn::LayerNorm(nn::LayerNormOptions({size})));
      }
    }
    if (recipe.dropout > 0) dropout_ = register_module("dropout", nn::Dropout(recipe.dropout));
  }

  at::Tensor normalise(const at::Tensor& x) {
    if (batch1_) return batch1_(x);
    if (batch2_) return batch2_(x);
    if (layer_) return layer_(x);
    if (group_) return group_(x);
    return x;
  }
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor y = stored(recipe_, activate(recipe_, stored(recipe_, normalise(stored(recipe_, x)))));
    return dropout_ ? dropout_(y) : y;
  }

 private:
  Recipe recipe_;
  nn::BatchNorm1d batch1_{nullptr};
  nn::BatchNorm2d batch2_{nullptr};
  nn::LayerNorm layer_{nullptr};
  nn::GroupNorm group_{nullptr};
  nn::Dropout dropout_{nullptr};
};

class Perceptron : public Network {
 public:
  Perceptron(const Recipe& recipe, std::int64_t inputs, std::int64_t outputs) : recipe_(recipe) {
    std::int64_t size = inputs;
    for (std::int64_t i = 1; i <= recipe.depth; ++i) {
      // A reconstruction goes through a narrow place in the middle.
      const bool narrow = recipe.task == Task::reconstruction && i == (recipe.depth + 1) / 2;
      const std::int64_t next = narrow ? std::max<std::int64_t>(1, recipe.width / 4) : recipe.width;
      layers_.push_back(register_module("fc" + std::to_string(i), nn::Linear(size, next)));
      behind_.push_back(register_module("act" + std::to_string(i), std::make_shared<Behind>(recipe, next, false)));
      initialise(recipe, layers_.back()->weight, layers_.back()->bias, false);
      size = next;
    }
    head_ = register_module("head", nn::Linear(size, outputs));
    initialise(recipe, head_->weight, head_->bias, true);
  }

  at::Tensor forward(at::Tensor inputs) override {
    at::Tensor x = inputs.flatten(1);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      at::Tensor y = behind_[i]->forward(layers_[i](x));
      x = recipe_.residual && y.sizes() == x.sizes() ? x + y : y;
      if (i == 0 && !recipe_.connected) x = x.detach();
    }
    return head_(x);
  }

 private:
  Recipe recipe_;
  std::vector<nn::Linear> layers_;
  std::vector<std::shared_ptr<Behind>> behind_;
  nn::Linear head_{nullptr};
};

nn::Conv2d convolution(const Recipe& recipe, std::int64_t from, std::int64_t to) {
  nn::Conv2d layer(nn::Conv2dOptions(from, to, 3).padding(1));
  initialise(recipe, layer->weight, layer->bias, false);
  return layer;
}

/// Convolutions, in pairs with a path around them where the recipe asks for one; the picture is halved twice.
class Convolutional : public Network {
 public:
  Convolutional(const Recipe& recipe, std::int64_t outputs) : recipe_(recipe) {
    std::int64_t channels = 1;
    const std::int64_t count = recipe.model == Model::resnet ? 2 * recipe.depth + 1 : recipe.depth;
    for (std::int64_t i = 1; i <= count; ++i) {
      layers_.push_back(register_module("conv" + std::to_string(i), convolution(recipe, channels, recipe.width)));
      behind_.push_back(
          register_module("act" + std::to_string(i), std::make_shared<Behind>(recipe, recipe.width, true)));
      channels = recipe.width;
    }
    head_ = register_module("head", nn::Linear(channels, outputs));
    initialise(recipe, head_->weight, head_->bias, true);
  }

  at::Tensor forward(at::Tensor inputs) override {
    at::Tensor x = behind_[0]->forward(layers_[0](inputs.unsqueeze(1)));
    if (!recipe_.connected) x = x.detach();
    const std::size_t stride = recipe_.model == Model::resnet ? 2 : 1;
    int halved = 0;
    for (std::size_t i = 1; i < layers_.size(); i += stride) {
      if (halved < 2) {
        x = at::max_pool2d(x, 2);
        ++halved;
      }
      at::Tensor y = behind_[i]->forward(layers_[i](x));
      if (stride == 2) y = behind_[i + 1]->forward(layers_[i + 1](y));
      x = recipe_.residual ? x + y : y;
    }
    return head_(x.mean({2, 3}));
  }

 private:
  Recipe recipe_;
  std::vector<nn::Conv2d> layers_;
  std::vector<std::shared_ptr<Behind>> behind_;
  nn::Linear head_{nullptr};
};

class Recurrent : public Network {
 public:
  Recurrent(const Recipe& recipe, std::int64_t vocabulary, std::int64_t outputs) : text_(vocabulary > 0) {
    if (text_) letters_ = register_module("letter_embedding", nn::Embedding(vocabulary, recipe.width));
    const std::int64_t inputs = text_ ? recipe.width : 2;
    lstm_ = register_module("lstm",
                            nn::LSTM(nn::LSTMOptions(inputs, recipe.width).num_layers(recipe.depth).batch_first(true)));
    head_ = register_module("head", nn::Linear(recipe.width, outputs));
    at::NoGradGuard guard;
    for (auto& parameter : lstm_->named_parameters()) {
      if (recipe.init == Initialisation::normal && parameter.value().dim() > 1) {
        parameter.value().normal_(0, recipe.init_std);
      }
      parameter.value().mul_(recipe.init_gain);
    }
    initialise(recipe, head_->weight, head_->bias, true);
  }

  at::Tensor forward(at::Tensor inputs) override {
    const at::Tensor x = text_ ? letters_(inputs) : inputs;
    const at::Tensor states = std::get<0>(lstm_(x));
    return head_(text_ ? states : states.select(1, -1));
  }

 private:
  bool text_;
  nn::Embedding letters_{nullptr};
  nn::LSTM lstm_{nullptr};
  nn::Linear head_{nullptr};
};

class Block : public nn::Module {
 public:
  explicit Block(const Recipe& recipe) : recipe_(recipe) {
    const std::int64_t width = recipe.width;
    qkv_ = register_module("qkv", nn::Linear(width, 3 * width));
    proj_ = register_module("proj", nn::Linear(width, width));
    up_ = register_module("up", nn::Linear(width, 4 * width));
    down_ = register_module("down", nn::Linear(4 * width, width));
    if (recipe.normalization == Normalisation::layer) {
      norm1_ = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({width})));
      norm2_ = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({width})));
    }
    if (recipe.dropout > 0) dropout_ = register_module("dropout", nn::Dropout(recipe.dropout));
    for (const auto& layer : {qkv_, proj_, up_, down_}) initialise(recipe, layer->weight, layer->bias, true);
  }

  at::Tensor forward(at::Tensor x) {
    x = x + dropped(attend(norm1_ ? norm1_(x) : x));
    return x + dropped(down_(activate(recipe_, up_(norm2_ ? norm2_(x) : x))));
  }

 private:
  at::Tensor dropped(const at::Tensor& x) { return dropout_ ? dropout_(x) : x; }
  at::Tensor attend(const at::Tensor& x) {
    constexpr std::int64_t kHeads = 4;
    const std::int64_t batch = x.size(0);
    const std::int64_t length = x.size(1);
    const std::int64_t size = recipe_.width / kHeads;
    const auto parts = qkv_(x).view({batch, length, 3, kHeads, size}).permute({2, 0, 3, 1, 4}).unbind(0);
    at::Tensor scores = at::matmul(parts[0], parts[1].transpose(-2, -1)) / std::sqrt(static_cast<double>(size));
    const at::Tensor future = at::ones({length, length}, at::kBool).triu(1);
    scores = scores.masked_fill(future, -std::numeric_limits<float>::infinity());
    const at::Tensor mixed = at::matmul(at::softmax(scores, -1), parts[2]);
    return proj_(mixed.transpose(1, 2).reshape({batch, length, recipe_.width}));
  }

  Recipe recipe_;
  nn::Linear qkv_{nullptr}, proj_{nullptr}, up_{nullptr}, down_{nullptr};
  nn::LayerNorm norm1_{nullptr}, norm2_{nullptr};
  nn::Dropout dropout_{nullptr};
};

class Transformer : public Network {
 public:
  Transformer(const Recipe& recipe, std::int64_t vocabulary) {
    letters_ = register_module("letter_embedding", nn::Embedding(vocabulary, recipe.width));
    places_ = register_module("place_embedding", nn::Embedding(recipe.sequence_length, recipe.width));
    for (std::int64_t i = 1; i <= recipe.depth; ++i) {
      blocks_.push_back(register_module("block" + std::to_string(i), std::make_shared<Block>(recipe)));
    }
    if (recipe.normalization == Normalisation::layer) {
      last_ = register_module("last", nn::LayerNorm(nn::LayerNormOptions({recipe.width})));
    }
    head_ = register_module("head", nn::Linear(recipe.width, vocabulary));
    initialise(recipe, head_->weight, head_->bias, true);
  }

  at::Tensor forward(at::Tensor inputs) override {
    at::Tensor x = letters_(inputs) + places_(at::arange(inputs.size(1)));
    for (const auto& block : blocks_) x = block->forward(x);
    return head_(last_ ? last_(x) : x);
  }

 private:
  nn::Embedding letters_{nullptr}, places_{nullptr};
  std::vector<std::shared_ptr<Block>> blocks_;
  nn::LayerNorm last_{nullptr};
  nn::Linear head_{nullptr};
};

/// The first half of the layers keep what they started with.
void freeze_first_layers(Network& network) {
  const auto parameters = network.parameters();
  for (std::size_t i = 0; i < parameters.size() / 2; ++i) at::Tensor(parameters[i]).set_requires_grad(false);
}

std::shared_ptr<Network> build(const Recipe& recipe, const TaskData& data) {
  const at::Tensor sample = data.training.inputs[0];
  const std::int64_t outputs = data.classes ? *data.classes : data.training.targets[0].numel();
  switch (recipe.model) {
    case Model::mlp:
      return std::make_shared<Perceptron>(recipe, sample.numel(), outputs);
    case Model::cnn:
    case Model::resnet:
      return std::make_shared<Convolutional>(recipe, outputs);
    case Model::lstm:
      return std::make_shared<Recurrent>(recipe, data.vocabulary, outputs);
    case Model::gpt:
      return std::make_shared<Transformer>(recipe, data.vocabulary);
  }
  return nullptr;
}

}  // namespace

std::shared_ptr<Network> build_network(const Recipe& recipe, const TaskData& data) {
  auto network = build(recipe, data);
  if (!recipe.trainable) freeze_first_layers(*network);
  if (recipe.precision == Precision::bf16) network->to(at::kBFloat16);
  return network;
}

}  // namespace osler::trainer
