// Cases of what learns from rewards: the policy's entropy and steps, the critic's loss and values.
#include <algorithm>
#include <cmath>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

using simulate::Levels;
using simulate::Random;

double learned(double x) {
  return 1.0 / (1.0 + std::exp(-(x - 0.35) / 0.07));
}

// policy-entropy-explosion

Table ever_wider(Random& random) {
  Table table(random, 200, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double x) { return -1180.0 - 60.0 * x; }, 40.0);
  table.add(
      "train/std", [](double x) { return std::exp(2.4 * x); }, 0.01);
  table.scatter(
      "train/entropy_loss", [](double x) { return -1.42 - 2.4 * x; }, 0.02);
  return table.scatter(
      "train/approx_kl", [](double) { return 0.008; }, 0.002);
}

Table dissolving_text(Random& random) {
  Table table(random, 220, 1, 1);
  table.scatter(
      "reward", [](double x) { return 0.22 - 0.01 * x; }, 0.04);
  table.scatter(
      "entropy", [](double x) { return 0.8 + 6.0 * x * x; }, 0.05);
  table.scatter(
      "completions/mean_length", [](double x) { return 280.0 + 90.0 * x; }, 14.0);
  return table.add("learning_rate", 5e-6);
}

Table wider_and_better(Random& random) {
  Table table(random, 200, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double x) { return -1180.0 + 2400.0 * x; }, 60.0);
  return table.add(
      "train/std", [](double x) { return 1.0 + 2.6 * x; }, 0.01);
}

Table explores_then_settles(Random& random) {
  Table table(random, 240, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double x) { return 20.0 + 400.0 * learned(x); }, 15.0);
  return table.scatter(
      "train/entropy_loss", [](double x) { return -1.2 - 0.5 * std::sin(3.1 * x) + 0.8 * x; }, 0.02);
}

Table three_times_as_wide(Random& random) {
  Table table(random, 200, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double x) { return 100.0 + 60.0 * x; }, 12.0);
  return table.add(
      "train/std", [](double x) { return 1.0 + 2.2 * x; }, 0.01);
}

// policy-entropy-collapse

Table one_action(Random& random) {
  Table table(random, 300, 1024, 1024);
  table.scatter(
      "charts/episodic_return", [](double) { return 9.4; }, 0.8);
  table.scatter(
      "losses/entropy", [](double x) { return 0.003 + 0.68 * std::exp(-14.0 * x); }, 0.0005);
  return table.scatter(
      "losses/approx_kl", [](double) { return 0.004; }, 0.001);
}

Table narrow_gaussian(Random& random) {
  Table table(random, 180, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double x) { return -1500.0 + 25.0 * x; }, 45.0);
  return table.add(
      "train/std", [](double x) { return 0.03 + 0.97 * std::exp(-8.0 * x); }, 0.01);
}

Table sure_and_right(Random& random) {
  Table table(random, 300, 1024, 1024);
  table.scatter(
      "charts/episodic_return", [](double x) { return 22.0 + 470.0 * learned(x); }, 18.0);
  return table.scatter(
      "losses/entropy", [](double x) { return 0.02 + 0.66 * std::exp(-6.0 * x); }, 0.002);
}

Table rather_sure(Random& random) {
  Table table(random, 300, 1024, 1024);
  table.scatter(
      "charts/episodic_return", [](double) { return 21.0; }, 5.0);
  return table.scatter(
      "losses/entropy", [](double x) { return 0.075 + 0.61 * std::exp(-9.0 * x); }, 0.004);
}

// kl-blow-up

Table far_leaps(Random& random) {
  Table table(random, 150, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double x) { return 20.0 + 110.0 * x; }, 12.0);
  table.add("train/approx_kl", 0.31, 0.3);
  table.scatter(
      "train/clip_fraction", [](double) { return 0.52; }, 0.03);
  return table.add("train/learning_rate", 0.003);
}

Table single_leaps(Random& random) {
  Table table(random, 400, 1024, 1024);
  table.scatter(
      "charts/episodic_return", [](double x) { return 40.0 + 160.0 * x; }, 25.0);
  Levels divergence(400);
  for (std::size_t row = 0; row < divergence.size(); ++row) {
    divergence[row] = row % 14 == 9 ? 0.9 + 0.3 * random.uniform(0, 1) : 0.02 * std::exp(0.3 * random.normal());
  }
  return table.put("losses/approx_kl", divergence);
}

Table within_the_region(Random& random) {
  Table table(random, 200, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double x) { return 20.0 + 300.0 * learned(x); }, 12.0);
  table.add(
      "train/approx_kl", [](double x) { return 0.011 + 0.1 * std::exp(-60.0 * x); }, 0.25);
  return table.scatter(
      "train/clip_fraction", [](double) { return 0.12; }, 0.02);
}

