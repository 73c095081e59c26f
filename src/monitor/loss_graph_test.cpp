// How a loss was computed, by its graph.
#include "monitor/loss_graph.h"

#include <gtest/gtest.h>

#include <vector>

namespace osler::monitor {
namespace {

TEST(LossGraph, ACrossEntropyOfASoftmaxIsSeen) {
  EXPECT_TRUE(
      squashed_twice(std::vector<LossNode>{{"nll_loss", {1}}, {"log_softmax", {2}}, {"softmax", {3}}, {"addmm", {}}}));
  EXPECT_TRUE(squashed_twice(std::vector<LossNode>{{"binary_cross_entropy_with_logits", {1}}, {"sigmoid", {}}}));
}

TEST(LossGraph, ViewsInBetweenHideNothing) {
  EXPECT_TRUE(
      squashed_twice(std::vector<LossNode>{{"log_softmax", {1}}, {"view", {2}}, {"transpose", {3}}, {"softmax", {}}}));
}

TEST(LossGraph, OneTermOfManyIsEnough) {
  EXPECT_TRUE(
      squashed_twice(std::vector<LossNode>{{"add", {1, 2}}, {"mse_loss", {}}, {"log_softmax", {3}}, {"sigmoid", {}}}));
}

TEST(LossGraph, RawOutputsAreRight) {
  EXPECT_FALSE(
      squashed_twice(std::vector<LossNode>{{"nll_loss", {1}}, {"log_softmax", {2}}, {"addmm", {3}}, {"softmax", {}}}));
  EXPECT_FALSE(squashed_twice(std::vector<LossNode>{{"mse_loss", {1}}, {"sigmoid", {}}}));
  EXPECT_FALSE(squashed_twice(std::vector<LossNode>{{"log_softmax", {1}}, {"mul", {2}}, {"sigmoid", {}}}));  // scaled
  EXPECT_FALSE(
      squashed_twice(std::vector<LossNode>{{"log_softmax", {1}}, {"log_softmax", {2}}, {"addmm", {}}}));  // no harm
  EXPECT_FALSE(squashed_twice(std::vector<LossNode>{{"log_softmax", {9}}}));                              // not shown
}

bool taking_turns(const std::vector<std::uint64_t>& kinds) {
  LossTurns turns;
  for (const std::uint64_t kind : kinds) turns.step(kind);
  return turns.seen();
}

TEST(LossTurns, SeveralTasksOneAfterTheOther) {
  EXPECT_TRUE(taking_turns({7, 8, 7, 8, 7, 8, 7, 8, 7, 8}));
  EXPECT_TRUE(taking_turns({7, 8, 9, 7, 8, 9, 7, 8, 9, 7, 8, 9, 7, 8, 9}));
  EXPECT_TRUE(taking_turns({7, 7, 8, 7, 8, 8, 7, 8, 7, 7, 8}));  // drawn by lot
}

TEST(LossTurns, OneLossOrOneAfterAWarmUpIsNone) {
  EXPECT_FALSE(taking_turns({7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}));
  EXPECT_FALSE(taking_turns({7, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8}));
  EXPECT_FALSE(taking_turns({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));  // every graph is another
}

}  // namespace
}  // namespace osler::monitor
