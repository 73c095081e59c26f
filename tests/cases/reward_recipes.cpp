// Cases of rewards: stuck, collapsed, worse than at the start, swinging, or contradicted by evaluation.
#include <algorithm>
#include <cmath>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

using simulate::Levels;
using simulate::Random;

double rise(double x, double from, double to, double middle, double width) {
  return from + (to - from) / (1.0 + std::exp(-(x - middle) / width));
}

/// The mean over the last `window` episodes, as ep_rew_mean is.
Levels averaged(const Levels& single, std::size_t window) {
  Levels mean(single.size());
  double sum = 0;
  for (std::size_t row = 0; row < single.size(); ++row) {
    sum += single[row] - (row >= window ? single[row - window] : 0.0);
    mean[row] = sum / static_cast<double>(std::min(row + 1, window));
  }
  return mean;
}

/// Rows of `shape` with scatter of a fixed size, then averaged over a window.
template <typename Shape>
Levels episodes(const Table& table, Shape shape, double size, std::size_t window) {
  Levels single = simulate::rows_of(table.axis(), shape);
  for (double& value : single) value += size * table.random().normal();
  return averaged(single, window);
}

// reward-stuck-from-start

Table mountain_car(Random& random) {
  Table table(random, 120, 2048, 2048);
  table.add("rollout/ep_len_mean", 200.0).add("rollout/ep_rew_mean", -200.0);
  table.add(
      "train/value_loss", [](double x) { return 0.5 + 80.0 * std::exp(-12.0 * x); }, 0.2);
  table.scatter(
      "train/entropy_loss", [](double x) { return -1.09 + 0.02 * x; }, 0.004);
  return table.scatter(
      "train/approx_kl", [](double) { return 0.004; }, 0.001);
}

Table random_cart_pole(Random& random) {
  Table table(random, 700, 128, 128);
  table.scatter(
      "charts/episodic_return", [](double) { return 22.0; }, 9.0);
  table.add("losses/value_loss", 31.0, 0.25);
  table.scatter(
      "losses/entropy", [](double x) { return 0.691 - 0.004 * x; }, 0.0005);
  return table.add("charts/learning_rate", 1e-7);
}

Table rare_luck(Random& random) {
  Table table(random, 300, 1000, 1000);
  Levels reward(300);
  for (double& value : reward) value = static_cast<double>(random.binomial(20, 0.004)) / 20.0;
  table.put("episode_reward_mean", reward);
  return table.add("episode_len_mean", 100.0);
}

Table late_breakthrough(Random& random) {
  Table table(random, 240, 2048, 2048);
  table.put("rollout/ep_rew_mean",
            episodes(
                table, [](double x) { return x < 0.45 ? -200.0 : rise(x, -205.0, -112.0, 0.6, 0.04); }, 1.5, 8));
  return table.add(
      "train/value_loss", [](double x) { return 8.0 + 30.0 * x * std::exp(-x); }, 0.2);
}

Table epsilon_still_high(Random& random) {
  Table table(random, 150, 4000, 4000);
  table.put("rollout/ep_rew_mean", episodes(
                                       table, [](double) { return -20.4; }, 0.5, 10));
  table.add("rollout/exploration_rate", [](double x) { return 1.0 - 0.45 * x; });
  return table.add("train/loss", 0.012, 0.3);
}

Table good_from_the_start(Random& random) {
  Table table(random, 200, 5, 5);
  table.scatter(
      "reward", [](double x) { return 0.89 + 0.02 * x; }, 0.03);
  table.scatter(
      "reward_std", [](double) { return 0.2; }, 0.04);
  return table.scatter(
      "completions/mean_length", [](double) { return 310.0; }, 15.0);
}

Table slow_gain(Random& random) {
  Table table(random, 200, 2048, 2048);
  return table.scatter(
      "rollout/ep_rew_mean", [](double x) { return 95.0 + 14.0 * x; }, 6.0);
}

