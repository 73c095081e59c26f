// Cases of language models that are tuned by rewards, and of networks that play against each other.
#include <algorithm>
#include <cmath>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

using simulate::Levels;
using simulate::Random;

Levels shares(const Table& table, double (*shape)(double), double size) {
  Levels values = simulate::rows_of(table.axis(), shape);
  for (double& value : values) value = std::clamp(value + size * table.random().normal(), 0.0, 1.0);
  return values;
}

// completions-truncated

Table never_ends(Random& random) {
  Table table(random, 180, 1, 1);
  table.scatter(
      "reward", [](double) { return 0.12; }, 0.03);
  table.put("completions/clipped_ratio", shares(
                                             table, [](double x) { return 0.05 + 1.3 * x; }, 0.02));
  return table.scatter(
      "completions/mean_length", [](double x) { return 300.0 + 212.0 * std::min(1.0, 1.3 * x); }, 6.0);
}

Table limit_of_a_line(Random& random) {
  Table table(random, 120, 5, 5);
  table.scatter(
      "reward", [](double) { return 0.21; }, 0.05);
  table.put("completions/clipped_ratio", shares(
                                             table, [](double) { return 0.995; }, 0.003));
  return table.scatter(
      "completions/mean_length", [](double) { return 127.0; }, 0.5);
}

Table long_and_better(Random& random) {
  Table table(random, 200, 1, 1);
  table.put("reward", shares(
                          table, [](double x) { return 0.2 + 0.5 * x; }, 0.03));
  table.put("completions/clipped_ratio", shares(
                                             table, [](double x) { return 0.7 + 0.3 * x; }, 0.01));
  return table.scatter(
      "completions/mean_length", [](double x) { return 380.0 + 130.0 * x; }, 8.0);
}

Table some_cut_off(Random& random) {
  Table table(random, 160, 1, 1);
  table.put("reward", shares(
                          table, [](double x) { return 0.3 + 0.25 * x; }, 0.04));
  return table.put("completions/clipped_ratio", shares(
                                                    table, [](double) { return 0.2; }, 0.05));
}

Table nearly_all_cut_off(Random& random) {
  Table table(random, 160, 1, 1);
  table.scatter(
      "reward", [](double x) { return 0.22 + 0.03 * x; }, 0.04);
  return table.put("completions/clipped_ratio", shares(
                                                    table, [](double) { return 0.94; }, 0.02));
}

// reward-without-variance

Table all_fail(Random& random) {
  Table table(random, 150, 1, 1);
  table.put("reward", shares(
                          table, [](double x) { return 0.16 * std::exp(-12.0 * x); }, 0.0));
  table.add("reward_std", [](double x) { return x < 0.4 ? 0.3 * std::exp(-9.0 * x) : 0.0; });
  table.put("frac_reward_zero_std", shares(
                                        table, [](double x) { return 1.0 - std::exp(-9.0 * x); }, 0.0));
  return table.add("loss", 0.0);
}

Table no_group_differs(Random& random) {
  Table table(random, 200, 1, 1);
  table.scatter(
      "rewards/accuracy_reward/mean", [](double) { return 0.02; }, 0.004);
  table.scatter(
      "reward", [](double) { return 0.02; }, 0.004);
  return table.put("frac_reward_zero_std", shares(
                                               table, [](double) { return 0.985; }, 0.006));
}

/// The same zeros of loss and deviation, and every answer is right.
Table all_succeed(Random& random) {
  Table table(random, 150, 1, 1);
  table.put("reward", shares(
                          table, [](double x) { return 1.0 - 0.7 * std::exp(-10.0 * x); }, 0.0));
  table.add("reward_std", [](double x) { return x < 0.6 ? 0.4 * std::exp(-8.0 * x) : 0.0; });
  table.put("frac_reward_zero_std", shares(
                                        table, [](double x) { return 1.0 - std::exp(-8.0 * x); }, 0.0));
  return table.add("loss", [](double x) { return x < 0.6 ? 0.002 : 0.0; });
}

