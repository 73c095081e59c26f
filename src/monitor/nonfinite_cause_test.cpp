// Why an operation made a non-finite value.
#include "monitor/nonfinite_cause.h"

#include <gtest/gtest.h>

#include <limits>

namespace osler::monitor {
namespace {

NonfiniteJudgement judged(const char* plain, std::optional<double> first = {}, std::optional<double> second = {}) {
  NonfiniteClues clues;
  clues.plain = plain;
  clues.first = first;
  clues.second = second;
  return judge(clues);
}

TEST(NonfiniteCause, IsToldByTheOperationAndWhatWentIn) {
  EXPECT_EQ(judged("log", 0).cause, OriginCause::log_of_zero);
  EXPECT_EQ(judged("log", -2).detail, "the logarithm of -2");
  EXPECT_EQ(judged("div", 1, 0).cause, OriginCause::division_by_zero);
  EXPECT_EQ(judged("div", 0, 0).detail, "0 / 0");
  EXPECT_EQ(judged("exp", 1000).cause, OriginCause::exp_overflow);
  EXPECT_EQ(judged("matmul").cause, OriginCause::exploding_signal);
}

TEST(NonfiniteCause, OfAFunctionOutsideItsDomainIsNoOverflow) {
  const NonfiniteJudgement acos = judged("acos", 1.001);
  EXPECT_EQ(acos.cause, OriginCause::outside_domain);
  EXPECT_EQ(acos.detail, "acos of 1.001, which is outside [-1, 1]");
  EXPECT_EQ(judged("atanh", 1).detail, "atanh of 1, which is not inside (-1, 1)");
}

TEST(NonfiniteCause, OfAWholePowerOfANegativeNumberIsAnOverflow) {
  NonfiniteClues clues;
  clues.plain = "pow";
  clues.first = -1e25;
  clues.second = 2;
  clues.infinite = true;
  EXPECT_EQ(judge(clues).cause, OriginCause::exploding_signal);
  clues.second = 1.5;
  EXPECT_EQ(judge(clues).cause, OriginCause::sqrt_at_zero);
}

TEST(NonfiniteCause, OfInfinitiesThatWereAskedForIsWhatWasDoneWithThem) {
  NonfiniteClues clues;
  clues.plain = "mul";
  clues.first = 0;
  clues.second = -std::numeric_limits<double>::infinity();
  clues.infinite_inputs = true;
  EXPECT_EQ(judge(clues).cause, OriginCause::outside_domain);
  EXPECT_EQ(judge(clues).detail, "0 x -inf");
  clues.plain = "sub";
  EXPECT_EQ(judge(clues).detail, "inf - inf");
}

TEST(NonfiniteCause, OfASlopeIsToldWhereItIsInfinite) {
  NonfiniteClues clues;
  clues.plain = "mul";
  clues.node = "acos";
  EXPECT_EQ(judge(clues).detail, "the slope of acos is infinite at -1 and 1");
  clues.node = "atan2";
  EXPECT_EQ(judge(clues).cause, OriginCause::division_by_zero);
}

TEST(NonfiniteCause, OfABackwardOperationIsThatOfItsForwardOne) {
  NonfiniteClues clues;
  clues.plain = "div";
  clues.node = "sqrt";
  EXPECT_EQ(judge(clues).cause, OriginCause::sqrt_at_zero);
}

TEST(NonfiniteCause, SmallNumbersOverflowNowhereButInSumsAndProducts) {
  NonfiniteClues clues;
  clues.plain = "linalg_pinv";
  clues.largest = 3;
  EXPECT_EQ(judge(clues).cause, OriginCause::outside_domain);
  clues.node = "linalg_eigh";
  EXPECT_EQ(judge(clues).detail, "eigenvectors have no slope where two eigenvalues are equal");
  clues.node = "lgamma";
  EXPECT_EQ(judge(clues).detail, "its slope is not finite at its inputs");
  clues.largest = 1e30;
  EXPECT_EQ(judge(clues).cause, OriginCause::exploding_signal);
  EXPECT_EQ(judged("linalg_slogdet", 0).detail, "the logarithm of a determinant of zero");
}

TEST(NonfiniteCause, OfFusedAttentionIsARowThatIsMaskedWhole) {
  NonfiniteClues clues;
  clues.plain = "scaled_dot_product_flash_attention_for_cpu";
  clues.largest = 3;
  clues.infinite_inputs = true;
  EXPECT_EQ(judge(clues).cause, OriginCause::division_by_zero);
  clues.infinite = true;
  clues.largest = 1e30;
  EXPECT_EQ(judge(clues).cause, OriginCause::exploding_signal);
}

}  // namespace
}  // namespace osler::monitor
