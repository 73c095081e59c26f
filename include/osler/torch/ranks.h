// Ranks: the other processes of a data-parallel training, as the monitor speaks to them.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <utility>
#include <vector>

namespace osler::torch {

/// How to reach the other ranks. Every rank must give the same size and take part in every sum.
struct Ranks {
  int rank = 0;
  int size = 1;
  /// Replaces a small tensor of doubles in host memory by its sum over all ranks.
  std::function<void(at::Tensor&)> sum;
};

/// The ranks of a c10d process group or backend (Gloo): anything with getRank, getSize and allreduce.
template <typename Group>
Ranks ranks_of(Group group) {
  return {group->getRank(), group->getSize(), [group = std::move(group)](at::Tensor& numbers) {
            std::vector<at::Tensor> tensors = {numbers};
            group->allreduce(tensors)->wait();
          }};
}

}  // namespace osler::torch
