// Causes of sick agents: what the configuration says for and against them, and remedies with its numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "diagnosis/sample_run.h"
#include "osler/diagnosis/diagnose.h"

namespace osler::sample {
namespace {

using ::testing::HasSubstr;

Values rewards(double scatter, const std::function<double(double)>& at) {
  Noise noise(7);
  return curve(200, [&](double x) { return at(x) + scatter * noise.normal(); });
}

const WeighedCause* find(const Report& report, std::string_view id) {
  const auto found =
      std::find_if(report.causes.begin(), report.causes.end(), [&](const auto& cause) { return cause.cause == id; });
  return found == report.causes.end() ? nullptr : &*found;
}

bool ruled_out(const Report& report, std::string_view id) {
  return std::any_of(report.ruled_out.begin(), report.ruled_out.end(),
                     [&](const auto& out) { return out.cause == id; });
}

/// The change that a cause proposes to the setting `name`.
std::optional<Remedy::Change> change_of(const WeighedCause& cause, std::string_view name) {
  for (const Remedy& remedy : cause.remedies) {
    if (remedy.change && remedy.change->name == name) return remedy.change;
  }
  return std::nullopt;
}

Run leaping_policy() {
  osler::Run run;
  record(run, "rollout/ep_rew_mean", rewards(12, [](double x) { return 20 + 110 * x; }));
  record(run, "train/approx_kl", noisy(200, 0.3, 3, [](double) { return 0.31; }));
  return run;
}

TEST(AgentCauses, ManyPassesOverABatchAreHalved) {
  osler::Run run = leaping_policy();
  run.config("n_epochs", "20");
  run.config("clip_range", "0.4");
  const Report report = *diagnose(run);
  const WeighedCause* cause = find(report, "too-many-epochs-per-batch");
  ASSERT_NE(cause, nullptr);
  ASSERT_TRUE(change_of(*cause, "n_epochs"));
  EXPECT_EQ(change_of(*cause, "n_epochs")->from, "20");
  EXPECT_EQ(change_of(*cause, "n_epochs")->to, "10");
  EXPECT_EQ(change_of(*cause, "clip_range")->to, "0.2");
}

TEST(AgentCauses, OnePassCannotBeTooMany) {
  osler::Run run = leaping_policy();
  run.config("n_epochs", "1");
  const Report report = *diagnose(run);
  EXPECT_EQ(find(report, "too-many-epochs-per-batch"), nullptr);
  EXPECT_TRUE(ruled_out(report, "too-many-epochs-per-batch"));
}

Run widening_policy() {
  osler::Run run;
  record(run, "rollout/ep_rew_mean", rewards(40, [](double x) { return -1180 - 60 * x; }));
  record(run, "train/std", noisy(200, 0.01, 4, [](double x) { return std::exp(2.4 * x); }));
  return run;
}

TEST(AgentCauses, ALargeEntropyBonusIsDividedByTen) {
  osler::Run run = widening_policy();
  run.config("ent_coef", "0.1");
  const Report report = *diagnose(run);
  ASSERT_FALSE(report.causes.empty());
  EXPECT_EQ(report.causes.front().cause, "entropy-bonus-too-large");
  ASSERT_TRUE(change_of(report.causes.front(), "ent_coef"));
  EXPECT_EQ(change_of(report.causes.front(), "ent_coef")->to, "0.01");
}

TEST(AgentCauses, NoBonusCannotBeTooLarge) {
  osler::Run run = widening_policy();
  run.config("ent_coef", "0.0");
  EXPECT_TRUE(ruled_out(*diagnose(run), "entropy-bonus-too-large"));
}

TEST(AgentCauses, AFastTargetIsSlowedDown) {
  osler::Run run;
  record(run, "charts/episodic_return", rewards(45, [](double x) { return 210 - 40 * x; }));
  record(run, "losses/qf1_values", noisy(200, 0.04, 5, [](double x) { return 6 * std::exp(9 * x); }));
  run.config("tau", "0.2");
  run.config("gamma", "0.999");
  const Report report = *diagnose(run);
  ASSERT_FALSE(report.causes.empty());
  EXPECT_EQ(report.causes.front().cause, "target-network-too-fast");
  EXPECT_EQ(change_of(report.causes.front(), "tau")->to, "0.005");
  EXPECT_EQ(change_of(report.causes.front(), "gamma")->to, "0.98");
}

TEST(AgentCauses, ARewardThatIsAlwaysTheSameIsSparseOrFaulty) {
  osler::Run run;
  record(run, "rollout/ep_rew_mean", Values(120, -200.0));
  record(run, "rollout/ep_len_mean", Values(120, 200.0));
  const Report report = *diagnose(run);
  ASSERT_GE(report.causes.size(), 2U);
  EXPECT_NE(find(report, "sparse-reward"), nullptr);
  EXPECT_NE(find(report, "environment-bug"), nullptr);
}

TEST(AgentCauses, NoGradientForLackOfVarianceIsNoFaultOfTheNetwork) {
  osler::Run run;
  record(run, "reward", curve(150, [](double x) { return 0.2 * std::exp(-12 * x); }));
  record(run, "reward_std", curve(150, [](double x) { return x < 0.4 ? 0.3 * std::exp(-9 * x) : 0; }));
  record(run, "loss", curve(150, [](double x) { return x < 0.4 ? 1e-3 : 0; }));
  record(run, "grad_norm", curve(150, [](double x) { return x < 0.4 ? 0.3 * std::exp(-9 * x) : 0; }));
  record(run, "completions/mean_length", Values(150, 512.0));
  const Report report = *diagnose(run);
  ASSERT_FALSE(report.findings.empty());
  for (const std::string_view id : {"vanishing-signal", "dead-units", "disconnected-graph"}) {
    const WeighedCause* cause = find(report, id);
    EXPECT_TRUE(cause == nullptr || cause->probability < 0.5) << id;
  }
}

TEST(AgentCauses, NobodyTellsAnAgentAboutClassesOrLosses) {
  osler::Run run;
  // A reward of 0.693 is not the loss of guessing between two classes.
  record(run, "reward", rewards(0.01, [](double) { return 0.693; }));
  const Report report = *diagnose(run);
  ASSERT_FALSE(report.causes.empty());
  for (const WeighedCause& cause : report.causes) {
    for (const auto* reasons : {&cause.speaks_for, &cause.speaks_against}) {
      for (const Reason& reason : *reasons) EXPECT_THAT(reason.text, testing::Not(HasSubstr("classes"))) << cause.cause;
    }
    for (const Remedy& remedy : cause.remedies) {
      EXPECT_THAT(remedy.text, testing::Not(testing::AnyOf(HasSubstr("ln("), HasSubstr("validation")))) << cause.cause;
    }
  }
}

}  // namespace
}  // namespace osler::sample