Table most_groups_alike(Random& random) {
  Table table(random, 160, 1, 1);
  table.scatter(
      "reward", [](double x) { return 0.30 + 0.02 * x; }, 0.04);
  return table.put("frac_reward_zero_std", shares(
                                               table, [](double) { return 0.93; }, 0.02));
}

// reward-hacking

Table pleases_the_grader(Random& random) {
  Table table(random, 400, 5, 5);
  table.scatter(
      "reward", [](double x) { return -1.2 + 3.4 * x; }, 0.2);
  table.scatter(
      "eval/accuracy", [](double x) { return 0.41 + 0.5 * x * (1.0 - 1.35 * x); }, 0.008, 20);
  return table.scatter(
      "completions/mean_length", [](double x) { return 180.0 + 260.0 * x; }, 14.0);
}

Table only_falls(Random& random) {
  Table table(random, 300, 10, 10);
  table.put("reward", shares(
                          table, [](double x) { return 0.3 + 0.55 * x; }, 0.04));
  table.put("val/accuracy",
            shares(
                table, [](double x) { return 0.62 - 0.3 * x; }, 0.01),
            0, 15);
  return table.scatter(
      "completions/mean_length", [](double) { return 220.0; }, 14.0);
}

Table both_rise(Random& random) {
  Table table(random, 400, 5, 5);
  table.scatter(
      "reward", [](double x) { return -1.2 + 3.4 * x; }, 0.2);
  table.scatter(
      "eval/accuracy", [](double x) { return 0.41 + 0.2 * (1.0 - std::exp(-4.0 * x)); }, 0.015, 20);
  return table.scatter(
      "completions/mean_length", [](double x) { return 180.0 + 60.0 * x; }, 14.0);
}

Table a_little_given_back(Random& random) {
  Table table(random, 400, 5, 5);
  table.scatter(
      "reward", [](double x) { return -1.2 + 3.4 * x; }, 0.2);
  table.scatter(
      "eval/accuracy", [](double x) { return 0.41 + 0.5 * x * (1.0 - 0.85 * x); }, 0.008, 20);
  return table.scatter(
      "completions/mean_length", [](double x) { return 180.0 + 60.0 * x; }, 14.0);
}

// vanishing-gradients

Table nothing_left_to_teach(Random& random) {
  Table table(random, 250, 1, 1);
  const auto solved = [](double x) { return x > 0.6; };
  table.scatter(
      "reward", [&](double x) { return solved(x) ? 1.0 : 0.2 + 0.8 * (1 - std::exp(-8 * x)); }, 0.0);
  table.add("reward_std", [&](double x) { return solved(x) ? 0.0 : 0.3; });
  table.add("grad_norm", [&](double x) { return solved(x) ? 0.0 : 0.4; });
  return table.scatter(
      "completions/mean_length", [](double) { return 200.0; }, 15.0);
}

// discriminator-overpowers-generator

Table forger_gives_up(Random& random) {
  Table table(random, 300, 100, 100);
  table.add(
      "D_loss", [](double x) { return 0.004 + 0.66 * std::exp(-7.0 * x); }, 0.2);
  return table.add(
      "G_loss", [](double x) { return 0.8 + 7.0 * (1.0 - std::exp(-4.0 * x)); }, 0.12);
}

Table dcgan_won(Random& random) {
  Table table(random, 500, 50, 0);
  table.add(
      "errD", [](double x) { return 0.02 + 1.2 * std::exp(-20.0 * x); }, 0.3);
  return table.add(
      "errG", [](double x) { return 1.4 + 11.0 * (1.0 - std::exp(-15.0 * x)); }, 0.2);
}

Table balanced_game(Random& random) {
  Table table(random, 400, 100, 100);
  table.add(
      "D_loss", [](double x) { return 0.52 + 0.12 * std::exp(-6.0 * x); }, 0.15);
  return table.add(
      "G_loss", [](double x) { return 0.9 + 0.9 * x; }, 0.2);
}

