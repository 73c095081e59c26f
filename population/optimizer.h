// The update rules, written out so that faults can reach into them.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <vector>

#include "network.h"
#include "recipe.h"

namespace osler::population {

/// Changes parameters by their gradients.
class Optimizer {
 public:
  Optimizer(const Recipe& recipe, std::vector<Parameter>& parameters);

  /// One update with this rate; frozen layers are left alone.
  void step(double rate);
  /// Forgets its moments, as a resume without the optimizer's state does.
  void forget();
  /// Clears all gradients.
  void clear();
  /// The norm of all gradients together.
  double gradient_norm() const;
  /// Scales all gradients.
  void scale_gradients(double factor);
  /// Sends all gradients through half precision under a loss scale.
  void halve_gradients(double scale);

 private:
  void update(std::size_t index, const at::Tensor& gradient, double rate);

  Recipe recipe_;
  std::vector<Parameter>& parameters_;
  std::vector<at::Tensor> first_;
  std::vector<at::Tensor> second_;
  long taken_ = 0;
};

}  // namespace osler::population
