// What exploding-layer and silent-layer say of one layer among many, and what they leave alone.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::size_t kRows = 60;

Values around(double size, std::uint32_t seed) {
  return noisy(kRows, 0.2, seed, [size](double) { return size; });
}

/// Twenty layers of about 0.3, of which the eighth has the values `odd`.
Run twenty(const Values& odd, const Values& loss) {
  osler::Run run;
  if (!loss.empty()) record(run, "loss", loss);
  for (std::uint32_t i = 0; i < 20; ++i) {
    record(run, "grad_norm/layers." + std::to_string(i) + ".weight",
           i == 7 ? odd : around(0.2 + 0.01 * static_cast<double>(i), i + 1));
  }
  return run;
}

Values stuck() {
  return noisy(kRows, 0.02, 99, [](double) { return 2.3; });
}
Values learns() {
  return noisy(kRows, 0.02, 99, descent);
}

std::vector<std::string> named(const Verdict& verdict) {
  const auto* seen = std::get_if<Observation>(&verdict);
  return seen == nullptr ? std::vector<std::string>{} : seen->layers;
}

const std::vector<std::string> kEighth = {"layers.7.weight"};

TEST(ExplodingLayer, OneLayerFarAboveTheOthersIsNamedWhereNothingIsLearned) {
  const Verdict verdict = verdict_of("exploding-layer", twenty(around(80, 50), stuck()));
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_EQ(named(verdict), kEighth);
  EXPECT_TRUE(absent(verdict_of("silent-layer", twenty(around(80, 50), stuck()))));
}

TEST(ExplodingLayer, WithoutALossTheNormItselfDecides) {
  EXPECT_TRUE(found(verdict_of("exploding-layer", twenty(around(80, 50), {})), Severity::warning));
  osler::Run small;
  for (std::uint32_t i = 0; i < 20; ++i)
    record(small, "grad_norm/layers." + std::to_string(i), around(i == 7 ? 0.08 : 0.0003, i + 1));
  EXPECT_TRUE(found(verdict_of("exploding-layer", small), Severity::note));
}

TEST(ExplodingLayer, ALayerThatGrowsAwayFromTheOthersIsAWarningEvenWhileTheLossFalls) {
  const Values grows = noisy(kRows, 0.2, 50, [](double x) { return 0.3 * std::pow(10, 4 * x); });
  const Verdict verdict = verdict_of("exploding-layer", twenty(grows, learns()));
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_GT(std::get<Observation>(verdict).first_step, 15);
  Values broken = learns();
  for (std::size_t i = 50; i < broken.size(); ++i) broken[i] = std::nan("");
  EXPECT_TRUE(found(verdict_of("exploding-layer", twenty(grows, broken)), Severity::critical));
}

TEST(ExplodingLayer, AnOddSizeAllAlongInARunThatLearnsIsANote) {
  EXPECT_TRUE(found(verdict_of("exploding-layer", twenty(around(80, 50), learns())), Severity::note));
}

TEST(ExplodingLayer, ScaleDoesNotMatterOnlyTheOthersDo) {
  osler::Run run;
  record(run, "loss", stuck());
  for (std::uint32_t i = 0; i < 20; ++i) record(run, "grad_norm/layers." + std::to_string(i), around(300, i + 1));
  EXPECT_TRUE(absent(verdict_of("exploding-layer", run)));
}

TEST(ExplodingLayer, ThirtyfoldIsWithinWhatLayersDo) {
  EXPECT_TRUE(absent(verdict_of("exploding-layer", twenty(around(9, 50), stuck()))));
}

TEST(ExplodingLayer, TheLastOfASlopeIsNoLayerOfItsOwn) {
  osler::Run run;
  record(run, "loss", stuck());
  for (std::uint32_t i = 0; i < 12; ++i)
    record(run, "grad_norm/layers." + std::to_string(i), around(std::pow(3.0, i), i + 1));
  EXPECT_TRUE(absent(verdict_of("exploding-layer", run)));
  EXPECT_TRUE(absent(verdict_of("silent-layer", run)));
}