/// Two teams of one policy: who wins is chance, how well they play is in the rating.
Table against_itself(Random& random) {
  Table table(random, 150, 20'000, 20'000);
  table.scatter(
      "Environment/Cumulative Reward", [](double) { return 0.0; }, 0.12);
  return table.scatter(
      "Self-play/ELO", [](double x) { return 1200.0 + 420.0 * x; }, 3.0);
}

Table survives_every_time(Random& random) {
  Table table(random, 120, 2048, 2048);
  table.scatter(
      "rollout/ep_rew_mean", [](double) { return 499.2; }, 0.6);
  return table.scatter(
      "rollout/ep_len_mean", [](double) { return 499.2; }, 0.6);
}

Table one_part_rises(Random& random) {
  Table table(random, 60, 5);
  table.scatter(
      "loss", [](double x) { return 1.9 - 1.3 * x; }, 0.06);
  table.scatter(
      "reward_has_required_keys", [](double) { return 0.3; }, 0.015);
  return table.scatter(
      "reward_env_interaction", [](double x) { return 0.21 + 0.1 * x; }, 0.015);
}

Table first_updates_of_a_tuned_model(Random& random) {
  Table table(random, 30, 1, 1);
  table.scatter(
      "reward", [](double) { return 0.45; }, 0.1);
  table.scatter(
      "reward_std", [](double) { return 0.3; }, 0.04);
  return table.scatter(
      "completions/mean_length", [](double) { return 210.0; }, 15.0);
}

Table episodes_that_rise(Random& random) {
  Table table(random, 160, 50, 100);
  return table.scatter(
      "episodic_return", [](double x) { return 3.6 + 3.4 * x; }, 3.0);
}

// reward-collapse

Table ppo_collapse(Random& random) {
  Table table(random, 140, 2048);
  return table.add(
      "ep_rew_mean",
      [](double x) {
        return x < 0.55 ? 20.0 + 440.0 / (1.0 + std::exp(-18.0 * (x - 0.25)))
                        : 25.0 + 430.0 * std::exp(-25.0 * (x - 0.55));
      },
      0.03);
}

Table grpo_collapse(Random& random) {
  Table table(random, 260, 1, 1);
  table.scatter(
      "reward",
      [](double x) { return x < 0.6 ? 0.18 + 0.5 * (1 - std::exp(-6 * x)) : 0.03 + 0.62 * std::exp(-30 * (x - 0.6)); },
      0.03);
  table.scatter(
      "completions/mean_length", [](double x) { return x < 0.6 ? 260.0 + 60.0 * x : 700.0; }, 12.0);
  return table.add("learning_rate", 1e-5);
}

Table spinning_up_collapse(Random& random) {
  Table table(random, 100, 4000, 4000);
  table.scatter(
      "AverageEpRet", [](double x) { return x < 0.5 ? 2600.0 * x : 1300.0 * std::exp(-14.0 * (x - 0.5)); }, 60.0);
  return table.scatter(
      "KL", [](double) { return 0.012; }, 0.003);
}

Table reward_dip(Random& random) {
  Table table(random, 180, 2048);
  return table.add(
      "ep_rew_mean",
      [](double x) {
        return 20.0 + 430.0 * (1.0 - std::exp(-5.0 * x)) - 200.0 * std::exp(-std::pow((x - 0.6) / 0.05, 2.0));
      },
      0.04);
}

Table lucky_episodes(Random& random) {
  Table table(random, 900, 200, 200);
  return table.scatter(
      "charts/episodic_return", [](double x) { return 30.0 + 220.0 * (1.0 - std::exp(-4.0 * x)); }, 70.0);
}

Table some_lost(Random& random) {
  Table table(random, 160, 2048);
  return table.add(
      "ep_rew_mean",
      [](double x) { return 20.0 + 400.0 / (1.0 + std::exp(-18.0 * (x - 0.3))) - (x > 0.7 ? 180.0 : 0.0); }, 0.05);
}

// reward-worse-than-start

Table pendulum_ruined(Random& random) {
  Table table(random, 90, 4000, 4000);
  table.scatter(
      "AverageTestEpRet", [](double x) { return -1020.0 - 670.0 * (1.0 - std::exp(-10.0 * x)); }, 35.0);
  table.scatter(
      "AverageEpRet", [](double x) { return -1010.0 - 680.0 * (1.0 - std::exp(-10.0 * x)); }, 30.0);
  return table.scatter(
      "AverageQVals", [](double x) { return -20.0 - 90.0 * x; }, 2.0);
}