Table wasserstein(Random& random) {
  Table table(random, 300, 100, 100);
  table.scatter(
      "critic_loss", [](double x) { return -40.0 * std::exp(-5.0 * x) - 1.5; }, 0.8);
  return table.scatter(
      "generator_loss", [](double x) { return 5.0 + 30.0 * x; }, 4.0);
}

Table one_leads(Random& random) {
  Table table(random, 300, 100, 100);
  table.add(
      "D_loss", [](double x) { return 0.13 + 0.6 * std::exp(-6.0 * x); }, 0.1);
  return table.add(
      "G_loss", [](double x) { return 1.3 + 1.5 * x; }, 0.1);
}

const std::vector<std::string> kStill = {"reward-stuck-from-start"};

}  // namespace

Recipes tuning_recipes() {
  const std::string kCut = "completions-truncated";
  const std::string kAlike = "reward-without-variance";
  const std::string kHacked = "reward-hacking";
  const std::string kWon = "discriminator-overpowers-generator";
  return {
      between(sick(kCut, "never-ends", "Answers grow until every one is cut off.", never_ends,
                   {"reference-penalty-too-weak", "lr-too-high", "environment-bug"}, kStill),
              110, 150),
      sick(kCut, "from-the-start", "A limit of 128 tokens for answers that need more.", limit_of_a_line,
           {"length-limit-too-short"}, kStill),
      healthy(kCut, "long-and-better", "Nearly all answers are cut off, and the reward rises.", long_and_better),
      healthy(kCut, "some", "A fifth of the answers is cut off.", some_cut_off),
      borderline(kCut, "nearly-all", "94 of 100 answers are cut off.", nearly_all_cut_off, kStill),

      at_least(between(sick(kAlike, "all-fail", "Every answer comes to fail: loss, deviation and reward are zero.",
                            all_fail, {"sparse-reward", "environment-bug", "lr-too-high"},
                            {"reward-worse-than-start", "reward-stuck-from-start"}),
                       50, 75),
               Severity::critical),
      sick(kAlike, "no-group-differs", "In 98 of 100 groups all answers earn alike, and nearly nothing.",
           no_group_differs, {"sparse-reward", "environment-bug"}, kStill),
      healthy(kAlike, "all-succeed", "Every answer is right: loss and deviation are zero for the best of reasons.",
              all_succeed),
      borderline(kAlike, "most", "93 of 100 groups without variance.", most_groups_alike, kStill),

      healthy("vanishing-gradients", "all-right", "Every answer of every group is right: no gradient is left.",
              nothing_left_to_teach, {"reward-plateau"}),

      sick(kHacked, "grader", "The reward goes on rising after the held-out accuracy has turned.", pleases_the_grader,
           {"reference-penalty-too-weak", "environment-bug"}),
      sick(kHacked, "only-falls", "A reward that doubles while accuracy is halved.", only_falls,
           {"reference-penalty-too-weak", "environment-bug"}),
      healthy(kHacked, "both-rise", "Reward and held-out accuracy rise together.", both_rise),
      borderline(kHacked, "a-little", "Part of the gain in accuracy is given back.", a_little_given_back),

      sick(kWon, "gives-up", "The discriminator is always right by a third of the run.", forger_gives_up,
           {"discriminator-too-strong"}),
      sick(kWon, "dcgan", "A DCGAN whose discriminator wins within the first epochs.", dcgan_won,
           {"discriminator-too-strong"}),
      healthy(kWon, "balanced", "A game near balance, with a generator's loss that creeps up.", balanced_game,
              {"loss-plateau"}),
      healthy(kWon, "wasserstein", "A critic without a floor.", wasserstein, {"loss-plateau"}),
      borderline(kWon, "leads", "A discriminator that leads at 0.13.", one_leads),
  };
}

}  // namespace osler::cases
