// The networks of the population: plain functions of tensors, so that faults can reach into every part.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <string>
#include <vector>

#include "recipe.h"

namespace osler::population {

/// One trainable tensor and the layer that it belongs to.
struct Parameter {
  std::string name;
  at::Tensor value;
  long layer = 0;
};

/// A network by recipe; layers are numbered from the input, the head is the last.
class Network {
 public:
  explicit Network(const Recipe& recipe);

  /// The outputs for a batch; for texts one row per symbol.
  at::Tensor forward(const at::Tensor& inputs, bool training);
  /// All parameters, in the order of the layers.
  std::vector<Parameter>& parameters() { return parameters_; }
  /// The number of layers, head included.
  long layers() const { return layer_ + 1; }
  /// Copies of all parameters and statistics.
  std::vector<at::Tensor> state() const;
  /// Takes over what `state` gave.
  void restore(const std::vector<at::Tensor>& state);

 private:
  struct Scale {
    at::Tensor weight, bias, mean, variance;
  };
  /// Weight and bias.
  struct Linear {
    at::Tensor weight, bias;
  };

  at::Tensor add(const std::string& name, at::Tensor value);
  Linear linear(const std::string& name, std::vector<long> shape, double size);
  Scale scale(const std::string& name, long size);
  at::Tensor normalised(Scale& scale, const at::Tensor& x, bool training);
  at::Tensor activated(const at::Tensor& x) const;
  at::Tensor cut(const at::Tensor& x, long layer) const;
  void build_layers();
  void build_recurrent();
  void build_transformer();
  at::Tensor forward_layers(at::Tensor x, bool training);
  at::Tensor forward_recurrent(const at::Tensor& inputs, bool training);
  at::Tensor forward_transformer(const at::Tensor& inputs, bool training);
  at::Tensor attended(const at::Tensor& x, std::size_t block) const;

  Recipe recipe_;
  long layer_ = 0;
  std::vector<Parameter> parameters_;
  std::vector<Linear> linears_;
  std::vector<Scale> scales_;
  std::vector<at::Tensor> recurrent_;
  at::Tensor embedding_, positions_;
  Linear head_;
};

}  // namespace osler::population