Table rather_far(Random& random) {
  Table table(random, 200, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double x) { return 20.0 + 300.0 * learned(x); }, 12.0);
  return table.add("train/approx_kl", 0.075, 0.2);
}

// value-function-not-learning

Table nothing_explained(Random& random) {
  Table table(random, 200, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double) { return 118.0; }, 14.0);
  table.scatter(
      "train/explained_variance", [](double) { return 0.0; }, 0.015);
  return table.add("train/value_loss", 640.0, 0.2);
}

Table unscaled_returns(Random& random) {
  Table table(random, 160, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double) { return -24'500.0; }, 2'600.0);
  return table.add("train/value_loss", 4.2e6, 0.3);
}

Table all_explained(Random& random) {
  Table table(random, 200, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double x) { return 30.0 + 240.0 * learned(x); }, 14.0);
  table.scatter(
      "train/explained_variance", [](double x) { return 0.93 - 0.9 * std::exp(-9.0 * x); }, 0.03);
  return table.add(
      "train/value_loss", [](double x) { return 20.0 + 60.0 * learned(x); }, 0.2);
}

/// Every episode earns the full 500: there is no variance left to explain, and dividing by it gives anything.
Table nothing_left_to_explain(Random& random) {
  Table table(random, 240, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double x) { return std::min(500.0, 22.0 + 620.0 * learned(x)); }, 0.0);
  table.scatter(
      "train/explained_variance", [](double x) { return x < 0.5 ? 0.8 * learned(x) : -4.0; }, 0.4);
  return table.add(
      "train/value_loss", [](double x) { return 0.02 + 30.0 * std::exp(-9.0 * x); }, 0.3);
}

Table little_explained(Random& random) {
  Table table(random, 200, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double x) { return 118.0 + 16.0 * x; }, 14.0);
  table.scatter(
      "train/explained_variance", [](double) { return 0.06; }, 0.04);
  return table.add("train/value_loss", 640.0, 0.2);
}

// value-loss-explosion

Table critic_runs_away(Random& random) {
  Table table(random, 220, 1000, 1000);
  table.scatter(
      "charts/episodic_return", [](double x) { return -140.0 - 30.0 * x; }, 45.0);
  return table.add(
      "losses/qf1_loss", [](double x) { return 0.6 * std::exp(12.0 * x); }, 0.3);
}

Table value_loss_leaps(Random& random) {
  Table table(random, 160, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double) { return 61.0; }, 9.0);
  return table.add(
      "train/value_loss", [](double x) { return x < 0.5 ? 12.0 : 2.4e4 * (1.0 - std::exp(-30.0 * (x - 0.5))) + 12.0; },
      0.25);
}

/// SAC: errors grow with what is predicted.
Table loss_rises_with_return(Random& random) {
  Table table(random, 300, 1000, 1000);
  table.scatter(
      "charts/episodic_return", [](double x) { return 40.0 + 5200.0 * learned(x); }, 160.0);
  table.add(
      "losses/qf1_loss", [](double x) { return 0.5 + 70.0 * learned(x); }, 0.3);
  return table.add(
      "losses/qf1_values", [](double x) { return 3.0 + 420.0 * learned(x); }, 0.03);
}

Table eighty_fold(Random& random) {
  Table table(random, 200, 1000, 1000);
  table.scatter(
      "charts/episodic_return", [](double x) { return 100.0 + 14.0 * x; }, 22.0);
  return table.add(
      "losses/qf1_loss", [](double x) { return 1.0 + 85.0 * x; }, 0.2);
}

// q-value-divergence

Table promises_without_end(Random& random) {
  Table table(random, 120, 4000, 4000);
  table.scatter(
      "AverageEpRet", [](double) { return -1240.0; }, 55.0);
  table.add(
      "AverageQVals", [](double x) { return -18.0 * std::exp(11.0 * x); }, 0.03);
  return table.add(
      "LossQ", [](double x) { return 4.0 * std::exp(3.0 * x); }, 0.3);
}

Table actor_loss_runs_away(Random& random) {
  Table table(random, 250, 1000, 1000);
  table.scatter(
      "charts/episodic_return", [](double x) { return 210.0 - 40.0 * x; }, 45.0);
  return table.add(
      "losses/qf1_values", [](double x) { return 6.0 * std::exp(9.0 * x); }, 0.04);
}

Table values_near_returns(Random& random) {
  Table table(random, 250, 1000, 1000);
  table.scatter(
      "charts/episodic_return", [](double x) { return 30.0 + 900.0 * learned(x); }, 60.0);
  return table.add(
      "losses/qf1_values", [](double x) { return 2.0 + 780.0 * learned(x); }, 0.05);
}

