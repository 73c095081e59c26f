// Perceptrons, residual and convolutional networks, recurrent ones and transformers.
#include "network.h"

#include <algorithm>
#include <cmath>

namespace osler::population {

Network::Network(const Recipe& recipe) : recipe_(recipe) {
  at::manual_seed(recipe.seed * 3 + 2);
  switch (recipe.model) {
    case Model::perceptron:
    case Model::residual:
    case Model::convolutional:
      build_layers();
      break;
    case Model::recurrent:
    case Model::lstm:
      build_recurrent();
      break;
    case Model::transformer:
      build_transformer();
      break;
  }
}

std::vector<at::Tensor> Network::state() const {
  at::NoGradGuard guard;
  std::vector<at::Tensor> copies;
  for (const Parameter& parameter : parameters_) copies.push_back(parameter.value.clone());
  for (const Scale& scale : scales_) copies.insert(copies.end(), {scale.mean.clone(), scale.variance.clone()});
  return copies;
}

void Network::restore(const std::vector<at::Tensor>& state) {
  at::NoGradGuard guard;
  auto next = state.begin();
  for (Parameter& parameter : parameters_) parameter.value.copy_(*next++);
  for (Scale& scale : scales_) {
    scale.mean.copy_(*next++);
    scale.variance.copy_(*next++);
  }
}

at::Tensor Network::add(const std::string& name, at::Tensor value) {
  value.set_requires_grad(true);
  parameters_.push_back({name, value, layer_});
  return value;
}

Network::Linear Network::linear(const std::string& name, std::vector<long> shape, double size) {
  const std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  at::Tensor weight = at::randn(sizes) * (size * recipe_.gain);
  if (recipe_.start == Start::zero) weight = at::zeros(sizes);
  if (recipe_.start == Start::equal) weight = at::full(sizes, size * recipe_.gain);
  const bool hidden = name != "head";
  Linear made;
  made.weight = add(name + ".weight", weight);
  made.bias = add(name + ".bias", at::full({shape[0]}, hidden ? recipe_.bias : 0.0));
  return made;
}

Network::Scale Network::scale(const std::string& name, long size) {
  Scale made;
  made.weight = add(name + ".weight", at::ones({size}));
  made.bias = add(name + ".bias", at::zeros({size}));
  made.mean = at::zeros({size});
  made.variance = at::ones({size});
  return made;
}

at::Tensor Network::normalised(Scale& scale, const at::Tensor& x, bool training) {
  if (recipe_.norm == Norm::batch) {
    // A momentum of zero is how statistics get lost: they are used in evaluation and never written.
    const double momentum = recipe_.statistics_lost ? 0.0 : 0.1;
    if (training && x.size(0) < 2 && x.dim() == 2) training = false;
    return at::batch_norm(x, scale.weight, scale.bias, scale.mean, scale.variance, training, momentum, 1e-5, false);
  }
  if (x.dim() == 4) return at::group_norm(x, 1, scale.weight, scale.bias);
  return at::layer_norm(x, {x.size(-1)}, scale.weight, scale.bias);
}

at::Tensor Network::activated(const at::Tensor& x) const {
  switch (recipe_.activation) {
    case Activation::relu:
      return at::relu(x);
    case Activation::gelu:
      return at::gelu(x);
    case Activation::tanh:
      return at::tanh(x);
    case Activation::sigmoid:
      return at::sigmoid(x);
  }
  return x;
}

at::Tensor Network::cut(const at::Tensor& x, long layer) const {
  return recipe_.detached > 0 && layer == recipe_.detached ? x.detach() : x;
}

void Network::build_layers() {
  const bool picture = recipe_.model == Model::convolutional;
  const bool halves = recipe_.activation == Activation::relu || recipe_.activation == Activation::gelu;
  const double factor = halves ? std::sqrt(2.0) : 1.0;
  long size = picture ? 1 : recipe_.inputs;
  for (long i = 0; i < recipe_.depth; ++i) {
    const bool narrow = recipe_.task == Task::autoencoder && !picture && recipe_.depth > 2 && i == recipe_.depth / 2;
    const long next = narrow ? std::max(2L, recipe_.width / 2) : recipe_.width;
    const std::string name = (picture ? "conv" : "fc") + std::to_string(i + 1);
    const double fan_in = static_cast<double>(size) * (picture ? 9 : 1);
    linears_.push_back(picture ? linear(name, {next, size, 3, 3}, factor / std::sqrt(fan_in))
                               : linear(name, {next, size}, factor / std::sqrt(fan_in)));
    if (recipe_.norm != Norm::none) scales_.push_back(scale("norm" + std::to_string(i + 1), next));
    ++layer_;
    size = next;
  }
  if (picture) {
    long side = std::lround(std::sqrt(static_cast<double>(recipe_.inputs)));
    for (long i = 0; i < std::min(recipe_.depth, 2L); ++i) side /= 2;
    size *= side * side;
  }
  const long outputs = recipe_.objective == Objective::gaussian ? 2 * recipe_.outputs : recipe_.outputs;
  head_ = linear("head", {outputs, size}, 1.0 / std::sqrt(static_cast<double>(size)));
}

at::Tensor Network::forward_layers(at::Tensor x, bool training) {
  const bool picture = recipe_.model == Model::convolutional;
  if (!picture) x = x.flatten(1);
  for (std::size_t i = 0; i < linears_.size(); ++i) {
    const Linear& layer = linears_[i];
    at::Tensor y = picture ? at::conv2d(x, layer.weight, layer.bias, 1, 1) : at::linear(x, layer.weight, layer.bias);
    if (recipe_.norm != Norm::none) y = normalised(scales_[i], y, training);
    y = activated(y);
    if (recipe_.residual && y.sizes() == x.sizes()) y = y + x;
    if (recipe_.dropout > 0) y = at::dropout(y, recipe_.dropout, training);
    if (picture && i < 2) y = at::max_pool2d(y, 2);
    x = cut(y, static_cast<long>(i) + 1);
  }
  return at::linear(x.flatten(1), head_.weight, head_.bias);
}

void Network::build_recurrent() {
  const long gates = recipe_.model == Model::lstm ? 4 : 1;
  embedding_ = add("embedding.weight", at::randn({recipe_.inputs, recipe_.width}) * (0.5 * recipe_.gain));
  ++layer_;
  const double size = 1 / std::sqrt(static_cast<double>(recipe_.width));
  for (long i = 0; i < recipe_.depth; ++i) {
    const std::string name = "rnn" + std::to_string(i + 1);
    const Linear inward = linear(name + ".input", {gates * recipe_.width, recipe_.width}, size * 0.7);
    const Linear onward = linear(name + ".hidden", {gates * recipe_.width, recipe_.width}, size * 0.7);
    recurrent_.insert(recurrent_.end(), {inward.weight, onward.weight, inward.bias, onward.bias});
    ++layer_;
  }
  head_ = linear("head", {recipe_.outputs, recipe_.width}, size);
}

at::Tensor Network::forward_recurrent(const at::Tensor& inputs, bool training) {
  at::Tensor x = at::embedding(embedding_, inputs);
  const at::Tensor zero = at::zeros({recipe_.depth, inputs.size(0), recipe_.width});
  const double dropout = recipe_.depth > 1 ? recipe_.dropout : 0;
  if (recipe_.model == Model::lstm) {
    x = std::get<0>(at::lstm(x, {zero, zero}, recurrent_, true, recipe_.depth, dropout, training, false, true));
  } else {
    x = std::get<0>(at::rnn_tanh(x, zero, recurrent_, true, recipe_.depth, dropout, training, false, true));
  }
  x = recipe_.task == Task::characters ? x.flatten(0, 1) : x.mean(1);
  if (recipe_.dropout > 0) x = at::dropout(x, recipe_.dropout, training);
  return at::linear(cut(x, recipe_.depth), head_.weight, head_.bias);
}

void Network::build_transformer() {
  embedding_ = add("embedding.weight", at::randn({recipe_.inputs, recipe_.width}) * (0.3 * recipe_.gain));
  positions_ = add("positions.weight", at::randn({recipe_.length, recipe_.width}) * (0.3 * recipe_.gain));
  ++layer_;
  const double size = 1 / std::sqrt(static_cast<double>(recipe_.width));
  for (long i = 0; i < recipe_.depth; ++i) {
    const std::string name = "block" + std::to_string(i + 1);
    linears_.push_back(linear(name + ".attention", {3 * recipe_.width, recipe_.width}, size));
    linears_.push_back(linear(name + ".mix", {recipe_.width, recipe_.width}, size * 0.7));
    linears_.push_back(linear(name + ".up", {2 * recipe_.width, recipe_.width}, size * 1.4));
    linears_.push_back(linear(name + ".down", {recipe_.width, 2 * recipe_.width}, size * 0.5));
    scales_.push_back(scale(name + ".norm1", recipe_.width));
    scales_.push_back(scale(name + ".norm2", recipe_.width));
    ++layer_;
  }
  scales_.push_back(scale("norm", recipe_.width));
  head_ = linear("head", {recipe_.outputs, recipe_.width}, size);
}

at::Tensor Network::attended(const at::Tensor& x, std::size_t block) const {
  constexpr long kHeads = 2;
  const long length = x.size(1);
  const long each = recipe_.width / kHeads;
  const Linear& in = linears_[block * 4];
  const at::Tensor all =
      at::linear(x, in.weight, in.bias).reshape({x.size(0), length, 3, kHeads, each}).permute({2, 0, 3, 1, 4});
  at::Tensor scores = at::matmul(all[0], all[1].transpose(-2, -1)) / std::sqrt(static_cast<double>(each));
  if (recipe_.task == Task::characters) {
    const at::Tensor later = at::ones({length, length}, at::kBool).triu(1);
    scores = scores.masked_fill(later, -1e9);
  }
  const at::Tensor mixed = at::matmul(at::softmax(scores, -1), all[2]).transpose(1, 2).flatten(2);
  const Linear& out = linears_[block * 4 + 1];
  return at::linear(mixed, out.weight, out.bias);
}

at::Tensor Network::forward_transformer(const at::Tensor& inputs, bool training) {
  at::Tensor x = cut(at::embedding(embedding_, inputs) + positions_, 1);
  const auto dropped = [&](const at::Tensor& y) {
    return recipe_.dropout > 0 ? at::dropout(y, recipe_.dropout, training) : y;
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(recipe_.depth); ++i) {
    const auto fed = [&](const at::Tensor& y) {
      const Linear& up = linears_[i * 4 + 2];
      const Linear& down = linears_[i * 4 + 3];
      return at::linear(activated(at::linear(y, up.weight, up.bias)), down.weight, down.bias);
    };
    if (recipe_.norm_first) {
      x = x + dropped(attended(normalised(scales_[2 * i], x, training), i));
      x = x + dropped(fed(normalised(scales_[2 * i + 1], x, training)));
    } else {
      x = normalised(scales_[2 * i], x + dropped(attended(x, i)), training);
      x = normalised(scales_[2 * i + 1], x + dropped(fed(x)), training);
    }
    x = cut(x, static_cast<long>(i) + 2);
  }
  if (recipe_.norm_first) x = normalised(scales_.back(), x, training);
  x = recipe_.task == Task::characters ? x.flatten(0, 1) : x.mean(1);
  return at::linear(x, head_.weight, head_.bias);
}

at::Tensor Network::forward(const at::Tensor& inputs, bool training) {
  at::Tensor out;
  switch (recipe_.model) {
    case Model::perceptron:
    case Model::residual:
    case Model::convolutional:
      out = forward_layers(inputs, training);
      break;
    case Model::recurrent:
    case Model::lstm:
      out = forward_recurrent(inputs, training);
      break;
    case Model::transformer:
      out = forward_transformer(inputs, training);
      break;
  }
  return recipe_.output_scale == 1 ? out : out * recipe_.output_scale;
}

}  // namespace osler::population
