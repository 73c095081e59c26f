// Suggestions for words that are not known.
#include "cli/suggest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace osler::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> kIds = {"loss-diverging", "loss-oscillating", "loss-plateau",
                                       "overfitting",    "underfitting",     "vanishing-gradients"};

TEST(EditDistance, CountsTypingErrors) {
  EXPECT_EQ(edit_distance("overfitting", "overfitting"), 0);
  EXPECT_EQ(edit_distance("overfiting", "overfitting"), 1);
  EXPECT_EQ(edit_distance("ovrefitting", "overfitting"), 1) << "two neighbours swapped are one error";
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Nearest, ForgivesTypingErrors) {
  EXPECT_THAT(nearest("overfiting", kIds), ElementsAre("overfitting"));
  EXPECT_THAT(nearest("loss-divergin", kIds), ElementsAre("loss-diverging"));
}

TEST(Nearest, FindsPartsOfNames) {
  EXPECT_THAT(nearest("vanishing", kIds), ElementsAre("vanishing-gradients"));
}

TEST(Nearest, StaysSilentWhenNothingIsClose) {
  EXPECT_THAT(nearest("runs/exp42", kIds), IsEmpty());
  EXPECT_THAT(nearest("", kIds), IsEmpty());
  EXPECT_THAT(nearest(std::string(100'000, 'x'), kIds), IsEmpty());
}

TEST(DidYouMean, ReadsLikeASentence) {
  EXPECT_EQ(did_you_mean("overfiting", kIds), "; did you mean overfitting?");
  EXPECT_EQ(did_you_mean("loss-", kIds), "; did you mean loss-diverging, loss-oscillating or loss-plateau?");
  EXPECT_EQ(did_you_mean("zzz", kIds), "");
}

}  // namespace
}  // namespace osler::cli
