// What rewards and the figures beside them tell.
#include "diagnosis/evidence/agent.h"

#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

/// The roles point into the run, the patient at both.
struct Log {
  osler::Run run;
  RoleMap roles;

  Log& with(std::string_view name, const Values& values) {
    record(run, name, values);
    return *this;
  }
  Patient patient() {
    roles = *RoleMap::infer(run);
    return Patient(run, roles);
  }
};

Values rewards(std::size_t count, double scatter, std::uint32_t seed, const std::function<double(double)>& at) {
  Noise noise(seed);
  return curve(count, [&](double x) { return at(x) + scatter * noise.normal(); });
}

TEST(RewardProgress, OfARisingRewardHasImproved) {
  Log log;
  log.with("rollout/ep_rew_mean", rewards(200, 10, 1, [](double x) { return -200 + 150 * x; }));
  const Patient patient = log.patient();
  const auto progress = reward_progress(patient);
  ASSERT_TRUE(progress);
  EXPECT_TRUE(progress->improved());
  EXPECT_TRUE(progress->still_improves());
  EXPECT_NEAR(progress->gain, 120, 25);
  EXPECT_FALSE(progress->near_top());
}

TEST(RewardProgress, OfARewardThatSettledNoLongerImproves) {
  Log log;
  log.with("reward", rewards(200, 5, 2, [](double x) { return 300 * std::min(1.0, 4 * x); }));
  const Patient patient = log.patient();
  const auto progress = reward_progress(patient);
  ASSERT_TRUE(progress);
  EXPECT_TRUE(progress->improved());
  EXPECT_FALSE(progress->still_improves());
}

TEST(RewardProgress, OfScatterAloneHasNotImproved) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    Log log;
    log.with("charts/episodic_return", rewards(300, 9, seed, [](double) { return 22.0; }));
    const Patient patient = log.patient();
    EXPECT_FALSE(reward_progress(patient)->improved()) << seed;
  }
}

TEST(RewardProgress, MeasuresANearlyZeroRewardByTheScatterOfEpisodes) {
  Log log;
  log.with("reward", rewards(300, 4, 3, [](double) { return 0.0; }));
  const Patient patient = log.patient();
  EXPECT_NEAR(reward_progress(patient)->scale, 8, 1.5);
}

TEST(RewardProgress, KnowsSharesThatHaveLittleLeftToGain) {
  Log log;
  log.with("reward", rewards(100, 0.02, 4, [](double) { return 0.9; }));
  const Patient patient = log.patient();
  EXPECT_TRUE(reward_progress(patient)->near_top());
}

TEST(RewardProgress, NeedsAReward) {
  Log log;
  log.with("loss", rewards(100, 0.1, 5, [](double x) { return 2 - x; }));
  const Patient patient = log.patient();
  EXPECT_FALSE(reward_progress(patient));
}

TEST(RewardProgress, NeedsSixPoints) {
  Log log;
  log.with("reward", {1, 2, 3, 4, 5});
  const Patient patient = log.patient();
  EXPECT_FALSE(reward_progress(patient));
}

TEST(Figure, HasTheSignThatItsRoleMeans) {
  Log log;
  log.with("rollout/ep_rew_mean", Values(20, 1.0)).with("train/entropy_loss", Values(20, -1.4));
  const Patient patient = log.patient();
  const auto entropy = figure(patient, Role::policy_entropy, 5);
  ASSERT_TRUE(entropy);
  EXPECT_DOUBLE_EQ(late_level(*entropy), 1.4);
}

TEST(Figure, NeedsEnoughPoints) {
  Log log;
  log.with("rollout/ep_rew_mean", Values(20, 1.0)).with("train/approx_kl", Values(4, 0.01));
  const Patient patient = log.patient();
  EXPECT_TRUE(figure(patient, Role::policy_kl, 4));
  EXPECT_FALSE(figure(patient, Role::policy_kl, 5));
  EXPECT_FALSE(figure(patient, Role::clip_fraction, 1));
}

TEST(EarlyLevel, LeavesOutTheZerosBeforeLearningStarts) {
  Values loss(200, 0.0);
  for (std::size_t i = 50; i < loss.size(); ++i) loss[i] = 3.0 + static_cast<double>(i) / 100;
  Log log;
  log.with("rollout/ep_rew_mean", Values(200, 1.0)).with("train/critic_loss", loss);
  const Patient patient = log.patient();
  const auto critic = figure(patient, Role::value_loss, 5);
  ASSERT_TRUE(critic);
  EXPECT_NEAR(early_level(*critic), 3.5, 0.1);
}

TEST(LanguageModels, AreKnownByTheFiguresOfTheirAnswers) {
  Log agent;
  agent.with("rollout/ep_rew_mean", Values(20, 1.0)).with("rollout/ep_len_mean", Values(20, 200.0));
  EXPECT_FALSE(tunes_language_model(agent.patient()));
  Log tuned;
  tuned.with("reward", Values(20, 1.0)).with("completions/mean_length", Values(20, 200.0));
  EXPECT_TRUE(tunes_language_model(tuned.patient()));
}

}  // namespace
}  // namespace osler::sample