TEST(ExplodingLayer, KindsAreJudgedAmongThemselves) {
  osler::Run run;
  record(run, "loss", stuck());
  for (std::uint32_t i = 0; i < 6; ++i) {
    const std::string block = "grad_norm/h." + std::to_string(i);
    record(run, block + ".weight", around(50, i + 1));
    record(run, block + ".bias", around(0.05, i + 20));
    record(run, block + ".ln.weight", around(0.2, i + 40));
  }
  EXPECT_TRUE(absent(verdict_of("exploding-layer", run)));
}

TEST(ExplodingLayer, NetworksThatPlayAgainstEachOtherAreJudgedApart) {
  osler::Run run;
  record(run, "loss", stuck());
  for (std::uint32_t i = 0; i < 5; ++i) {
    record(run, "grad_norm/policy_net." + std::to_string(i) + ".weight", around(0.001, i + 1));
    record(run, "grad_norm/value_net." + std::to_string(i) + ".weight", around(300, i + 20));
  }
  EXPECT_TRUE(absent(verdict_of("exploding-layer", run)));
  EXPECT_TRUE(absent(verdict_of("silent-layer", run)));
}

TEST(ExplodingLayer, ThreeLayersAreTooFewToSayWhatIsUsual) {
  osler::Run run;
  for (std::uint32_t i = 0; i < 3; ++i) record(run, "grad_norm/fc" + std::to_string(i), around(i == 2 ? 80 : 0.3, i));
  EXPECT_TRUE(unchecked(verdict_of("exploding-layer", run)));
}

TEST(SilentLayer, ALayerAtRoundingAmongLiveOnesIsAWarningWhateverTheLossDoes) {
  for (const Values& loss : {stuck(), learns(), Values{}}) {
    const Verdict verdict = verdict_of("silent-layer", twenty(around(1e-9, 50), loss));
    ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
    EXPECT_EQ(named(verdict), kEighth);
  }
}

TEST(SilentLayer, ShortOfThatItIsAWarningOnlyWhereNothingIsLearned) {
  EXPECT_TRUE(found(verdict_of("silent-layer", twenty(around(5e-6, 50), stuck())), Severity::warning));
  EXPECT_TRUE(found(verdict_of("silent-layer", twenty(around(5e-6, 50), learns())), Severity::note));
}

TEST(SilentLayer, AThousandthMayBeDepth) {
  EXPECT_TRUE(absent(verdict_of("silent-layer", twenty(around(3e-4, 50), stuck()))));
}

TEST(SilentLayer, WhatHasNoGradientByArithmeticIsNotJudged) {
  osler::Run run;
  record(run, "loss", learns());
  for (std::uint32_t i = 0; i < 8; ++i) {
    const std::string block = "grad_norm/h." + std::to_string(i);
    record(run, block + ".attn.v.weight", around(0.3, i + 1));
    record(run, block + ".attn.k.bias", around(i == 3 ? 1e-10 : 1e-9, i + 20));
    record(run, block + ".attn.v.bias", around(0.02, i + 40));
  }
  record(run, "grad_norm/tok_embeddings.weight", around(1e-7, 70));
  record(run, "grad_norm/logit_scale", around(1e-8, 71));
  const Verdict verdict = verdict_of("silent-layer", run);
  EXPECT_TRUE(absent(verdict)) << in_words(verdict);
}

TEST(SilentLayer, AdaptersAreComparedWithAdapters) {
  osler::Run run;
  record(run, "loss", learns());
  for (std::uint32_t i = 0; i < 8; ++i) {
    record(run, "grad_norm/layers." + std::to_string(i) + ".q_proj.lora_A.weight", around(1e-6, i + 1));
    record(run, "grad_norm/layers." + std::to_string(i) + ".q_proj.lora_B.weight", around(1, i + 20));
  }
  const Verdict verdict = verdict_of("silent-layer", run);
  EXPECT_TRUE(absent(verdict)) << in_words(verdict);
}

TEST(SilentLayer, AFrozenLayerIsNoneOfTheOthers) {
  EXPECT_TRUE(absent(verdict_of("silent-layer", twenty(Values(kRows, 0.0), learns()))));
}

TEST(SilentLayer, AGatedBlockThatWakesUpIsJudgedByHowItIsNow) {
  const Values wakes = noisy(kRows, 0.2, 50, [](double x) { return x < 0.6 ? 1e-9 : 0.2; });
  EXPECT_TRUE(absent(verdict_of("silent-layer", twenty(wakes, learns()))));
}

