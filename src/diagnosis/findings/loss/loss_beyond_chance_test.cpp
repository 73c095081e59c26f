// What loss-beyond-chance says of losses out of proportion to their answers.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "loss-beyond-chance";

/// Training falls from `first` to `last` while the validation figure `name` climbs to `figure`.
Run with(double first, double last, const std::string& name, double from, double figure) {
  osler::Run run;
  const auto falling = [&](double x) { return last + (first - last) * std::exp(-7 * x); };
  record(run, "train_loss", noisy(120, 0.1, 1, falling));
  record(run, "val_loss", noisy(12, 0.01, 2, [&](double x) { return last + (first - last) / 3 * std::exp(-7 * x); }),
         {.first = 10, .stride = 10});
  record(run, name, noisy(12, 0.005, 3, [&](double x) { return figure - (figure - from) * std::exp(-4 * x); }),
         {.first = 10, .stride = 10});
  return run;
}

TEST(LossBeyondChance, OutputsThatHadBlownUpAreFoundBesideFairAnswers) {
  const Verdict accuracy = verdict_of(kId, with(40, 2.8, "val_acc", 0.6, 0.73));
  EXPECT_TRUE(found(accuracy, Severity::warning)) << in_words(accuracy);
  const Verdict area = verdict_of(kId, with(31, 3.4, "val_auc", 0.7, 0.86));
  EXPECT_TRUE(found(area, Severity::warning)) << in_words(area);
}

TEST(LossBeyondChance, ASumKeepsItsProportionToTheAnswers) {
  EXPECT_TRUE(absent(verdict_of(kId, with(44, 20, "val_acc", 0.55, 0.86))));
  EXPECT_TRUE(no_alarm(verdict_of(kId, with(31, 17, "val_auc", 0.6, 0.86))));
}

TEST(LossBeyondChance, WhereMostAnswersAreRightTheSizeDoesNoHarm) {
  EXPECT_TRUE(absent(verdict_of(kId, with(40, 2.8, "val_acc", 0.6, 0.97))));
}

}  // namespace
}  // namespace osler::sample
