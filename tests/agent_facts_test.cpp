// What anybody sees at a glance in the rewards of an agent: properties over random episodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plain_fact.h"

namespace osler {
namespace {

std::string reward_of(Random& random) {
  return random.pick({"reward", "episode_reward", "return", "rollout/ep_rew_mean", "Reward", "score", "AvgFitness"});
}

/// Episodes of a random policy on a balance task: mostly short, now and then long.
double random_balance(Random& random, double mean) {
  return 9 - (mean - 9) * std::log(1 - random.uniform());
}

/// Luck held a random policy up for a while; the learned one drops at once, and always in the same way.
void a_policy_worse_than_chance(Log& log, Random& random) {
  log.lengthen(150);
  const double mean = random.uniform(20, 28);
  const double learned = random.uniform(9, 10.5);
  const double from = random.uniform(0.06, 0.2);
  log.add(reward_of(random), 0, [=, &random](double x) {
    return x < from ? std::round(random_balance(random, mean)) : std::round(learned + 0.7 * random.normal());
  });
}

/// Means over windows rise, and end below half of what they were at their best.
void a_reward_that_is_lost_again(Log& log, Random& random) {
  log.lengthen(100);
  const double best = random.uniform(120, 400);
  const double left = random.uniform(0.15, 0.4);
  const double peak = random.uniform(0.4, 0.6);
  log.add(reward_of(random), 0, [=, &random](double x) {
    const double level = x < peak ? 20 + (best - 20) * x / peak : best * std::max(left, 1 - 4 * (x - peak));
    return level + 0.12 * best * random.normal();
  });
}

/// Nearly a third of what was learned, or more, is lost again, for good.
void a_reward_that_sinks_by_a_third(Log& log, Random& random) {
  log.lengthen(400);
  const double best = random.uniform(100, 400);
  const double lost = random.uniform(0.32, 0.5);
  log.add(reward_of(random), 0, [=, &random](double x) {
    const double level = x < 0.4 ? best * (0.05 + 0.95 * x / 0.4) : best * (1 - lost * std::min(1.0, 3 * (x - 0.4)));
    return level * (1 + 0.1 * random.normal());
  });
}

/// Falls are punished: rewards are skewed, and sink from one third of the run to the next.
void a_skewed_reward_that_sinks(Log& log, Random& random) {
  log.lengthen(300);
  const double start = random.uniform(-125, -90);
  const double lost = random.uniform(45, 70);
  log.add(reward_of(random), 0, [=, &random](double x) {
    const double fallen = start - lost * std::min(1.0, 1.5 * x);
    return fallen + 12 * random.normal() - (random.chance(0.08) ? random.uniform(20, 120) : 0);
  });
}

/// Tries this and that at first, and then loses in the same way in every episode.
void a_policy_that_settles_on_losing(Log& log, Random& random) {
  log.lengthen(150);
  const double level = random.uniform(-200, -100);
  const double spread = random.uniform(100, 200);
  const double lost = level - 0.9 * spread;
  log.add(reward_of(random), 0, [=, &random](double x) {
    return x < 0.5 ? level + spread * random.normal() : lost + 0.02 * spread * random.normal();
  });
}

/// Tries this and that at first, and then wins in the same way in every episode.
void a_policy_that_settles_on_winning(Log& log, Random& random) {
  log.lengthen(150);
  const double level = random.uniform(-200, -100);
  const double spread = random.uniform(100, 200);
  const double won = level + 1.5 * spread;
  log.add(reward_of(random), 0, [=, &random](double x) {
    return x < 0.5 ? level + spread * random.normal() : won + 0.02 * spread * random.normal();
  });
}

/// Nothing is earned from the first episode to the last, hundreds of them.
void a_reward_that_never_moves(Log& log, Random& random) {
  log.lengthen(300);
  const double level = random.pick({-1, 1}) * random.log_uniform(5, 500);
  const double scatter = random.uniform(0.1, 0.4) * std::abs(level);
  log.add(reward_of(random), 0, [=, &random](double) { return level + scatter * random.normal(); });
}

/// A few dozen episodes, all alike.
void a_few_episodes_that_go_nowhere(Log& log, Random& random) {
  log.shorten(static_cast<std::size_t>(random.integer(20, 40)), 1);
  const double level = random.pick({-1, 1}) * random.log_uniform(5, 1e7);
  log.add(reward_of(random), random.uniform(0.01, 0.04), [=](double) { return level; });
}

/// Now and then something is lost, hardly less often in the end than at first.
void a_reward_that_is_nearly_always_nothing(Log& log, Random& random) {
  log.lengthen(900);
  const double unit = random.pick({0.05, 0.1, 1.0});
  const double seldom = random.uniform(0.15, 0.3);
  log.add(reward_of(random), 0, [=, &random](double x) { return random.chance(seldom * (1 - 0.2 * x)) ? -unit : 0.0; });
}

/// Learned early and kept, with the bad episodes that every policy has.
void a_solved_task(Log& log, Random& random) {
  log.lengthen(120);
  const double best = random.uniform(150, 500);
  log.add(reward_of(random), 0, [=, &random](double x) {
    const double level = best * (1 - 0.9 * std::exp(-12 * x));
    return random.chance(0.04) ? random.uniform(0.2, 0.6) * level
                               : std::min(best, level * (1 + 0.06 * random.normal()));
  });
}

/// Slow, noisy and upwards.
void a_slow_climb(Log& log, Random& random) {
  log.lengthen(300);
  const double start = random.uniform(-300, -150);
  const double gain = random.uniform(120, 300);
  log.add(reward_of(random), 0, [=, &random](double x) { return start + gain * x + 40 * random.normal(); });
}

/// A dip in the middle, as a new lesson or a bad stretch brings, from which it recovers.
void a_dip_that_is_made_good(Log& log, Random& random) {
  log.lengthen(200);
  const double best = random.uniform(100, 300);
  const double at = random.uniform(0.35, 0.55);
  log.add(reward_of(random), 0, [=, &random](double x) {
    const double level = best * std::min(1.0, 0.1 + 3 * x);
    const double dip = 0.6 * std::exp(-std::pow((x - at) / 0.05, 2));
    return level * (1 - dip) + 0.08 * best * random.normal();
  });
}

const Property kProperties[] = {
    {"APolicyWorseThanChance", a_policy_worse_than_chance, true},
    {"ARewardThatIsLostAgain", a_reward_that_is_lost_again, true},
    {"ARewardThatSinksByAThird", a_reward_that_sinks_by_a_third, true},
    {"ASkewedRewardThatSinks", a_skewed_reward_that_sinks, true},
    {"APolicyThatSettlesOnLosing", a_policy_that_settles_on_losing, true},
    {"APolicyThatSettlesOnWinning", a_policy_that_settles_on_winning, false},
    {"ARewardThatNeverMoves", a_reward_that_never_moves, true},
    {"AFewEpisodesThatGoNowhere", a_few_episodes_that_go_nowhere, true},
    {"ARewardThatIsNearlyAlwaysNothing", a_reward_that_is_nearly_always_nothing, true},
    {"ASolvedTask", a_solved_task, false},
    {"ASlowClimb", a_slow_climb, false},
    {"ADipThatIsMadeGood", a_dip_that_is_made_good, false},
};

class AgentFacts : public ::testing::TestWithParam<std::size_t> {};

TEST_P(AgentFacts, AreJudgedAsAnybodyWould) {
  const Property& property = kProperties[GetParam()];
  EXPECT_EQ(wrong_draws(property, 1000 * (GetParam() + 1)), "")
      << property.name << (property.sick ? " was called healthy" : " was accused");
}

INSTANTIATE_TEST_SUITE_P(All, AgentFacts, ::testing::Range<std::size_t>(0, std::size(kProperties)),
                         [](const auto& test) { return kProperties[test.param].name; });

}  // namespace
}  // namespace osler