TEST(ComputedNorm, LayersAloneGiveTheNormOfTheWhole) {
  osler::Run run;
  record(run, "grad_norm/a.weight", Values(30, 3.0));
  record(run, "grad_norm/b.weight", Values(30, 4.0));
  const auto roles = RoleMap::infer(run);
  const Patient patient(run, *roles);
  ASSERT_NE(patient.gradient_norm(), nullptr);
  EXPECT_TRUE(patient.gradient_norm()->computed);
  EXPECT_EQ(patient.gradient_norm()->curve.value, Values(30, 5.0));
  EXPECT_EQ(patient.gradient_norm()->name, "gradient norm (computed from 2 layers)");
}

TEST(ComputedNorm, ALoggedNormIsPreferred) {
  osler::Run run = twenty(around(0.3, 50), {});
  record(run, "grad_norm", Values(kRows, 7.0));
  const auto roles = RoleMap::infer(run);
  EXPECT_EQ(Patient(run, *roles).gradient_norm()->name, "grad_norm");
}

TEST(ComputedNorm, LayersLookedAtInTurnsHaveNoSum) {
  osler::Run run;
  for (std::int64_t i = 0; i < 4; ++i)
    record(run, "grad_norm/l" + std::to_string(i), Values(30, 1.0), {.first = i, .stride = 4});
  const auto roles = RoleMap::infer(run);
  EXPECT_EQ(Patient(run, *roles).gradient_norm(), nullptr);
}

TEST(ComputedNorm, ANanInOneLayerIsOneInTheWhole) {
  Values broken(30, 4.0);
  broken[20] = std::nan("");
  osler::Run run;
  record(run, "grad_norm/a", Values(30, 3.0));
  record(run, "grad_norm/b", broken);
  const auto roles = RoleMap::infer(run);
  const Patient patient(run, *roles);
  EXPECT_EQ(patient.gradient_norm()->nonfinite, 1U);
  EXPECT_EQ(patient.gradient_norm()->first_nonfinite_step, 20);
  EXPECT_EQ(patient.gradient_norm()->size(), 29U);
}

TEST(ComputedNorm, LongRunsKeepTheirLeaps) {
  osler::Run run;
  Values leaps = noisy(20'000, 0.1, 3, [](double) { return 0.3; });
  leaps[15'000] = 900;
  record(run, "grad_norm/a", leaps);
  record(run, "grad_norm/b", noisy(20'000, 0.1, 4, [](double) { return 0.4; }));
  const auto roles = RoleMap::infer(run);
  const Patient patient(run, *roles);
  const Reading* norm = patient.gradient_norm();
  EXPECT_NEAR(*std::max_element(norm->curve.high.begin(), norm->curve.high.end()), 900, 1);
  EXPECT_NEAR(norm->level, 0.5, 0.02);
}

TEST(ExplodingGradients, ANormThatFallsFromWhereItBeganHasNotRunAway) {
  osler::Run run;
  record(run, "loss", noisy(kRows, 0.02, 1, [](double x) { return 0.1 + 60 * std::exp(-12 * x); }));
  record(run, "grad_norm", noisy(kRows, 0.2, 2, [](double x) { return 10 + 3000 * std::exp(-12 * x); }));
  const Verdict verdict = verdict_of("exploding-gradients", run);
  EXPECT_TRUE(absent(verdict)) << in_words(verdict);
}

TEST(ExplodingGradients, AreCheckedFromLayersAloneAndNameTheLayer) {
  const Values runs_away = noisy(kRows, 0.1, 50, [](double x) { return 0.3 * std::pow(10, 4 * x); });
  const Verdict verdict = verdict_of("exploding-gradients", twenty(runs_away, stuck()));
  ASSERT_TRUE(std::holds_alternative<Observation>(verdict)) << in_words(verdict);
  EXPECT_EQ(named(verdict), kEighth);
  EXPECT_NE(std::get<Observation>(verdict).summary.find("computed from 20 layers"), std::string::npos);
}

}  // namespace
}  // namespace osler::sample
