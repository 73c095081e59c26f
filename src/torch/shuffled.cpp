// Shuffled: a seeded order of samples that needs no state to go on from.
#include "osler/torch/shuffled.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace osler::torch {

struct Shuffled::Data {
  at::Tensor inputs;
  at::Tensor targets;
  ShuffledOptions options;
  std::int64_t samples = 0;
  // The order of the newest epoch asked for; it can always be made again.
  std::int64_t epoch = -1;
  at::Tensor order;

  const at::Tensor& order_of(std::int64_t wanted) {
    if (wanted == epoch) return order;
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(samples));
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    if (options.shuffle) {
      // std::shuffle differs between standard libraries; the engine and this loop do not.
      std::seed_seq seed{static_cast<std::uint32_t>(options.seed), static_cast<std::uint32_t>(options.seed >> 32U),
                         static_cast<std::uint32_t>(wanted), static_cast<std::uint32_t>(wanted >> 32)};
      std::mt19937_64 engine(seed);
      for (std::size_t i = numbers.size(); i > 1; --i) std::swap(numbers[i - 1], numbers[engine() % i]);
    }
    order = at::tensor(numbers, at::kLong).to(inputs.device());
    epoch = wanted;
    return order;
  }
};

Shuffled::Shuffled(at::Tensor inputs, at::Tensor targets, const ShuffledOptions& options)
    : data_(std::make_shared<Data>()) {
  const bool fits = inputs.defined() && targets.defined() && inputs.dim() > 0 && targets.dim() > 0 &&
                    inputs.size(0) == targets.size(0) && inputs.device() == targets.device();
  if (!fits) {
    throw std::invalid_argument(
        "osler: inputs and targets need the same number of samples along their first dimension, on the same device");
  }
  if (options.batch_size < 1 || (options.drop_last && inputs.size(0) < options.batch_size)) {
    throw std::invalid_argument(
        fmt::format("osler: batches of {} samples cannot be made of {}", options.batch_size, inputs.size(0)));
  }
  data_->samples = inputs.size(0);
  data_->inputs = std::move(inputs);
  data_->targets = std::move(targets);
  data_->options = options;
}

std::int64_t Shuffled::batches() const {
  const std::int64_t size = data_->options.batch_size;
  return (data_->samples + (data_->options.drop_last ? 0 : size - 1)) / size;
}

Batch Shuffled::batch(std::int64_t epoch, std::int64_t index) const {
  if (epoch < 0 || index < 0 || index >= batches()) {
    throw std::invalid_argument(
        fmt::format("osler: there is no batch {} in epoch {}; an epoch has {}", index, epoch, batches()));
  }
  const std::int64_t begin = index * data_->options.batch_size;
  const std::int64_t size = std::min(data_->options.batch_size, data_->samples - begin);
  if (!data_->options.shuffle) return {data_->inputs.narrow(0, begin, size), data_->targets.narrow(0, begin, size)};
  const at::Tensor chosen = data_->order_of(epoch).narrow(0, begin, size);
  return {data_->inputs.index_select(0, chosen), data_->targets.index_select(0, chosen)};
}

Shuffled::operator Loader() const {
  const ShuffledOptions& options = data_->options;
  const std::string order = options.shuffle ? fmt::format("shuffled by {}", options.seed) : "in order";
  return {batches(), [own = *this](std::int64_t epoch, std::int64_t index) { return own.batch(epoch, index); },
          fmt::format("{} samples, {}, in batches of {}{}", data_->samples, order, options.batch_size,
                      options.drop_last ? " without the rest" : "")};
}

std::function<Batch()> without_end(const Loader& loader) {
  return [loader, epoch = std::int64_t{0}, index = std::int64_t{0}]() mutable {
    if (index == loader.batches) {
      ++epoch;
      index = 0;
    }
    return loader.batch(epoch, index++);
  };
}

}  // namespace osler::torch
