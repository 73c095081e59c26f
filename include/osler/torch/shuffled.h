// Loaders: batches that can be asked for by number, so that a training can go on in the middle of an epoch.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "osler/torch/training.h"

namespace osler::torch {

/// Where batches come from. The batch depends on the two numbers and on nothing else; whoever makes a loader of their
/// own, with augmentation for instance, draws its random numbers from a generator seeded by both.
struct Loader {
  std::int64_t batches = 0;  ///< of one epoch
  std::function<Batch(std::int64_t epoch, std::int64_t index)> batch;
  std::string description;  ///< names the data and its order: a checkpoint is refused under another one
};

/// How tensors are cut into batches.
struct ShuffledOptions {
  std::int64_t batch_size = 32;
  std::uint64_t seed = 0;
  bool shuffle = true;     ///< false: always in the order of the tensors, as for validation
  bool drop_last = false;  ///< leave a last batch out that is smaller than the others
};

/// The samples of two tensors, each once per epoch, in an order that follows from the seed and the epoch alone. It uses
/// none of LibTorch's random numbers. Copies share their tensors. Not for several threads at once.
class Shuffled {
 public:
  /// Samples lie along the first dimension of both. Throws std::invalid_argument when they do not fit together.
  Shuffled(at::Tensor inputs, at::Tensor targets, const ShuffledOptions& options = {});

  [[nodiscard]] std::int64_t batches() const;
  [[nodiscard]] Batch batch(std::int64_t epoch, std::int64_t index) const;
  /// For train().
  operator Loader() const;

 private:
  struct Data;
  std::shared_ptr<Data> data_;
};

/// Batches without end, epoch after epoch: Training::next_batch for the probes.
[[nodiscard]] std::function<Batch()> without_end(const Loader& loader);

}  // namespace osler::torch
