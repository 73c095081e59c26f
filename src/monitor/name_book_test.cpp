// Names of tensors: from weights, through operations.
#include "monitor/name_book.h"

#include <gtest/gtest.h>

#include <array>

namespace osler::monitor {
namespace {

TEST(NameBook, CallsWhatFollowsALayerAfterIt) {
  NameBook book;
  book.declare("fc1.weight", 100);
  const std::array linear = {TensorKey{1, 10}, TensorKey{2, 100}};
  EXPECT_EQ(book.result("linear", linear), "fc1");
  book.name(3, "fc1");
  const std::array relu = {TensorKey{3, 30}};
  EXPECT_EQ(book.result("relu", relu), "fc1 -> relu");
}

TEST(NameBook, CallsASumAfterTheBranchThatWasComputedLast) {
  NameBook book;
  book.name(1, "stream");
  book.name(2, "branch");
  const std::array inputs = {TensorKey{2, 20}, TensorKey{1, 10}};
  EXPECT_EQ(book.result("add", inputs), "branch");
}

TEST(NameBook, KnowsNothingOfForeignTensors) {
  NameBook book;
  const std::array inputs = {TensorKey{1, 10}};
  EXPECT_EQ(book.result("relu", inputs), "");
  book.name(1, "x");
  book.forget();
  EXPECT_EQ(book.of({1, 10}), "");
}

}  // namespace
}  // namespace osler::monitor
