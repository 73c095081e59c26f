// Preserved: a snapshot that is gone back to when it ends.
#include "osler/torch/preserved.h"

#include "torch/snapshot.h"

namespace osler::torch {

class Preserved::State {
 public:
  State(::torch::nn::Module& model, ::torch::optim::Optimizer& optimizer) : snapshot(model, optimizer) {}
  Snapshot snapshot;
};

Preserved::Preserved(::torch::nn::Module& model, ::torch::optim::Optimizer& optimizer)
    : state_(std::make_unique<State>(model, optimizer)) {}

Preserved::~Preserved() {
  try {
    restore();
  } catch (const std::exception&) {
    // Copying into memory that is there fails only with its device; a destructor can do nothing about that.
  }
}

void Preserved::restore() {
  state_->snapshot.restore();
}

}  // namespace osler::torch
