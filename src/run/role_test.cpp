// What the names of real logs mean, and how series are cast into roles.
#include "osler/run/role.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace osler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Named {
  std::string_view name;
  Role role;
};

// Names as the tools in brackets write them.
constexpr Named kWild[] = {
    {"loss", Role::train_loss},                            // Keras, Hugging Face
    {"train/loss", Role::train_loss},                      // Hugging Face in TensorBoard
    {"train_loss", Role::train_loss},                      // fairseq, Lightning scripts
    {"train_loss_step", Role::train_loss},                 // Lightning
    {"train_loss_epoch", Role::train_loss},                // Lightning
    {"Loss/train", Role::train_loss},                      // PyTorch's TensorBoard tutorial
    {"lm loss", Role::train_loss},                         // Megatron-LM
    {"training_loss", Role::train_loss},                   // various
    {"train/box_loss", Role::train_loss},                  // Ultralytics
    {"trainLoss", Role::train_loss},                       // camel case
    {"train", Role::train_loss},                           // nanoGPT's "step 250: train 3.1, val 3.2"
    {"eval_loss", Role::validation_loss},                  // Hugging Face
    {"eval/loss", Role::validation_loss},                  // Hugging Face in TensorBoard
    {"val_loss", Role::validation_loss},                   // Keras, Lightning
    {"val/loss", Role::validation_loss},                   // Lightning with folders
    {"Loss/valid", Role::validation_loss},                 // PyTorch scripts
    {"valid_loss", Role::validation_loss},                 // fairseq, fastai
    {"validation_0-logloss", Role::validation_loss},       // XGBoost
    {"valloss", Role::validation_loss},                    // written together
    {"test_loss", Role::validation_loss},                  // PyTorch's MNIST example
    {"accuracy", Role::train_accuracy},                    // Keras
    {"train_acc", Role::train_accuracy},                   // various
    {"val_accuracy", Role::validation_accuracy},           // Keras
    {"eval_accuracy", Role::validation_accuracy},          // Hugging Face
    {"Accuracy/test", Role::validation_accuracy},          // PyTorch scripts
    {"metrics/mAP50(B)", Role::validation_metric},         // Ultralytics
    {"metrics/precision(B)", Role::validation_metric},     // Ultralytics
    {"eval_bleu", Role::validation_metric},                // Hugging Face
    {"val_mIoU", Role::validation_metric},                 // mmsegmentation scripts
    {"train_f1", Role::train_metric},                      // various
    {"lr", Role::learning_rate},                           // nearly everyone
    {"learning_rate", Role::learning_rate},                // Hugging Face
    {"lr/pg0", Role::learning_rate},                       // Ultralytics
    {"lr-AdamW/pg1", Role::learning_rate},                 // Lightning's LearningRateMonitor
    {"train/learning_rate", Role::learning_rate},          // Hugging Face in TensorBoard
    {"grad_norm", Role::gradient_norm},                    // Hugging Face, mmengine
    {"gnorm", Role::gradient_norm},                        // fairseq
    {"train/grad_norm", Role::gradient_norm},              // Hugging Face in TensorBoard
    {"gradient norm", Role::gradient_norm},                // scripts
    {"loss_scale", Role::loss_scale},                      // fairseq, Megatron-LM
    {"loss scale", Role::loss_scale},                      // Megatron-LM
    {"epoch", Role::epoch},                                // everyone
    {"samples_per_second", Role::throughput},              // Hugging Face
    {"wps", Role::throughput},                             // fairseq
    {"step_time", Role::step_time},                        // scripts
    {"elapsed time per iteration (ms)", Role::step_time},  // Megatron-LM
    {"rollout/ep_rew_mean", Role::reward},                 // stable-baselines3
    {"episode_reward", Role::reward},                      // RLlib and scripts
    {"best_val_loss", Role::other},                        // derived from another series
    {"num_samples", Role::other},                          // a count
};

TEST(Role, IsGuessedFromTheNamesOfRealLogs) {
  for (const auto& [name, role] : kWild) EXPECT_EQ(to_string(guess_role(name).role), to_string(role)) << name;
}

TEST(Role, OfALayerComesWithTheLayerAndTheStatistic) {
  const RoleGuess guess = guess_role("gradients/encoder.layer.0.weight#std");
  EXPECT_EQ(guess.role, Role::layer_gradient);
  EXPECT_EQ(guess.layer, "encoder.layer.0.weight");
  EXPECT_EQ(guess.statistic, "std");
  EXPECT_EQ(guess_role("weights/fc1").role, Role::layer_weight);
  EXPECT_EQ(guess_role("grad_norm/total").role, Role::gradient_norm) << "the norm over all layers";
}

TEST(Role, KnowsWhichWayIsBetter) {
  EXPECT_FALSE(guess_role("val_loss").higher_is_better);
  EXPECT_TRUE(guess_role("val_accuracy").higher_is_better);
  EXPECT_TRUE(guess_role("eval_bleu").higher_is_better);
  EXPECT_FALSE(guess_role("eval_wer").higher_is_better);
  EXPECT_TRUE(guess_role("rollout/ep_rew_mean").higher_is_better);
}

TEST(Role, KnowsPartsFromTheWhole) {
  EXPECT_TRUE(guess_role("train/box_loss").component);
  EXPECT_TRUE(guess_role("train/cls_loss").component);
  EXPECT_FALSE(guess_role("train/loss").component);
  EXPECT_FALSE(guess_role("train_loss_step").component);
  EXPECT_FALSE(guess_role("total_loss").component);
}

