// What names mean by the series beside them: players of a game, penalties, divergences, lengths of episodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "osler/run/role.h"

namespace osler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Curve = std::pair<std::string, std::vector<double>>;

/// The names of the series that play the role in a run of these series.
std::vector<std::string> cast(const std::vector<Curve>& curves, Role role) {
  Run run;
  for (const auto& [name, values] : curves) {
    const SeriesId id = run.series(name);
    std::int64_t step = 0;
    for (const double value : values) run.add(Event{id, step++, kNoTime, value});
  }
  std::vector<std::string> names;
  const Result<RoleMap> roles = RoleMap::infer(run);
  for (const Cast& one : roles->in(role)) names.push_back(one.series->name());
  return names;
}

std::vector<std::string> named(const std::vector<std::string>& names, Role role) {
  std::vector<Curve> curves;
  for (const std::string& name : names) curves.push_back({name, {1.0, 2.0}});
  return cast(curves, role);
}

TEST(Company, TellsTheAnswersOfADiscriminatorFromItsLoss) {
  EXPECT_THAT(named({"D_loss", "G_loss", "D_img", "D_real"}, Role::discriminator_loss), ElementsAre("D_loss"));
  EXPECT_THAT(named({"G_GAN", "D_real", "D_fake"}, Role::discriminator_loss), ElementsAre("D_real", "D_fake"));
}

TEST(Company, TakesBareNamesOfTwoPlayersForTheirLosses) {
  EXPECT_THAT(named({"discriminator", "Generator"}, Role::generator_loss), ElementsAre("Generator"));
  EXPECT_THAT(named({"discriminator", "Generator"}, Role::discriminator_loss), ElementsAre("discriminator"));
  EXPECT_THAT(named({"loss", "Generator"}, Role::generator_loss), IsEmpty()) << "nobody plays against it";
}

TEST(Company, TakesAPenaltyForNoLossOfTheTask) {
  EXPECT_THAT(named({"loss", "reg_loss", "weight_decay_loss"}, Role::train_loss), ElementsAre("loss"));
  EXPECT_THAT(named({"mse", "reg_loss"}, Role::train_loss), ElementsAre("mse"));
  EXPECT_THAT(named({"val_loss", "val_reg_loss"}, Role::validation_loss), ElementsAre("val_loss"));
  EXPECT_THAT(named({"cls_loss", "reg_loss"}, Role::train_loss), ElementsAre("cls_loss", "reg_loss"))
      << "of a detector: the loss of its regression";
  EXPECT_THAT(named({"reg_loss"}, Role::train_loss), ElementsAre("reg_loss")) << "there is no other";
}

TEST(Company, TakesADivergenceThatIsWeighedForThatOfAnAutoencoder) {
  EXPECT_THAT(named({"loss", "kl", "beta"}, Role::latent_kl), ElementsAre("kl"));
  EXPECT_THAT(named({"loss", "kl", "beta_kl"}, Role::latent_kl), ElementsAre("kl"));
  EXPECT_THAT(named({"loss", "kl", "kl_weight"}, Role::latent_kl), ElementsAre("kl"));
  EXPECT_THAT(named({"reward", "kl", "beta"}, Role::latent_kl), IsEmpty()) << "PPO weighs it as well";
  EXPECT_THAT(named({"loss", "kl"}, Role::latent_kl), IsEmpty());
}

TEST(Company, TakesStepsThatGoUpAndDownBesideARewardForLengths) {
  const std::vector<double> rewards = {1, 2, 3, 4, 5};
  const Curve steps = {"steps", {20, 35, 28, 60, 41}};
  EXPECT_THAT(cast({{"reward", rewards}, steps}, Role::episode_length), ElementsAre("steps"));
  EXPECT_THAT(cast({{"loss", rewards}, steps}, Role::episode_length), IsEmpty());
  EXPECT_THAT(cast({{"reward", rewards}, {"steps", {20, 40, 60, 80, 90}}}, Role::episode_length), IsEmpty());
}

TEST(Company, TakesTheTimeSinceTheStartForThatOfNoStep) {
  EXPECT_THAT(cast({{"time", {33.9, 67.1, 100.4, 133.2, 166.0, 199.5}}}, Role::step_time), IsEmpty());
  EXPECT_THAT(cast({{"time", {33.9, 33.1, 34.4, 33.2, 34.0, 33.5}}}, Role::step_time), ElementsAre("time"));
  EXPECT_THAT(cast({{"step_time", {0.5, 0.55, 0.6, 0.7, 0.8, 1.1}}}, Role::step_time), ElementsAre("step_time"))
      << "it slows down";
}

TEST(Company, KnowsFiguresAmongTheFirstSoMany) {
  for (const char* name : {"hit_ratio@10", "HR@10", "recall@20", "R@5", "ndcg@10", "mrr"}) {
    const RoleGuess guess = guess_role(name);
    EXPECT_EQ(guess.role, Role::validation_metric) << name;
    EXPECT_TRUE(guess.higher_is_better) << name;
    EXPECT_FALSE(guess.component) << name;
  }
  EXPECT_EQ(guess_role("recall@20").measure, Measure::hit_rate);
  EXPECT_EQ(guess_role("recall").measure, Measure::recall);
  EXPECT_EQ(guess_role("hit_ratio").measure, Measure::hit_rate);
  EXPECT_EQ(guess_role("cache_hit_rate@s").role, guess_role("cache_hit_rate").role);
}

TEST(Company, KnowsARateWithBlanksAroundItsSlash) {
  EXPECT_EQ(guess_role("Tokens / Sec").role, Role::throughput);
  EXPECT_EQ(guess_role("samples / s").role, Role::throughput);
}

}  // namespace
}  // namespace osler
