// What is foretold of a run, of which runs, and from what.
#include "diagnosis/prognosis.h"

#include <gtest/gtest.h>

#include <cmath>

#include "diagnosis/sample_run.h"
#include "osler/diagnosis/diagnose.h"

namespace osler {
namespace {

using sample::Values;

/// A tenth-power law with a floor at 1.7: what a language model's loss looks like.
double law(double step) {
  return 1.7 + 3.0 * std::pow(step / 100 + 1, -0.5);
}

/// The first `share` of a run of 20,000 steps, logged every hundred.
Run begun(double share, double noise = 0.01) {
  Run run;
  sample::Noise draws(3);
  const SeriesId loss = run.series("train/loss");
  for (std::int64_t step = 0; static_cast<double>(step) < share * 20'000; step += 100) {
    run.add(Event{loss, step, kNoTime, law(static_cast<double>(step)) * (1 + noise * draws.normal())});
  }
  return run;
}

std::optional<Prognosis> told(const Run& run) {
  const auto report = diagnose(run);
  EXPECT_TRUE(report.has_value());
  return report->prognosis;
}

TEST(Prognosis, HoldsForARunThatGoesOnAsItDid) {
  for (const double share : {0.4, 0.6, 0.8}) {
    osler::Run run = begun(share);
    run.config("max_steps", "20000");
    const auto prognosis = told(run);
    ASSERT_TRUE(prognosis) << share;
    EXPECT_EQ(prognosis->step, 20'000);
    EXPECT_EQ(prognosis->from, "max_steps 20000");
    EXPECT_LT(prognosis->low, law(20'000)) << share;
    EXPECT_GT(prognosis->high, law(20'000)) << share;
    EXPECT_LT(prognosis->high - prognosis->low, 0.4) << share;
    EXPECT_NEAR(prognosis->left, 1 - share, 0.02);
    EXPECT_NE(prognosis->text.find("train/loss"), std::string::npos);
  }
}

TEST(Prognosis, IsNarrowerTheMoreIsKnown) {
  osler::Run early = begun(0.4);
  osler::Run late = begun(0.8);
  early.config("max_steps", "20000");
  late.config("max_steps", "20000");
  const auto wide = told(early);
  const auto narrow = told(late);
  ASSERT_TRUE(wide && narrow);
  EXPECT_GT(wide->high - wide->low, narrow->high - narrow->low);
}

TEST(Prognosis, NeedsAnEndThatIsAhead) {
  EXPECT_FALSE(told(begun(0.5)));
  osler::Run over = begun(1);
  over.config("max_steps", "20000");
  EXPECT_FALSE(told(over));
  osler::Run far = begun(0.1);
  far.config("max_steps", "20000");
  EXPECT_FALSE(told(far)) << "nine times as far as what is known";
}

TEST(Prognosis, TakesTheEndFromARateOnItsWayToZero) {
  const auto with_rate = [](auto&& rate) {
    osler::Run run = begun(0.6);
    const SeriesId lr = run.series("train/lr");
    for (std::int64_t step = 0; step < 12'000; step += 100) {
      run.add(Event{lr, step, kNoTime, rate(static_cast<double>(step) / 20'000)});
    }
    return told(run);
  };
  const auto line = with_rate([](double x) { return 3e-4 * (1 - x); });
  ASSERT_TRUE(line);
  EXPECT_NEAR(static_cast<double>(line->step), 20'000, 100);
  const auto cosine = with_rate([](double x) { return 1.5e-4 * (1 + std::cos(M_PI * x)); });
  ASSERT_TRUE(cosine);
  EXPECT_NEAR(static_cast<double>(cosine->step), 20'000, 100);
  EXPECT_FALSE(with_rate([](double) { return 3e-4; }));
  EXPECT_FALSE(with_rate([](double x) { return 3e-4 * std::pow(1 + 20 * x, -0.5); })) << "never reaches zero";
}

TEST(Prognosis, TakesTheEndFromTheEpochs) {
  osler::Run whole = begun(0.6);
  osler::Run fractional = begun(0.6);
  const SeriesId count = whole.series("epoch");
  const SeriesId share = fractional.series("epoch");
  for (std::int64_t step = 0; step < 12'000; step += 100) {
    whole.add(Event{count, step, kNoTime, std::floor(static_cast<double>(step) / 2'000)});
    fractional.add(Event{share, step, kNoTime, static_cast<double>(step) / 2'000});
  }
  whole.config("epochs", "10");
  fractional.config("num_train_epochs", "10");
  for (const osler::Run* run : {&whole, &fractional}) {
    const auto prognosis = told(*run);
    ASSERT_TRUE(prognosis);
    EXPECT_NEAR(static_cast<double>(prognosis->step), 20'000, 200);
  }
  osler::Run without = begun(0.6);
  without.config("epochs", "100000");
  EXPECT_FALSE(told(without)) << "steps are no epochs";
}

TEST(Prognosis, IsNotToldOfARunThatIsSick) {
  osler::Run run = begun(0.6);
  run.config("max_steps", "20000");
  const SeriesId loss = run.series("train/loss");
  for (std::int64_t step = 12'000; step < 13'000; step += 100) run.add(Event{loss, step, kNoTime, std::nan("")});
  EXPECT_FALSE(told(run));
}

}  // namespace
}  // namespace osler