Table lander_ruined(Random& random) {
  Table table(random, 400, 256, 256);
  return table.scatter(
      "charts/episodic_return", [](double x) { return x < 0.06 ? -180.0 : -560.0; }, 80.0);
}

Table early_dip(Random& random) {
  Table table(random, 300, 1024, 1024);
  table.scatter(
      "rollout/ep_rew_mean",
      [](double x) { return rise(x, -190.0, 210.0, 0.5, 0.08) - 180.0 * std::exp(-std::pow((x - 0.1) / 0.07, 2.0)); },
      20.0);
  return table.scatter(
      "train/explained_variance", [](double x) { return 0.2 + 0.7 * x; }, 0.05);
}

Table sinking_share_of_wins(Random& random) {
  Table table(random, 40, 200, 200);
  table.scatter(
      "win_rate", [](double x) { return 0.5 - 0.14 * x; }, 0.03);
  table.add("epsilon", [](double x) { return std::max(0.05, 1.0 - 1.1 * x); });
  return table.add("avg_loss", 0.003, 0.05);
}

Table first_episode_is_held(Random& random) {
  Table table(random, 900, 100);
  Levels reward(900);
  double episode = 250.0;
  for (std::size_t i = 0; i < reward.size(); ++i) {
    if (i > 0 && i % 15 == 0) episode = 80.0 + 0.1 * static_cast<double>(i) + 50.0 * table.random().normal();
    reward[i] = episode;
  }
  return table.put("reward", reward);
}

Table lucky_first_episode(Random& random) {
  Table table(random, 250, 2048, 2048);
  Levels reward = episodes(
      table, [](double x) { return rise(x, 20.0, 190.0, 0.4, 0.07); }, 12.0, 6);
  reward[0] = 71.0;  // one episode, where later values are means
  return table.put("rollout/ep_rew_mean", reward);
}

Table a_little_worse(Random& random) {
  Table table(random, 200, 2048, 2048);
  return table.scatter(
      "rollout/ep_rew_mean", [](double x) { return x < 0.1 ? -420.0 : -530.0; }, 40.0);
}

// reward-plateau

Table half_way_up(Random& random) {
  Table table(random, 260, 2048, 2048);
  table.put("rollout/ep_rew_mean",
            episodes(
                table, [](double x) { return 20.0 + 210.0 * (1.0 - std::exp(-50.0 * x)); }, 14.0, 6));
  return table.scatter(
      "train/explained_variance", [](double x) { return 0.9 - 0.8 * std::exp(-9.0 * x); }, 0.03);
}

Table solved_early(Random& random) {
  Table table(random, 120, 4000, 4000);
  return table.scatter(
      "AverageEpRet", [](double x) { return rise(x, -1250.0, -150.0, 0.06, 0.012); }, 30.0);
}

Table still_climbing(Random& random) {
  Table table(random, 260, 2048, 2048);
  return table.scatter(
      "rollout/ep_rew_mean", [](double x) { return 20.0 + 400.0 * x; }, 15.0);
}

Table climbing_slowly(Random& random) {
  Table table(random, 260, 2048, 2048);
  return table.scatter(
      "rollout/ep_rew_mean", [](double x) { return 20.0 + 300.0 * (1.0 - std::exp(-5.0 * x)) + 20.0 * x; }, 15.0);
}

// reward-oscillating

Table learns_and_forgets(Random& random) {
  Table table(random, 480, 500, 500);
  table.scatter(
      "rollout/ep_rew_mean", [](double x) { return 210.0 - 160.0 * std::cos(38.0 * x); }, 14.0);
  table.add("rollout/exploration_rate", [](double x) { return std::max(0.05, 1.0 - 9.5 * x); });
  return table.add("train/loss", 0.9, 0.4);
}

