// Preserved: a training as it was, put back exactly when an experiment is over.
#pragma once

#include <memory>

#include "osler/torch/training.h"

namespace osler::torch {

/// Remembers model (parameters, buffers, gradients, which of them want gradients, the mode of every module), optimizer
/// (state and options of every group) and random number generators, and puts them back bit for bit, in the same
/// tensors, when it is destroyed: at the end, after an exception, after a stop.
class Preserved {
 public:
  Preserved(::torch::nn::Module& model, ::torch::optim::Optimizer& optimizer);
  explicit Preserved(const Training& training) : Preserved(training.model, training.optimizer) {}
  Preserved(const Preserved&) = delete;
  Preserved& operator=(const Preserved&) = delete;
  ~Preserved();

  /// Puts everything back now, for a second experiment from the same start; the destructor does it once more.
  void restore();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace osler::torch
