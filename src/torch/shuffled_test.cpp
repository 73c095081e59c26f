// Seeded batches: each sample once per epoch, in an order that can be asked for again.
#include "osler/torch/shuffled.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace osler::torch {
namespace {

at::Tensor numbers(std::int64_t count) {
  return at::arange(count, at::kLong).unsqueeze(1);
}

std::vector<std::int64_t> epoch_of(const Shuffled& shuffled, std::int64_t epoch) {
  std::vector<std::int64_t> seen;
  for (std::int64_t i = 0; i < shuffled.batches(); ++i) {
    const Batch batch = shuffled.batch(epoch, i);
    EXPECT_TRUE(at::equal(batch.inputs.squeeze(1), batch.targets));
    for (std::int64_t j = 0; j < batch.targets.size(0); ++j) seen.push_back(batch.targets[j].item<std::int64_t>());
  }
  return seen;
}

TEST(Shuffled, GivesEachSampleOncePerEpoch) {
  const Shuffled shuffled(numbers(37), at::arange(37), {.batch_size = 8, .seed = 5});
  EXPECT_EQ(shuffled.batches(), 5);
  EXPECT_EQ(shuffled.batch(0, 4).inputs.size(0), 5);
  std::vector<std::int64_t> all(37);
  std::iota(all.begin(), all.end(), 0);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::int64_t> seen = epoch_of(shuffled, epoch);
    EXPECT_NE(seen, all);
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, all);
  }
}

TEST(Shuffled, OrdersAnEpochByItsNumberAndTheSeedAlone) {
  const Shuffled first(numbers(50), at::arange(50), {.batch_size = 7, .seed = 5});
  const Shuffled same(numbers(50), at::arange(50), {.batch_size = 7, .seed = 5});
  const Shuffled other(numbers(50), at::arange(50), {.batch_size = 7, .seed = 6});
  static_cast<void>(epoch_of(same, 9));
  ::torch::manual_seed(123);
  EXPECT_EQ(epoch_of(first, 2), epoch_of(same, 2));
  EXPECT_NE(epoch_of(first, 2), epoch_of(first, 3));
  EXPECT_NE(epoch_of(first, 2), epoch_of(other, 2));
}

TEST(Shuffled, HasTheSameOrderOnEveryMachine) {
  const Shuffled shuffled(numbers(10), at::arange(10), {.batch_size = 10, .seed = 1});
  EXPECT_EQ(epoch_of(shuffled, 0), epoch_of(shuffled, 0));
  const Shuffled again(numbers(10), at::arange(10), {.batch_size = 3, .seed = 1});
  EXPECT_EQ(epoch_of(shuffled, 0), epoch_of(again, 0));  // whatever the size of its batches
}

TEST(Shuffled, UsesNoneOfLibTorchsRandomNumbers) {
  ::torch::manual_seed(4);
  const at::Tensor expected = at::randn({3});
  ::torch::manual_seed(4);
  static_cast<void>(epoch_of(Shuffled(numbers(20), at::arange(20)), 0));
  EXPECT_TRUE(at::equal(at::randn({3}), expected));
}

TEST(Shuffled, KeepsTheOrderOrLeavesTheRestOutOnRequest) {
  const Shuffled plain(numbers(10), at::arange(10), {.batch_size = 4, .shuffle = false, .drop_last = true});
  EXPECT_EQ(plain.batches(), 2);
  EXPECT_EQ(epoch_of(plain, 3), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Shuffled, GoesOnWithoutEnd) {
  const Shuffled shuffled(numbers(6), at::arange(6), {.batch_size = 3, .seed = 2});
  const auto next = without_end(shuffled);
  std::vector<std::int64_t> seen;
  for (int i = 0; i < 4; ++i) {
    const Batch batch = next();
    for (std::int64_t j = 0; j < 3; ++j) seen.push_back(batch.targets[j].item<std::int64_t>());
  }
  std::vector<std::int64_t> expected = epoch_of(shuffled, 0);
  const std::vector<std::int64_t> second = epoch_of(shuffled, 1);
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(seen, expected);
}

TEST(Shuffled, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Shuffled(numbers(3), at::arange(4)), std::invalid_argument);
  EXPECT_THROW(Shuffled(at::Tensor(), at::arange(4)), std::invalid_argument);
  EXPECT_THROW(Shuffled(numbers(3), at::arange(3), {.batch_size = 0}), std::invalid_argument);
  EXPECT_THROW(Shuffled(numbers(3), at::arange(3), {.batch_size = 4, .drop_last = true}), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(Shuffled(numbers(3), at::arange(3)).batch(0, 1)), std::invalid_argument);
}

}  // namespace
}  // namespace osler::torch
