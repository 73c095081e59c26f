// How non-finite values pass through operations, told by what goes in and what comes out.
#include "monitor/nonfinite_flow.h"

#include <gtest/gtest.h>

#include <vector>

namespace osler::monitor {
namespace {

TEST(NonfiniteFlow, AnOperationIsAccusedOnlyWhenNothingBadWentIn) {
  EXPECT_EQ(ruling({.plain = "log"}), FlowRuling::accused);
  EXPECT_EQ(ruling({.plain = "sum", .carried = Carried::fault, .nan_carried = true, .nan_made = true}),
            FlowRuling::carried_on);
}

TEST(NonfiniteFlow, InfinitiesThatTheProgramWroteDownAreAskedFor) {
  EXPECT_EQ(ruling({.plain = "masked_fill", .scalars_finite = false}), FlowRuling::asked_for);
  EXPECT_EQ(ruling({.plain = "add", .carried = Carried::asked_for}), FlowRuling::asked_for);
}

TEST(NonfiniteFlow, WhoTurnsAnInfinityIntoNaNIsAccused) {
  EXPECT_EQ(ruling({.plain = "softmax", .carried = Carried::asked_for, .nan_made = true}), FlowRuling::accused);
  EXPECT_EQ(ruling({.plain = "nll_loss_forward", .carried = Carried::asked_for}), FlowRuling::accused);
}

TEST(NonfiniteFlow, AMaskHoldsNothingAboveZeroAndNoNaN) {
  const MaskClues causal{.numbers = true};
  EXPECT_TRUE(looks_like_mask("mul", causal));
  EXPECT_TRUE(looks_like_mask("add", {.numbers = true, .highest = 0, .lowest = -3}));   // with distances, as ALiBi
  EXPECT_FALSE(looks_like_mask("mul", {.numbers = true, .highest = 0, .lowest = -3}));  // nobody multiplies by that
  EXPECT_FALSE(looks_like_mask("add", {.numbers = true, .highest = 0.5}));
  EXPECT_FALSE(looks_like_mask("add", {.nan = true}));
  EXPECT_FALSE(looks_like_mask("add", {.above = true}));
}

TEST(NonfiniteFlow, WhatIsAddedTimesZeroIsNotRead) {
  EXPECT_TRUE(ignores_first("addmm", std::vector<double>{0, 1}));
  EXPECT_FALSE(ignores_first("addmm", std::vector<double>{1, 1}));
  EXPECT_FALSE(ignores_first("mul", std::vector<double>{0}));
}

}  // namespace
}  // namespace osler::monitor
