// What findings make of facts that only a monitor in the process can tell.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

Values level(double value) {
  return curve(40, [&](double) { return value; });
}

/// A layer that never moves beside two that do, in a run that learns; all receive gradients.
Run with_a_still_layer() {
  osler::Run run;
  record(run, "loss", noisy(60, 0.02, 1, descent));
  record(run, "lr", level(1e-3));
  for (const std::string layer : {"a.weight", "a.bias", "b.weight", "c.weight"}) {
    record(run, "gradients/" + layer + "#norm", noisy(40, 0.1, 2, [](double) { return 0.2; }));
    record(run, "updates/" + layer + "#norm",
           layer.starts_with("a.") ? level(0) : noisy(40, 0.1, 3, [](double) { return 0.01; }));
  }
  return run;
}

TEST(WeightsFrozen, WhatAnOptimizerHoldsAndSomebodyPutsBackIsAWarning) {
  osler::Run run = with_a_still_layer();
  EXPECT_TRUE(found(verdict_of("weights-frozen", run), Severity::note));  // as in fine-tuning
  record(run, "osler/check/parameters-not-optimized", level(0));
  EXPECT_TRUE(found(verdict_of("weights-frozen", run), Severity::warning));
}

TEST(DataOfTheValidation, IsAWarningWhereThatOfTheTrainingIsSound) {
  for (const auto& [finding, what] :
       {std::pair{"batch-nonfinite", "nonfinite-share"}, std::pair{"labels-invalid", "invalid-labels-share"}}) {
    osler::Run run;
    record(run, "loss", noisy(60, 0.02, 1, descent));
    EXPECT_TRUE(std::holds_alternative<NotChecked>(verdict_of(finding, run)));
    record(run, std::string("osler/validation-batch/") + what, level(0));
    EXPECT_TRUE(std::holds_alternative<NotFound>(verdict_of(finding, run)));
    record(run, std::string("osler/batch/") + what, level(0));
    osler::Run spoilt;
    record(spoilt, "osler/batch/" + std::string(what), level(0));
    record(spoilt, std::string("osler/validation-batch/") + what, level(0.1));
    const Verdict verdict = verdict_of(finding, spoilt);
    EXPECT_TRUE(found(verdict, Severity::warning)) << finding;
    EXPECT_NE(std::get<Observation>(verdict).summary.find("validation"), std::string::npos);
  }
}

TEST(WeightsFrozen, AGroupWithoutARateIsMeant) {
  osler::Run run = with_a_still_layer();
  record(run, "osler/check/parameters-not-optimized", level(0));
  record(run, "lr/group1", level(0));
  EXPECT_TRUE(found(verdict_of("weights-frozen", run), Severity::note));
}

TEST(PoorInitialization, ASmallStartThatDoesNoHarmIsANote) {
  const auto with = [](double scale, const std::function<double(double)>& shape) {
    osler::Run run;
    record(run, "loss", noisy(60, 0.02, 1, shape));
    record(run, "osler/init/scale/h.weight", {scale});
    record(run, "osler/init/rows/h.weight", {0.9});
    return run;
  };
  const auto stuck = [](double) { return 2.3; };
  EXPECT_TRUE(found(verdict_of("poor-initialization", with(0.05, descent)), Severity::note));
  EXPECT_TRUE(found(verdict_of("poor-initialization", with(0.05, stuck)), Severity::warning));
  EXPECT_TRUE(found(verdict_of("poor-initialization", with(20, descent)), Severity::warning));
}

TEST(Embeddings, AreKnownByTheirKindAndNotOnlyByTheirNames) {
  osler::Run run;
  record(run, "loss", noisy(40, 0.02, 1, [](double) { return 2.3; }));
  record(run, "gradients/words.weight#zero-share", level(0.95));
  EXPECT_TRUE(found(verdict_of("gradients-mostly-zero", run), Severity::warning));
  record(run, "osler/check/parameters-in-table/words.weight", {1});
  EXPECT_FALSE(found(verdict_of("gradients-mostly-zero", run), Severity::warning));
}

TEST(DeadNeurons, AnAgentHasSeenFewStates) {
  osler::Run run;
  record(run, "loss", noisy(40, 0.02, 1, [](double) { return 0.3; }));
  record(run, "activations/0 -> relu#dead-share", level(0.3));
  record(run, "gradients/0.weight#zero-share", level(0.6));
  EXPECT_TRUE(found(verdict_of("dead-neurons", run), Severity::warning));
  EXPECT_TRUE(found(verdict_of("gradients-mostly-zero", run), Severity::warning));
  record(run, "episode_reward", noisy(40, 0.2, 2, [](double x) { return 10 + 20 * x; }));
  EXPECT_TRUE(found(verdict_of("dead-neurons", run), Severity::note));
  EXPECT_TRUE(found(verdict_of("gradients-mostly-zero", run), Severity::note));
}

TEST(DeadNeurons, AFewInANetworkThatHasLearnedAreANote) {
  const auto with = [](double share, double floor) {
    osler::Run run;
    record(run, "loss", noisy(60, 0.05, 1, [&](double x) { return floor + (1 - floor) * std::exp(-60 * x); }));
    record(run, "activations/0 -> relu#dead-share", level(share));
    return run;
  };
  EXPECT_TRUE(found(verdict_of("dead-neurons", with(0.15, 0.5)), Severity::note));
  EXPECT_TRUE(found(verdict_of("dead-neurons", with(0.15, 0.95)), Severity::warning));
  EXPECT_TRUE(found(verdict_of("dead-neurons", with(0.4, 0.5)), Severity::warning));
}