Table six_times_the_return(Random& random) {
  Table table(random, 250, 1000, 1000);
  table.scatter(
      "charts/episodic_return", [](double) { return 60.0; }, 6.0);
  return table.add(
      "losses/qf1_values", [](double x) { return 20.0 + 340.0 * x; }, 0.03);
}

const std::vector<std::string> kStill = {"reward-stuck-from-start"};

}  // namespace

Recipes learner_recipes() {
  const std::string kWide = "policy-entropy-explosion";
  const std::string kNarrow = "policy-entropy-collapse";
  const std::string kLeap = "kl-blow-up";
  const std::string kBlind = "value-function-not-learning";
  const std::string kExplodes = "value-loss-explosion";
  const std::string kPromises = "q-value-divergence";
  return {
      sick(kWide, "ever-wider", "A Gaussian policy eleven times as wide as at the start, and no better.", ever_wider,
           {"entropy-bonus-too-large"}, kStill),
      sick(kWide, "dissolving-text", "A language model whose entropy goes from 0.8 to 7.", dissolving_text,
           {"entropy-bonus-too-large", "reference-penalty-too-weak"}, kStill),
      healthy(kWide, "wider-and-better", "Three times as wide, and a reward that rises all along.", wider_and_better),
      healthy(kWide, "explores-then-settles", "Entropy rises while the agent explores and falls when it has learned.",
              explores_then_settles),
      borderline(kWide, "three-times", "Three times as wide beside a reward that rises a little.", three_times_as_wide,
                 kStill),

      sick(kNarrow, "one-action", "One action for all after a tenth of the run, at the reward of falling over.",
           one_action, {"entropy-bonus-too-small"}, kStill),
      sick(kNarrow, "gaussian", "A deviation of 0.03 and a pendulum that hangs.", narrow_gaussian,
           {"entropy-bonus-too-small"}, kStill),
      healthy(kNarrow, "sure-and-right", "An entropy of next to nothing beside the full reward.", sure_and_right),
      borderline(kNarrow, "rather-sure", "An eighth of the entropy left, and no progress.", rather_sure, kStill),

      sick(kLeap, "every-update", "A divergence of 0.3 at every update, half of the samples clipped.", far_leaps,
           {"lr-too-high", "too-many-epochs-per-batch"}),
      sick(kLeap, "single-leaps", "One update in fourteen leaves the trust region.", single_leaps,
           {"lr-too-high", "too-many-epochs-per-batch"}),
      healthy(kLeap, "within", "Large divergences in the first updates only.", within_the_region),
      borderline(kLeap, "rather-far", "A divergence of 0.075 and a reward that rises.", rather_far),

      sick(kBlind, "nothing-explained", "An explained variance of zero for two hundred updates while returns vary.",
           nothing_explained, {"reward-scale", "lr-too-low", "data-not-normalized", "sparse-reward", "environment-bug"},
           kStill),
      sick(kBlind, "unscaled", "Returns of 25,000 that nobody scaled: a value loss of four million.", unscaled_returns,
           {"reward-scale"}, kStill),
      healthy(kBlind, "explained", "A critic that explains nine tenths.", all_explained),
      healthy(kBlind, "solved", "Every episode earns the maximum; the explained variance is a division by nothing.",
              nothing_left_to_explain),
      borderline(kBlind, "little", "An explained variance of 0.06 and a little progress.", little_explained, kStill),

      sick(kExplodes, "critic", "A critic whose loss grows by five orders of magnitude.", critic_runs_away,
           {"target-network-too-fast", "lr-too-high", "reward-scale"},
           {"reward-stuck-from-start", "q-value-divergence"}),
      sick(kExplodes, "leap", "A value loss that leaps two-thousandfold at half time.", value_loss_leaps,
           {"lr-too-high", "reward-scale", "target-network-too-fast", "no-clipping"}, kStill),
      healthy(kExplodes, "with-the-return", "A soft actor-critic: the loss rises a hundredfold with the return.",
              loss_rises_with_return),
      borderline(kExplodes, "eighty-fold", "Eighty times the first loss beside a little progress.", eighty_fold,
                 kStill),

      sick(kPromises, "pendulum", "Q values of minus a million where returns are minus a thousand.",
           promises_without_end, {"target-network-too-fast", "lr-too-high"},
           {"reward-stuck-from-start", "value-loss-explosion"}),
      sick(kPromises, "values", "Promises of 48,000 beside returns of 200.", actor_loss_runs_away,
           {"target-network-too-fast", "lr-too-high"}, kStill),
      healthy(kPromises, "near-returns", "Values that rise to what is earned.", values_near_returns),
      borderline(kPromises, "six-times", "Values of six times the return.", six_times_the_return, kStill),
  };
}

}  // namespace osler::cases