Table swinging_returns(Random& random) {
  Table table(random, 240, 4000, 4000);
  return table.scatter(
      "AverageEpRet",
      [](double x) { return std::fmod(x * 5.0, 1.0) < 0.55 ? 1900.0 * std::fmod(x * 5.0, 1.0) : 150.0; }, 70.0);
}

Table noisy_episodes(Random& random) {
  Table table(random, 1200, 100, 100);
  return table.scatter(
      "charts/episodic_return", [](double x) { return rise(x, 25.0, 380.0, 0.4, 0.1); }, 110.0);
}

Table two_falls(Random& random) {
  Table table(random, 300, 2048, 2048);
  return table.scatter(
      "rollout/ep_rew_mean",
      [](double x) {
        const double fall = std::exp(-std::pow((x - 0.45) / 0.05, 2.0)) + std::exp(-std::pow((x - 0.7) / 0.05, 2.0));
        return rise(x, 20.0, 300.0, 0.2, 0.05) - 200.0 * fall;
      },
      12.0);
}

// eval-contradicts-rollout

Table unseen_by_evaluation(Random& random) {
  Table table(random, 300, 2048, 2048);
  table.put("rollout/ep_rew_mean", episodes(
                                       table, [](double x) { return rise(x, -1250.0, -190.0, 0.3, 0.06); }, 60.0, 8));
  return table.scatter(
      "eval/mean_reward", [](double) { return -1240.0; }, 70.0, 15);
}

Table success_of_the_rollout_only(Random& random) {
  Table table(random, 200, 5000, 5000);
  table.scatter(
      "rollout/ep_rew_mean", [](double x) { return 14.0 + 380.0 * (1.0 - std::exp(-4.0 * x)); }, 12.0);
  return table.scatter(
      "eval/mean_reward", [](double x) { return 12.0 + 9.0 * x; }, 4.0, 10);
}

Table evaluation_follows(Random& random) {
  Table table(random, 300, 2048, 2048);
  table.put("rollout/ep_rew_mean", episodes(
                                       table, [](double x) { return rise(x, -1250.0, -190.0, 0.3, 0.06); }, 60.0, 8));
  return table.scatter(
      "eval/mean_reward", [](double x) { return rise(x, -1260.0, -230.0, 0.34, 0.06); }, 120.0, 15);
}

Table evaluation_earns_half(Random& random) {
  Table table(random, 250, 5000, 5000);
  table.scatter(
      "rollout/ep_rew_mean", [](double x) { return 14.0 + 380.0 * (1.0 - std::exp(-4.0 * x)); }, 12.0);
  return table.scatter(
      "eval/mean_reward", [](double x) { return 14.0 + 190.0 * (1.0 - std::exp(-4.0 * x)); }, 25.0, 10);
}

const std::vector<std::string> kOfCritics = {"value-function-not-learning", "policy-entropy-collapse"};

}  // namespace

