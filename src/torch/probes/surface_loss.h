// SurfaceLoss: the loss on a few fixed batches as a function of the weights, which is what a loss surface is.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "osler/torch/training.h"
#include "torch/saved_state.h"

namespace osler::torch {

/// Directions and gradients are flat: all parameters that want gradients, one after the other. Random numbers inside
/// the model (dropout) are the same at every evaluation. Changes model, mode and random numbers: use it under
/// Preserved.
class SurfaceLoss {
 public:
  /// One parameter and its place in a flat vector.
  struct Part {
    std::string name;
    at::Tensor value;   ///< the model's own
    at::Tensor origin;  ///< a copy of what it was
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  /// All parameters of one layer: "fc1" for "fc1.weight" and "fc1.bias".
  struct Block {
    std::string layer;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  /// Draws `batches` batches. Throws std::invalid_argument when nothing is trainable or the loss is no single number.
  SurfaceLoss(const Training& training, int batches, bool evaluation_mode);

  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] std::vector<Block> blocks() const;
  [[nodiscard]] std::int64_t size() const { return parts_.back().end; }
  [[nodiscard]] std::size_t batch_count() const { return batches_.size(); }
  [[nodiscard]] at::Tensor origin() const;

  /// Draws other batches in place of these; random numbers inside the model are others, too.
  void redraw(int batches);

  /// The mean loss of the batches where the weights are now.
  [[nodiscard]] double value();
  /// The gradient of the mean loss.
  [[nodiscard]] at::Tensor gradient();
  /// The gradient of one batch's loss; with `graph` it can be differentiated again.
  [[nodiscard]] at::Tensor gradient_of(std::size_t batch, bool graph = false);
  /// The derivative of `scalar` by the weights, zero where they do not matter.
  [[nodiscard]] at::Tensor derivative(const at::Tensor& scalar, bool graph) const;

  /// Puts the weights at their origin plus `offset`.
  void move(const at::Tensor& offset);
  void move_back();

 private:
  [[nodiscard]] at::Tensor loss_of(std::size_t batch);

  const Training& training_;
  std::vector<Part> parts_;
  std::vector<at::Tensor> values_;
  std::vector<Batch> batches_;
  RandomState random_;
};

}  // namespace osler::torch
