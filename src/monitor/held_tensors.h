// HeldTensors: parameters that a test holds itself, as a source of views.
#pragma once

#include <vector>

#include "monitor/tensor_source.h"

namespace osler::monitor {

/// Vectors of floats that stand for parameters and their gradients; an empty gradient is none.
class HeldTensors final : public TensorSource {
 public:
  std::vector<std::vector<float>> weights;
  std::vector<std::vector<float>> gradients;

  std::optional<stats::TensorView> gradient(std::size_t number) override {
    if (gradients[number].empty()) return std::nullopt;
    return stats::TensorView::of(gradients[number]);
  }
  bool has_gradient(std::size_t number) override { return !gradients[number].empty(); }
  std::optional<stats::TensorView> weight(std::size_t number) override {
    return stats::TensorView::of(weights[number]);
  }
};

}  // namespace osler::monitor