TEST(DeadNeurons, TheFirstStepsMoveTheUnits) {
  const auto with = [](std::int64_t stride, double share) {
    osler::Run run;
    record(run, "loss", noisy(40, 0.02, 1, [](double) { return 1.0; }), {0, stride});
    record(run, "activations/0 -> relu#dead-share", level(share), {0, stride});
    record(run, "osler/check/parameters-not-optimized", {0});
    return run;
  };
  EXPECT_TRUE(found(verdict_of("dead-neurons", with(1, 0.4)), Severity::note));
  EXPECT_TRUE(found(verdict_of("dead-neurons", with(10, 0.4)), Severity::warning));
  EXPECT_TRUE(found(verdict_of("dead-neurons", with(1, 0.9)), Severity::critical));
}

TEST(BatchUnnormalized, BetweenZeroAndOneNoInputIsLarge) {
  const auto with = [](double magnitude, double center, double deviation) {
    osler::Run run;
    record(run, "osler/batch/magnitude", level(magnitude));
    record(run, "osler/batch/center", level(center));
    record(run, "osler/batch/deviation", level(deviation));
    return run;
  };
  EXPECT_TRUE(absent(verdict_of("batch-unnormalized", with(1, 0.5, 0.1))));
  EXPECT_TRUE(found(verdict_of("batch-unnormalized", with(1, 0.5, 0.01)), Severity::warning));
  EXPECT_TRUE(found(verdict_of("batch-unnormalized", with(8, 0.5, 0.1)), Severity::warning));
}

/// A layer without a gradient beside others that have one.
Run without_gradient_in(const std::string& dead) {
  osler::Run run;
  record(run, "loss", noisy(40, 0.02, 1, [](double) { return 2.3; }));
  for (const std::string layer : {"0.weight", "0.bias", "2.weight", "2.bias", "4.weight", "4.bias"}) {
    record(run, "gradients/" + layer + "#norm", layer.starts_with(dead) ? level(0) : level(0.2));
    record(run, "gradients/" + layer + "#zero-share", layer.starts_with(dead) ? level(1) : level(0));
  }
  return run;
}

TEST(DeadLayer, ABiasThatCancelsIsNone) {
  EXPECT_TRUE(absent(verdict_of("dead-layer", without_gradient_in("4.bias"))));
  EXPECT_TRUE(absent(verdict_of("gradients-mostly-zero", without_gradient_in("4.bias"))));
  EXPECT_TRUE(found(verdict_of("dead-layer", without_gradient_in("2.")), Severity::warning));
  EXPECT_TRUE(found(verdict_of("gradients-mostly-zero", without_gradient_in("2.")), Severity::warning));
}

TEST(WeightNormExploding, ALayerThatStartsSmallMayGrowToTheUsualSize) {
  osler::Run run;
  record(run, "loss", noisy(60, 0.02, 1, descent));
  for (const std::string layer : {"a.weight", "h.weight"}) {
    record(run, "weights/" + layer + "#norm", curve(60, [](double x) { return 0.5 * std::exp(2.6 * x); }));
  }
  EXPECT_TRUE(found(verdict_of("weight-norm-exploding", run), Severity::warning));
  record(run, "osler/init/scale/a.weight", {0.08});
  record(run, "osler/init/scale/h.weight", {0.08});
  EXPECT_TRUE(absent(verdict_of("weight-norm-exploding", run)));
}

TEST(LossStuckFromStart, TheFirstStepsUnderAMonitorMayBeSlow) {
  const auto with = [](double gain) {
    osler::Run run;
    record(run, "train/loss", noisy(50, 0.001, 1, [&](double x) { return 1.1 * (1 - gain * x); }));
    return run;
  };
  osler::Run slow = with(0.015);
  EXPECT_TRUE(found(verdict_of("loss-stuck-from-start", slow), Severity::critical));
  record(slow, "osler/check/parameters-not-optimized", {0});
  EXPECT_TRUE(unchecked(verdict_of("loss-stuck-from-start", slow)));
  osler::Run stuck = with(0);
  record(stuck, "osler/check/parameters-not-optimized", {0});
  EXPECT_TRUE(found(verdict_of("loss-stuck-from-start", stuck), Severity::critical));
}

TEST(LossOscillating, LossesThatTakeTurnsAreNoSwings) {
  osler::Run run;
  Values values = noisy(200, 0.05, 1, [](double) { return 1.0; });
  for (std::size_t i = 0; i < values.size(); i += 2) values[i] *= 0.3;
  record(run, "train/loss", values);
  EXPECT_TRUE(found(verdict_of("loss-oscillating", run), Severity::warning));
  run.config("osler.losses", "in turns");
  EXPECT_TRUE(absent(verdict_of("loss-oscillating", run)));
}

TEST(LossDiverging, OfLossesThatTakeTurnsOnlyWhatLeavesTheRangeOfAll) {
  const auto with = [](double end, bool turns) {
    osler::Run run;
    Values values = curve(50, [&](double x) { return x < 0.6 ? 1 - x : end; });
    record(run, "train/loss", values);
    if (turns) run.config("osler.losses", "in turns");
    return verdict_of("loss-diverging", run);
  };
  EXPECT_TRUE(found(with(1.5, false), Severity::critical));
  EXPECT_TRUE(absent(with(1.5, true)));
  EXPECT_TRUE(found(with(40, true), Severity::critical));
}

TEST(WeightNormCollapsing, ABiasMayPassThroughZero) {
  const auto with = [](const std::string& layer) {
    osler::Run run;
    record(run, "weights/0.weight#norm", level(2));
    record(run, "weights/" + layer + "#norm", curve(40, [](double x) { return 2 * std::exp(-7 * x); }));
    return verdict_of("weight-norm-collapsing", run);
  };
  EXPECT_TRUE(absent(with("2.bias")));
  EXPECT_FALSE(absent(with("2.weight")));
}

}  // namespace
}  // namespace osler::sample
