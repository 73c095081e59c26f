// What looks odd and is healthy is accused of nothing: properties over random scale, length, noise, rounding and names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "plain_fact.h"

namespace osler {
namespace {

void warm_restarts(Log& log, Random& random) {
  const double peak = random.log_uniform(1e-4, 1e-1);
  const auto cycles = static_cast<double>(random.integer(3, 6));
  const auto phase = [=](double x) { return x * cycles - std::floor(std::min(x, 0.9999) * cycles); };
  log.add(log.rate(), 0,
          [=](double x) { return 0.5 * peak * (1 + std::cos(std::numbers::pi * phase(x))) + 0.01 * peak; });
  log.add(log.loss(), 0.01, [=](double x) {
    return descent(x, 0.1, 25) * (1 + 0.25 * std::pow(1 - phase(x), 3) * (x < 1 / cycles ? 0.0 : 1.0));
  });
}

void a_noisy_small_batch_that_learns(Log& log, Random& random) {
  const double scale = random.log_uniform(0.1, 10);
  log.add(log.loss(), random.uniform(0.15, 0.3), [=](double x) { return scale * descent(x, 0.15, 12); });
}

void dropout_with_better_validation(Log& log, Random& random) {
  const std::size_t every = std::max<std::size_t>(1, log.points() / 15);
  const double gap = random.uniform(0.05, 0.25);
  log.add(log.loss(), 0.02, [=](double x) { return 2.3 * (descent(x, 0.15, 15) + gap * 0.3); });
  log.evaluate(log.validation_loss(), every, 0.01, [](double x) { return 2.3 * descent(x, 0.17, 15); });
}

void a_long_run_that_has_converged(Log& log, Random& random) {
  const double scale = random.log_uniform(0.1, 10);
  const std::size_t every = std::max<std::size_t>(1, log.points() / 25);
  log.add(log.loss(), 0.02, [=](double x) { return scale * descent(x, 0.08, 400); });
  log.evaluate(log.validation_loss(), every, 0.01, [=](double x) { return scale * descent(x, 0.1, 400); });
}

void a_sum_over_the_batch(Log& log, Random& random) {
  const double batch = random.pick({64.0, 128.0, 512.0});
  log.add(log.loss(), 0.03, [=](double x) { return batch * 2.3 * descent(x, 0.1, 15); });
  log.add(log.accuracy(), 0.01, [](double x) { return 0.95 - 0.85 * std::pow(1 + 15 * x, -1.1); });
}

void a_density_below_zero(Log& log, Random& random) {
  const double low = random.uniform(1, 6);
  log.add(log.loss(), 0.0, [=](double x) { return 1.5 - (1.5 + low) * (1 - std::pow(1 + 20 * x, -1.1)); });
}

void a_curriculum(Log& log, Random& random) {
  const double when = random.uniform(0.3, 0.5);
  const double step = random.uniform(0.15, 0.35);
  log.add(log.loss(), 0.01, [=](double x) {
    return x < when ? descent(x, 0.2, 20) : descent(when, 0.2, 20) * (0.45 + (0.55 + step) * std::exp(-7 * (x - when)));
  });
}

void an_r2_that_begins_below_zero(Log& log, Random& random) {
  const double worst = random.log_uniform(2, 1e4);
  const std::size_t every = std::max<std::size_t>(1, log.points() / 20);
  const auto error = [=](double x) { return 0.15 + worst * std::exp(-25 * x); };
  log.add("train_mse", 0.05, error);
  log.evaluate("val_r2", every, 0.01, [=](double x) { return 1 - error(x); });
}

/// The rate has gone to nothing: that validation repeats itself is as it should be.
void a_spent_rate_that_leaves_validation_as_it_is(Log& log, Random& random) {
  log.lengthen(80);
  const double level = random.uniform(0.31237, 0.71243);
  const std::size_t every = std::max<std::size_t>(1, log.points() / 40);
  log.add(log.loss(), 0.04, [=](double x) { return level * (0.7 + 3 * std::exp(-9 * x)); });
  log.add(log.rate(), 0, [](double x) { return x < 0.85 ? 1e-3 * (1 - x / 0.85) + 1e-9 : 1e-9; });
  log.evaluate(log.validation_loss(), every, 0,
               [=](double x) { return level * (1 + 3 * std::exp(-9 * std::min(x, 0.85))); });
}

void grokking(Log& log, Random& random) {
  const std::size_t every = std::max<std::size_t>(1, log.points() / 30);
  const double late = random.uniform(0.55, 0.7);
  const auto grasped = [=](double x) { return 1 / (1 + std::exp(-40 * (x - late))); };
  log.add(log.loss(), 0.02, [](double x) { return 4.5 * descent(x, 0.002, 80); });
  log.add(log.accuracy(), 0.0005, [](double x) { return 0.999 - 0.99 * std::exp(-40 * x); });
  log.evaluate(log.validation_loss(), every, 0.02, [=](double x) { return 0.02 + 5.5 * (1 - grasped(x)); });
  log.evaluate(log.validation_accuracy(), every, 0.01, [=](double x) { return 0.01 + 0.98 * grasped(x); });
}

void a_game_in_balance(Log& log, Random& random) {
  const double lead = random.uniform(0.7, 1.4);
  log.add("g_loss", 0.25, [=](double x) { return 0.9 + 0.4 * x; });
  log.add("d_loss", 0.15, [=](double) { return lead; });
}

void an_agent_whose_losses_grow_with_its_return(Log& log, Random& random) {
  const double scale = random.log_uniform(10, 1000);
  const auto learned = [](double x) { return 1 - std::exp(-3 * x); };
  log.add("rollout/ep_rew_mean", 0.03, [=](double x) { return scale * (0.05 + learned(x)); });
  log.add("train/critic_loss", 0.3, [=](double x) { return 0.02 * scale * (0.02 + learned(x)); });
  log.add("train/actor_loss", 0.1, [=](double x) { return -scale * (0.02 + learned(x)); });
}

void a_fine_tuning_with_frozen_parts_unlogged(Log& log, Random& random) {
  const double start = random.uniform(1.2, 2.8);
  log.configure("pretrained", "true");
  log.add(log.loss(), 0.04, [=](double x) { return start * descent(x, 0.55, 12); });
  log.add(log.norm(), 0.3, [](double) { return 0.8; });
}

/// Tokens of a whole sequence summed up: large, calm, and in proportion to the answers.
void a_sum_over_the_tokens(Log& log, Random& random) {
  const double tokens = random.pick({32.0, 128.0, 512.0});
  const double classes = random.pick({30.0, 60.0, 90.0});
  const auto right = [=](double x) { return 1 / classes + 0.45 * (1 - std::pow(1 + 20 * x, -1.1)); };
  log.add(log.loss(), 0.01, [=](double x) {
    const double a = right(x);
    return 0.85 * tokens * (-a * std::log(a) + (a - 1) * std::log(1 - a) + (1 - a) * std::log(classes - 1));
  });
  log.add(log.accuracy(), 0.02, right);
}

/// A hinge that every sample clears: no loss, no gradient, nothing to do.
void a_hinge_that_is_cleared(Log& log, Random& random) {
  const double when = random.uniform(0.05, 0.4);
  log.add(log.loss(), 0.05, [=](double x) { return std::max(0.0, 0.9 * (1 - x / when)); });
  log.add(log.accuracy(), 0, [=](double x) { return std::min(1.0, 0.5 + 0.5 * x / when); });
  log.add(log.norm(), 0.1, [=](double x) { return x < when ? 2.5 : 0.0; });
}

/// Swings, and the newest evaluations are the best.
void validation_that_swings_to_its_best(Log& log, Random& random) {
  log.lengthen(60);
  const double scale = random.log_uniform(0.1, 10);
  log.add(log.loss(), 0.02, [=](double x) { return scale * descent(x, 0.1, 12); });
  log.add(log.validation_loss(), random.uniform(0.05, 0.1),
          [=](double x) { return scale * descent(x, 0.15, 12) * 1.1; });
}

/// Texts settle where they settle, near the loss of guessing among ten or not.
void a_text_that_settles_near_ten_classes(Log& log, Random& random) {
  log.lengthen(200);
  const double level = random.pick({-1, 1}) * random.uniform(0.008, 0.03) + 1;
  const double noise = random.uniform(0.02, 0.05);
  log.add(log.loss(), noise, [=](double x) { return std::numbers::ln10 * (level + 1.5 * std::exp(-12 * x)); });
}

/// Text that begins at the logarithm of its vocabulary settles where it does, be it at ln 10 itself.
void a_vocabulary_that_settles_at_ten_classes(Log& log, Random& random) {
  log.lengthen(200);
  const double first = std::log(random.log_uniform(1'000, 150'000));
  const double level = std::numbers::ln10 * random.uniform(0.998, 1.002);
  log.add(log.loss(), random.uniform(0.003, 0.02),
          [=](double x) { return level + (first - level) * std::exp(-25 * x); });
}

/// Nothing is left to learn, and what is left of the loss breathes.
void a_tiny_loss_that_breathes(Log& log, Random& random) {
  log.lengthen(60);
  const double floor = random.log_uniform(1e-5, 1e-3);
  const double waves = random.uniform(2, 6);
  log.add(log.loss(), 0.2,
          [=](double x) { return std::exp(-25 * x) + floor * std::exp(std::sin(2 * std::numbers::pi * waves * x)); });
}

/// The same where nearly all answers are right by then.
void answers_that_stand_high(Log& log, Random& random) {
  log.lengthen(40);
  const double right = random.uniform(0.94, 0.99);
  log.add(log.loss(), 0.03, [](double x) { return 0.02 + 1.5 * std::exp(-8 * x); });
  log.add(log.validation_accuracy(), 0.003, [=](double x) { return right * (1 - 0.5 * std::exp(-14 * x)); });
}

/// The first updates of a training, each the loss of a single batch.
void a_few_single_batches(Log& log, Random& random) {
  log.shorten(static_cast<std::size_t>(random.integer(30, 60)), 1);
  const double scale = random.log_uniform(0.5, 5);
  const double gain = random.uniform(0.08, 0.2);
  log.add(log.loss(), random.uniform(0.06, 0.1), [=](double x) { return scale * (1 - gain * x); });
}

/// The digits stay and the size does not: such a figure does not stand still.
void a_figure_of_two_sizes(Log& log, Random& random) {
  log.lengthen(30);
  const double first = 0.01 * std::floor(random.uniform(20, 70)) + 0.005467;
  log.add(log.loss(), 0.01, [](double x) { return 1.4 * descent(x, 0.1, 12); });
  log.add("val_mean_iou", 0, [=, small = false](double) mutable { return (small = !small) ? first : first / 10; });
}

/// Answers still get better while the loss of the wrong ones creeps up by a few per cent.
void a_loss_that_creeps_up_beside_better_answers(Log& log, Random& random) {
  log.lengthen(30);
  const double lowest = random.uniform(0.25, 0.6);
  const double rise = random.uniform(0.02, 0.06);
  log.add(log.loss(), 0.01, [=](double x) { return 1.5 * lowest * std::exp(-1.5 * x); });
  log.add(log.validation_loss(), 0.01,
          [=](double x) { return lowest * (1 + 0.8 * std::exp(-18 * x) + rise * std::max(0.0, x - 0.5) / 0.5); });
  log.add(log.validation_accuracy(), 0.002, [](double x) { return 0.9 - 0.3 * std::exp(-4 * x); });
}

/// The weight of the divergence grows, and the reconstruction pays for what that loses.
void a_latent_that_is_weighed_more_and_more(Log& log, Random& random) {
  log.lengthen(30);
  const double level = random.log_uniform(0.1, 300);
  log.add("recon_loss", 0.001, [=](double x) { return level * (1 + 0.1 * std::exp(-60 * x) + 0.02 * x); });
  log.add("kld", 0.005, [=](double x) { return 0.2 * level * (0.4 + 0.6 * std::exp(-3 * x)); });
}

/// Losses are summed over the batches, and nobody says how many classes there are.
void sums_beside_answers_that_come_right(Log& log, Random& random) {
  log.lengthen(40);
  const double batches = random.uniform(10, 16);
  log.add(log.loss(), 0.03, [=](double x) { return 4 * batches * (0.7 + 2.9 * std::exp(-4 * x)); });
  log.add(log.validation_loss(), 0.04, [=](double x) { return batches * (0.75 + 2.8 * std::exp(-4 * x)); });
  log.add(log.validation_accuracy(), 0.02, [](double x) { return 0.75 - 0.67 * std::exp(-4 * x); });
}

const Property kOddities[] = {
    {"WarmRestarts", warm_restarts, false},
    {"ANoisySmallBatchThatLearns", a_noisy_small_batch_that_learns, false},
    {"DropoutWithBetterValidation", dropout_with_better_validation, false},
    {"ALongRunThatHasConverged", a_long_run_that_has_converged, false},
    {"ASumOverTheBatch", a_sum_over_the_batch, false},
    {"ADensityBelowZero", a_density_below_zero, false},
    {"ACurriculum", a_curriculum, false},
    {"AnR2ThatBeginsBelowZero", an_r2_that_begins_below_zero, false},
    {"ASpentRateThatLeavesValidationAsItIs", a_spent_rate_that_leaves_validation_as_it_is, false},
    {"Grokking", grokking, false},
    {"AGameInBalance", a_game_in_balance, false},
    {"AnAgentWhoseLossesGrowWithItsReturn", an_agent_whose_losses_grow_with_its_return, false},
    {"AFineTuningWithFrozenPartsUnlogged", a_fine_tuning_with_frozen_parts_unlogged, false},
    {"ASumOverTheTokens", a_sum_over_the_tokens, false},
    {"AHingeThatIsCleared", a_hinge_that_is_cleared, false},
    {"ValidationThatSwingsToItsBest", validation_that_swings_to_its_best, false},
    {"ATextThatSettlesNearTenClasses", a_text_that_settles_near_ten_classes, false},
    {"AVocabularyThatSettlesAtTenClasses", a_vocabulary_that_settles_at_ten_classes, false},
    {"ATinyLossThatBreathes", a_tiny_loss_that_breathes, false},
    {"AnswersThatStandHigh", answers_that_stand_high, false},
    {"AFewSingleBatches", a_few_single_batches, false},
    {"AFigureOfTwoSizes", a_figure_of_two_sizes, false},
    {"ALatentThatIsWeighedMoreAndMore", a_latent_that_is_weighed_more_and_more, false},
    {"SumsBesideAnswersThatComeRight", sums_beside_answers_that_come_right, false},
    {"ALossThatCreepsUpBesideBetterAnswers", a_loss_that_creeps_up_beside_better_answers, false},
};

class Oddities : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Oddities, AreAccusedOfNothing) {
  const Property& property = kOddities[GetParam()];
  EXPECT_EQ(wrong_draws(property, 1000 * (GetParam() + 101)), "") << property.name << " was accused";
}

INSTANTIATE_TEST_SUITE_P(All, Oddities, ::testing::Range<std::size_t>(0, std::size(kOddities)),
                         [](const auto& test) { return kOddities[test.param].name; });

}  // namespace
}  // namespace osler