Recipes reward_recipes() {
  const std::string kStuck = "reward-stuck-from-start";
  const std::string kCollapse = "reward-collapse";
  const std::string kWorse = "reward-worse-than-start";
  const std::string kPlateau = "reward-plateau";
  const std::string kSwings = "reward-oscillating";
  const std::string kEval = "eval-contradicts-rollout";
  return {
      at_least(sick(kStuck, "mountain-car", "PPO on a car that never reaches the hill: -200 in every episode.",
                    mountain_car, {"sparse-reward", "environment-bug"}, kOfCritics),
               Severity::critical),
      sick(kStuck, "random-cart-pole", "Seven hundred episodes as good as the first, at a rate of 1e-7.",
           random_cart_pole, {"lr-too-low"}, kOfCritics),
      sick(kStuck, "rare-luck", "Nothing but for one lucky episode in a dozen rows.", rare_luck, {"sparse-reward"}),
      healthy(kStuck, "late-breakthrough", "Flat at -200 for almost half of the run, then the hill is found.",
              late_breakthrough),
      healthy(kStuck, "epsilon-high", "A DQN that still acts at random half of the time.", epsilon_still_high),
      healthy(kStuck, "near-top", "Answers that were right nine times of ten from the start.", good_from_the_start),
      healthy(kStuck, "self-play", "A reward about zero against copies of itself, and a rating that rises.",
              against_itself),
      healthy(kStuck, "survivor", "Paid for every step, to the limit of the episode, from the first one on.",
              survives_every_time, {"reward-plateau"}),
      healthy(kStuck, "one-part", "Parts of a reward without a sum, of which one rises.", one_part_rises),
      healthy(kStuck, "thirty-updates", "Too few updates of a language model to see a noisy reward rise.",
              first_updates_of_a_tuned_model),
      healthy(kStuck, "episodes", "Single episodes that rise by no more than they scatter.", episodes_that_rise),
      borderline(kStuck, "slow", "A gain of an eighth over the run, amid noise.", slow_gain),

      sick(kCollapse, "ppo", "A policy that had learned loses its reward and does not find it again.", ppo_collapse,
           {"lr-too-high", "too-many-epochs-per-batch"}),
      sick(kCollapse, "grpo", "A tuned language model forgets at 60 % and answers at twice the length.", grpo_collapse,
           {"lr-too-high", "reference-penalty-too-weak"}),
      between(sick(kCollapse, "spinning-up", "Up to a return of 1300 by half time, and down to nothing.",
                   spinning_up_collapse),
              150'000, 240'000),
      healthy(kCollapse, "reward-dip", "A reward that loses half at 60 % and comes back.", reward_dip),
      healthy(kCollapse, "lucky-episodes", "Single episodes far above and below a reward that settles.",
              lucky_episodes),
      borderline(kCollapse, "some-lost", "Not quite half of the gain is lost at 70 %.", some_lost),

      sick(kWorse, "pendulum", "The first updates cost half of the return, for good.", pendulum_ruined,
           {"environment-bug", "lr-too-high", "target-network-too-fast"}),
      sick(kWorse, "lander", "A lander that crashes harder than a random one.", lander_ruined,
           {"environment-bug", "lr-too-high"}),
      sick(kWorse, "sinking", "The more it acts by itself, the fewer games are won: a fifth less in one descent.",
           sinking_share_of_wins),
      healthy(kWorse, "held", "The reward of the last episode at every step: the first, lucky one fills a dozen rows.",
              first_episode_is_held),
      healthy(kWorse, "early-dip", "Worse than random for a fifth of the run, then far better.", early_dip),
      healthy(kWorse, "lucky-first", "The first logged value is one lucky episode, the others are means.",
              lucky_first_episode),
      borderline(kWorse, "a-little", "A fifth below the first rewards, with scatter.", a_little_worse),

      at_least(sick(kPlateau, "half-way", "Up to 230 in a tenth of the run, and no further.", half_way_up, {}),
               Severity::note),
      at_least(sick(kPlateau, "solved-early", "A pendulum that stands from a tenth of the run on.", solved_early,
                    {"converged"}),
               Severity::note),
      healthy(kPlateau, "climbing", "A reward that rises to the end.", still_climbing),
      borderline(kPlateau, "slowly", "A reward that still creeps up.", climbing_slowly),

      sick(kSwings, "dqn", "Six times learned and six times forgotten.", learns_and_forgets,
           {"lr-too-high", "target-network-too-fast", "batch-too-small"}),
      sick(kSwings, "returns", "Five climbs to a return of 1000, and five falls.", swinging_returns, {},
           {"reward-stuck-from-start"}),
      healthy(kSwings, "noisy-episodes", "Single episodes scatter by a third of what was learned.", noisy_episodes),
      borderline(kSwings, "two-falls", "Two falls on the way, both made good.", two_falls),

      sick(kEval, "not-normalised", "Rollouts climb by a thousand, twenty evaluations see nothing of it.",
           unseen_by_evaluation, {"validation-pipeline-bug"}),
      sick(kEval, "rollout-only", "A return of 390 in training and 20 in evaluation.", success_of_the_rollout_only,
           {"validation-pipeline-bug"}),
      healthy(kEval, "follows", "Evaluations follow the rollout with twice its scatter.", evaluation_follows),
      borderline(kEval, "half", "Evaluations earn half of what the rollout does.", evaluation_earns_half),
  };
}

}  // namespace osler::cases