TEST(Role, KnowsNetworksThatPlayAgainstEachOther) {
  for (const char* name : {"generator_loss", "loss_D", "D_loss", "train/critic_loss", "G_GAN"}) {
    EXPECT_TRUE(guess_role(name).adversarial) << name;
  }
  EXPECT_FALSE(guess_role("train_loss").adversarial);
}

TEST(Role, SurvivesNamesThatAreNone) {
  for (const std::string& name : {std::string(), std::string("/"), std::string("###"), std::string("\xff\xfe\x80"),
                                  std::string(1'000'000, 'a'), std::string(1'000'000, '/')}) {
    EXPECT_EQ(guess_role(name).role, Role::other);
  }
}

TEST(Role, HasANameThatLeadsBackToIt) {
  for (int number = 0; number <= static_cast<int>(Role::other); ++number) {
    const auto role = static_cast<Role>(number);
    EXPECT_EQ(role_from(to_string(role)), role);
    EXPECT_THAT(std::string(to_string(role)), testing::MatchesRegex("[a-z]+(-[a-z]+)*"));
  }
  EXPECT_EQ(role_from("no-such-role"), std::nullopt);
}

osler::Run run_with(std::initializer_list<std::string_view> names) {
  osler::Run run;
  for (const std::string_view name : names) {
    const SeriesId id = run.series(name);
    for (std::int64_t step = 0; step < 10; ++step) run.add(Event{id, step, kNoTime, 1.0});
  }
  return run;
}

std::vector<std::string> names_in(const RoleMap& roles, Role role) {
  std::vector<std::string> names;
  for (const Cast& cast : roles.in(role)) names.push_back(cast.series->name());
  return names;
}

TEST(RoleMap, PutsTheTotalBeforeItsParts) {
  const auto run = run_with({"train/box_loss", "train/cls_loss", "train/loss", "lr"});
  const auto roles = RoleMap::infer(run);
  ASSERT_TRUE(roles);
  EXPECT_EQ(roles->first(Role::train_loss)->name(), "train/loss");
  EXPECT_THAT(names_in(*roles, Role::train_loss), ElementsAre("train/loss", "train/box_loss", "train/cls_loss"));
  EXPECT_THAT(names_in(*roles, Role::learning_rate), ElementsAre("lr"));
}

TEST(RoleMap, PutsValidationBeforeTest) {
  const auto run = run_with({"test_loss", "val_loss"});
  EXPECT_THAT(names_in(*RoleMap::infer(run), Role::validation_loss), ElementsAre("val_loss", "test_loss"));
}

TEST(RoleMap, IsEmptyForARoleThatNothingPlays) {
  const auto run = run_with({"loss"});
  const auto roles = RoleMap::infer(run);
  ASSERT_TRUE(roles);
  EXPECT_THAT(roles->in(Role::reward), IsEmpty());
  EXPECT_EQ(roles->first(Role::reward), nullptr);
}

TEST(RoleMap, TakesAPlainScoreForTheRewardOfAGame) {
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"Score", "Average Score"})), Role::reward),
              ElementsAre("Score", "Average Score"));
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"score", "loss", "epsilon"})), Role::reward), ElementsAre("score"));
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"score", "loss"})), Role::reward), IsEmpty());
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"val_score", "f1_score"})), Role::reward), IsEmpty());
}

TEST(RoleMap, TakesAnErrorForTheLossWhereThereIsNoOther) {
  const auto with_loss = run_with({"loss", "mae"});
  EXPECT_THAT(names_in(*RoleMap::infer(with_loss), Role::train_loss), ElementsAre("loss"));
  const auto without = run_with({"mae", "val_mae"});
  EXPECT_THAT(names_in(*RoleMap::infer(without), Role::train_loss), ElementsAre("mae"));
  EXPECT_THAT(names_in(*RoleMap::infer(without), Role::validation_loss), ElementsAre("val_mae"));
}

TEST(RoleMap, FollowsTheUsersWord) {
  const auto run = run_with({"loss", "my_thing"});
  const auto roles = RoleMap::infer(run, {{Role::train_loss, "my_thing"}});
  ASSERT_TRUE(roles);
  EXPECT_THAT(names_in(*roles, Role::train_loss), ElementsAre("my_thing", "loss"));
  EXPECT_THAT(names_in(*roles, Role::other), IsEmpty());
}

TEST(RoleMap, RefusesAnOverrideThatNamesNothing) {
  const auto run = run_with({"loss"});
  const auto roles = RoleMap::infer(run, {{Role::train_loss, "lsos"}});
  ASSERT_FALSE(roles);
  EXPECT_EQ(roles.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(describe(roles.error()), HasSubstr("train-loss=lsos"));
}

TEST(RoleMap, CastsVeryManySeries) {
  osler::Run run;
  constexpr int kSeries = 30'000;
  for (int i = 0; i < kSeries; ++i) run.add(Event{run.series("thing" + std::to_string(i)), 0, kNoTime, 1.0});
  const auto roles = RoleMap::infer(run);
  ASSERT_TRUE(roles);
  EXPECT_EQ(roles->in(Role::other).size(), static_cast<std::size_t>(kSeries));
}

}  // namespace
}  // namespace osler
