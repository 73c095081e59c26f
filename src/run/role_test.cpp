// What the names of real logs mean, and how series are cast into roles.
#include "osler/run/role.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
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
    {"tr_loss", Role::train_loss},                         // short splits
    {"va_loss", Role::validation_loss},
    {"loss_va", Role::validation_loss},
    {"tst_loss", Role::validation_loss},
    {"trn_loss", Role::train_loss},
    {"va_acc", Role::validation_accuracy},
    {"Verlust", Role::train_loss},  // other languages
    {"Validierungsverlust", Role::validation_loss},
    {"потери_валидации", Role::validation_loss},
    {"Потери на валидации", Role::validation_loss},
    {"val_Genauigkeit", Role::validation_accuracy},
    {"训练损失", Role::train_loss},
    {"验证集准确率", Role::validation_accuracy},
    {"perte", Role::train_loss},
    {"Pérdida (validación)", Role::validation_loss},
    {"学习率", Role::learning_rate},
    {"Lernrate", Role::learning_rate},
    {"grad/global_norm", Role::gradient_norm},  // scripts
    {"|g|", Role::gradient_norm},
    {"grad_norm_after_clip", Role::gradient_norm},
    {"max_clip_norm", Role::clip_threshold},
    {"eval/mean_reward", Role::evaluation_reward},  // stable-baselines3
    {"AverageEpRet", Role::reward},                 // Spinning Up
    {"AverageTestEpRet", Role::evaluation_reward},
    {"StdEpRet", Role::reward_deviation},
    {"MaxEpRet", Role::other},
    {"charts/episodic_return", Role::reward},         // CleanRL
    {"Environment/Cumulative Reward", Role::reward},  // ML-Agents
    {"best_reward", Role::other},
    {"total_reward_sum", Role::other},
    {"reward_so_far", Role::other},
    {"rollout/ep_len_mean", Role::episode_length},
    {"EpLen", Role::episode_length},
    {"rollout/exploration_rate", Role::exploration_rate},
    {"epsilon", Role::exploration_rate},
    {"Policy/Epsilon", Role::other},  // ML-Agents: the clip range
    {"train/entropy_loss", Role::policy_entropy},
    {"losses/entropy", Role::policy_entropy},
    {"train/ent_coef", Role::other},
    {"train/std", Role::action_deviation},
    {"Policy/mean_noise_std", Role::action_deviation},  // rsl_rl
    {"train/approx_kl", Role::policy_kl},
    {"objective/kl", Role::reference_kl},  // TRL
    {"kl_coef", Role::other},
    {"train/clip_fraction", Role::clip_fraction},
    {"ClipFrac", Role::clip_fraction},
    {"losses/clipfrac", Role::clip_fraction},
    {"train/clip_range", Role::other},
    {"train/explained_variance", Role::explained_variance},
    {"vf_explained_var", Role::explained_variance},  // RLlib
    {"train/value_loss", Role::value_loss},
    {"Loss/value_function", Role::value_loss},  // rsl_rl
    {"LossV", Role::value_loss},
    {"losses/qf1_loss", Role::value_loss},
    {"train/critic_loss", Role::value_loss},
    {"LossPi", Role::policy_loss},
    {"train/policy_gradient_loss", Role::policy_loss},
    {"actor/pg_loss", Role::policy_loss},  // verl
    {"Loss value", Role::train_loss},      // no critic
    {"AverageQ1Vals", Role::q_value},
    {"losses/qf1_values", Role::q_value},
    {"Policy/Extrinsic Value Estimate", Role::q_value},
    {"g_loss", Role::generator_loss},
    {"loss_D", Role::discriminator_loss},
    {"errD", Role::discriminator_loss},  // PyTorch's DCGAN
    {"D(x)", Role::other},
    {"D_gz", Role::other},
    {"D_A", Role::discriminator_loss},  // CycleGAN
    {"cycle_A", Role::generator_loss},
    {"reward", Role::reward},  // TRL's GRPO
    {"reward_std", Role::reward_deviation},
    {"frac_reward_zero_std", Role::no_variance_share},
    {"completions/mean_length", Role::completion_length},
    {"completions/clipped_ratio", Role::truncated_share},
    {"response_length/clip_ratio", Role::truncated_share},  // verl
    {"critic/score/mean", Role::reward},
    {"clip_ratio/high_max", Role::other},
    {"rewards/margins", Role::reward_margin},  // TRL's DPO
    {"rewards/chosen", Role::preference_reward},
    {"rewards/accuracies", Role::train_accuracy},
    {"num_input_tokens_seen", Role::tokens_seen},  // Hugging Face
    {"mfu", Role::utilization},                    // nanoGPT
    {"loss #2", Role::train_loss},                 // of a second process in one text
    {"Cumulative Reward_hist#mean", Role::other},  // of a distribution
    {"val@20", Role::validation_metric},
    {"samples/sec", Role::throughput},
    {"ms/step", Role::step_time},
    {"time/iterations", Role::other},
    {"train/epoch", Role::epoch},
    {"AverageEpCost", Role::other},  // of a constrained agent
    {"total_update_l2", Role::other},
    {"% time spent exploring", Role::exploration_rate},  // baselines
    {"best_val_loss", Role::other},                      // derived from another series
    {"num_samples", Role::other},                        // a count
    {"Vali Loss", Role::validation_loss},                // Informer and its descendants
    {"time cost", Role::step_time},                      // MXNet, Gluon
    {"avg_batch_cost", Role::step_time},                 // PaddlePaddle
    {"cost", Role::train_loss},
    {"val_dice_coef", Role::validation_metric},  // Keras scripts
    {"acc_iter", Role::other},                   // OpenPCDet: accumulated iterations
    {"Loss/scores/fake/mean", Role::other},      // StyleGAN
    {"words/sec/thread", Role::throughput},      // fastText
    {"Updates/sec", Role::throughput},           // Sockeye
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

TEST(Role, OfAnObjectiveThatIsMaximisedIsThatOfALossWithTheOtherDirection) {
  for (const char* name : {"elbo", "val_elbo", "log_likelihood", "test_ll", "train/elbo", "evidence_lower_bound"}) {
    EXPECT_TRUE(guess_role(name).higher_is_better) << name;
    EXPECT_EQ(guess_role(name).measure, Measure::log_likelihood) << name;
  }
  EXPECT_EQ(guess_role("elbo").role, Role::train_loss);
  EXPECT_EQ(guess_role("val_elbo").role, Role::validation_loss);
  for (const char* name : {"neg_elbo", "nll", "elbo_loss", "negative_log_likelihood", "-elbo", "nelbo"}) {
    EXPECT_EQ(guess_role(name).role, Role::train_loss) << name;
    EXPECT_FALSE(guess_role(name).higher_is_better) << name;
  }
}

TEST(Role, OfAnObjectiveIsDirectedByWhereItBeginsAndGoes) {
  const auto rises_from = [](const std::string& name, double first) {
    osler::Run run;
    const SeriesId id = run.series(name);
    for (std::int64_t step = 0; step < 40; ++step) {
      run.add(Event{id, step, kNoTime, first + 100 * (1 - std::exp(-static_cast<double>(step) / 10))});
    }
    return RoleMap::infer(run, {})->in(Role::train_loss).at(0).guess.higher_is_better;
  };
  EXPECT_TRUE(rises_from("objective", -200));
  EXPECT_FALSE(rises_from("objective", 2)) << "may as well be a loss that runs away";
  EXPECT_FALSE(rises_from("objective_loss", -200));
  EXPECT_FALSE(rises_from("loss", -200));
}

TEST(Role, ComesWithTheFigureThatIsMeasured) {
  constexpr std::pair<std::string_view, Measure> kFigures[] = {{"metrics/mAP50-95(B)", Measure::average_precision},
                                                               {"val_f1", Measure::f1},
                                                               {"val_mIoU", Measure::iou},
                                                               {"val_dice", Measure::dice},
                                                               {"eval_bleu", Measure::bleu},
                                                               {"val_auc", Measure::auc},
                                                               {"r2", Measure::r2},
                                                               {"perplexity", Measure::perplexity},
                                                               {"val_bits_per_byte", Measure::bits},
                                                               {"eval_wer", Measure::word_error_rate},
                                                               {"rollout/success_rate", Measure::success_rate},
                                                               {"val_mse", Measure::squared_error},
                                                               {"val_accuracy", Measure::accuracy},
                                                               {"acc5", Measure::top_accuracy},
                                                               {"cross_entropy", Measure::cross_entropy},
                                                               {"loss", Measure::unknown},
                                                               {"lr", Measure::unknown}};
  for (const auto& [name, measure] : kFigures) {
    EXPECT_EQ(to_string(guess_role(name).measure), to_string(measure)) << name;
  }
  EXPECT_FALSE(guess_role("perplexity").higher_is_better);
  EXPECT_FALSE(guess_role("eval_ter").higher_is_better) << "translation error rate";
}

TEST(Role, OfAnEntropyLossIsTheEntropyWithItsSignTurned) {
  EXPECT_TRUE(guess_role("train/entropy_loss").negated);
  EXPECT_FALSE(guess_role("losses/entropy").negated);
  EXPECT_FALSE(guess_role("actor/entropy_loss").negated) << "verl writes the entropy itself under this name";
}

TEST(Role, KnowsTheNamesOfTrlsPpo) {
  EXPECT_EQ(guess_role("objective/scores").role, Role::reward);
  EXPECT_EQ(guess_role("objective/rlhf_reward").role, Role::reward);
  EXPECT_EQ(guess_role("objective/non_score_reward").role, Role::other) << "the penalty for divergence";
  EXPECT_EQ(guess_role("objective/kl").role, Role::reference_kl);
  EXPECT_EQ(guess_role("val/num_eos_tokens").role, Role::other);
  EXPECT_EQ(guess_role("reward_loss").role, Role::train_loss);
}

TEST(Role, KnowsTheNamesOfTheFirstBaselines) {
  EXPECT_EQ(guess_role("loss_pol_surr").role, Role::policy_loss);
  EXPECT_EQ(guess_role("loss_ent").role, Role::policy_entropy);
  EXPECT_FALSE(guess_role("loss_ent").negated) << "PPO1 writes the entropy itself under this name";
  EXPECT_EQ(guess_role("ev_tdlam_before").role, Role::explained_variance);
  EXPECT_EQ(guess_role("rollout/return_history").role, Role::reward);
}

TEST(Role, OfARewardForValidAnswersIsNotThatOfAnEvaluation) {
  EXPECT_EQ(guess_role("reward_valid_json").role, Role::reward);
  EXPECT_EQ(guess_role("valid_reward").role, Role::evaluation_reward);
  EXPECT_EQ(guess_role("eval/mean_reward").role, Role::evaluation_reward);
}

TEST(Role, PutsTheLatestReturnsBeforeThoseOfTheWholeHistory) {
  osler::Run run;
  for (const char* name : {"rollout/return", "rollout/return_history"}) run.add({run.series(name), 1, kNoTime, 5});
  EXPECT_EQ(RoleMap::infer(run, {})->first(Role::reward)->name(), "rollout/return_history");
}

TEST(Role, OfTheGamesWonByOneThatExploresIsTheReward) {
  const auto first = [](std::initializer_list<const char*> names) {
    osler::Run run;
    for (const char* name : names) run.add({run.series(name), 1, kNoTime, 0.5});
    const auto roles = RoleMap::infer(run, {});
    return roles->first(Role::reward) == nullptr ? std::string() : std::string(roles->first(Role::reward)->name());
  };
  EXPECT_EQ(first({"avg_loss", "epsilon", "win_rate"}), "win_rate");
  EXPECT_EQ(first({"loss", "win_rate"}), "") << "of a reward model, against a reference";
}

TEST(Role, OfTheMeanRewardOfARewardModelIsNoAim) {
  const auto role_of_mean = [](std::initializer_list<const char*> names) {
    osler::Run run;
    for (const char* name : names) run.add({run.series(name), 1, kNoTime, 0.5});
    const auto roles = RoleMap::infer(run, {});
    return roles->first(Role::preference_reward) != nullptr ? Role::preference_reward : Role::reward;
  };
  EXPECT_EQ(role_of_mean({"loss", "accuracy", "margin", "mean_reward"}), Role::preference_reward);
  EXPECT_EQ(role_of_mean({"loss", "accuracy", "mean_reward"}), Role::reward);
  EXPECT_EQ(guess_role("reject_reward").role, Role::preference_reward);
}

TEST(Role, OfAScoreBesideTheLengthOfAnEpisodeIsTheReward) {
  osler::Run run;
  for (const char* name : {"episode/score", "episode/length", "train/loss/image"})
    run.add({run.series(name), 1, kNoTime, 5});
  EXPECT_EQ(RoleMap::infer(run, {})->first(Role::reward)->name(), "episode/score");
}

TEST(Role, OfALossGoesBeforeItsPerplexity) {
  osler::Run run;
  for (const char* name : {"val/lm loss PPL", "val/lm loss value"}) run.add({run.series(name), 1, kNoTime, 5});
  EXPECT_EQ(RoleMap::infer(run, {})->first(Role::validation_loss)->name(), "val/lm loss value");
}

TEST(Role, KnowsPartsFromTheWhole) {
  EXPECT_TRUE(guess_role("train/box_loss").component);
  EXPECT_TRUE(guess_role("train/cls_loss").component);
  EXPECT_FALSE(guess_role("train/loss").component);
  EXPECT_FALSE(guess_role("train_loss_step").component);
  EXPECT_FALSE(guess_role("total_loss").component);
  EXPECT_FALSE(guess_role("mean_squared_error").component);
  EXPECT_FALSE(guess_role("d_loss").component);
  EXPECT_TRUE(guess_role("loss_dice").component);
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

TEST(RoleMap, TakesAMetricBesideItsValidationForTrainings) {
  const auto keras = run_with({"loss", "f1", "auc", "val_loss", "val_f1"});
  EXPECT_THAT(names_in(*RoleMap::infer(keras), Role::train_metric), ElementsAre("f1"));
  EXPECT_THAT(names_in(*RoleMap::infer(keras), Role::validation_metric), ElementsAre("auc", "val_f1"))
      << "what is alone is measured on held-out data";
}

TEST(RoleMap, TellsDivergencesApartByTheCompanyTheyKeep) {
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"kl", "reward", "ep_len_mean"})), Role::policy_kl), ElementsAre("kl"));
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"kl", "reward", "completion_length"})), Role::reference_kl),
              ElementsAre("kl"));
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"kl_loss", "recon_loss", "loss"})), Role::latent_kl),
              ElementsAre("kl_loss"));
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"kl_loss", "loss"})), Role::train_loss),
              ElementsAre("loss", "kl_loss"))
      << "of distillation";
}

TEST(RoleMap, TakesAnEntropyForThePolicysOnlyWhereSomethingActs) {
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"entropy", "reward"})), Role::policy_entropy), ElementsAre("entropy"));
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"entropy", "loss"})), Role::policy_entropy), IsEmpty());
}

TEST(RoleMap, TakesACriticBesideAGeneratorForADiscriminator) {
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"critic_loss", "generator_loss"})), Role::discriminator_loss),
              ElementsAre("critic_loss"));
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"critic_loss", "actor_loss"})), Role::value_loss),
              ElementsAre("critic_loss"));
}

TEST(RoleMap, TakesALossOfVBesideOneOfTForThatOfTheValidation) {
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"t_loss", "v_loss"})), Role::validation_loss), ElementsAre("v_loss"));
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"pi_loss", "v_loss"})), Role::value_loss), ElementsAre("v_loss"));
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"t_loss", "v_loss", "reward"})), Role::value_loss),
              ElementsAre("v_loss"));
}

TEST(RoleMap, TakesTheLossOfATemperatureForNoObjectiveBesideAnActor) {
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"actor_loss", "critic_loss", "alpha_loss"})), Role::train_loss),
              IsEmpty());
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"alpha_loss"})), Role::train_loss), ElementsAre("alpha_loss"));
}

TEST(RoleMap, TakesAnLBehindAPlayerForItsLoss) {
  const auto run = run_with({"Actor_L", "Critic_L", "Total_Loss"});
  const auto roles = RoleMap::infer(run);
  EXPECT_THAT(names_in(*roles, Role::policy_loss), ElementsAre("Actor_L"));
  EXPECT_THAT(names_in(*roles, Role::value_loss), ElementsAre("Critic_L"));
  EXPECT_THAT(names_in(*roles, Role::train_loss), ElementsAre("Total_Loss"));
}

TEST(RoleMap, TakesABareThroughputBesideARewardForThatOfTheWorld) {
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"Reward", "Throughput"})), Role::throughput), IsEmpty());
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"reward", "perf/throughput"})), Role::throughput),
              ElementsAre("perf/throughput"));
  EXPECT_THAT(names_in(*RoleMap::infer(run_with({"loss", "throughput"})), Role::throughput), ElementsAre("throughput"));
}

TEST(RoleMap, TakesTheAccuracyOfADiscriminatorForNoClassifiers) {
  for (const char* name : {"D_acc", "disc_acc", "Discriminator Accuracy", "acc_D"})
    EXPECT_EQ(guess_role(name).role, Role::other) << name;
  EXPECT_EQ(guess_role("acc").role, Role::train_accuracy);
}

TEST(RoleMap, TakesAChamferDistanceForALoss) {
  EXPECT_EQ(guess_role("chamfer_dist").role, Role::train_loss);
  EXPECT_EQ(guess_role("val_chamfer_distance").role, Role::validation_loss);
}

/// A run with one series per name and its values.
osler::Run run_of(const std::vector<std::pair<std::string, std::vector<double>>>& curves) {
  osler::Run run;
  for (const auto& [name, values] : curves) {
    const SeriesId id = run.series(name);
    std::int64_t step = 0;
    for (const double value : values) run.add(Event{id, step++, kNoTime, value});
  }
  return run;
}

TEST(RoleMap, TakesAShareOfRightAnswersForAnAccuracyAndTheirCountForNone) {
  EXPECT_THAT(names_in(*RoleMap::infer(run_of({{"Correct", {14.15, 71.6, 90.2}}})), Role::train_accuracy),
              ElementsAre("Correct"));
  EXPECT_THAT(names_in(*RoleMap::infer(run_of({{"test/correct", {0.5, 0.6, 1}}})), Role::validation_accuracy),
              ElementsAre("test/correct"));
  EXPECT_THAT(names_in(*RoleMap::infer(run_of({{"correct", {51, 60, 64}}})), Role::train_accuracy), IsEmpty());
}

TEST(RoleMap, TakesSharesUnderBareSplitsBesideALossForAccuracies) {
  const std::vector<double> falls = {1.9, 1.5, 1.1, 0.8, 0.6, 0.5};
  const std::vector<double> rises = {0.30, 0.55, 0.70, 0.76, 0.79, 0.79};
  const osler::Run graph = run_of({{"Loss", falls}, {"Train", rises}, {"Val", rises}, {"Test", rises}});
  EXPECT_THAT(names_in(*RoleMap::infer(graph), Role::train_loss), ElementsAre("Loss"));
  EXPECT_THAT(names_in(*RoleMap::infer(graph), Role::train_accuracy), ElementsAre("Train"));
  EXPECT_THAT(names_in(*RoleMap::infer(graph), Role::validation_accuracy), ElementsAre("Val", "Test"));
  EXPECT_THAT(names_in(*RoleMap::infer(graph), Role::validation_loss), IsEmpty());

  const osler::Run links = run_of({{"Loss", falls}, {"Val", rises}, {"Test", rises}});
  EXPECT_THAT(names_in(*RoleMap::infer(links), Role::validation_metric), ElementsAre("Val", "Test"))
      << "perhaps areas under a curve";
  const osler::Run errors = run_of({{"Loss", falls}, {"Train", falls}, {"Val", falls}});
  EXPECT_THAT(names_in(*RoleMap::infer(errors), Role::validation_loss), ElementsAre("Val"))
      << "what comes down is minimised";
  const osler::Run overfitted = run_of({{"Loss", falls}, {"Val", {0.9, 0.6, 0.5, 0.6, 0.8, 0.95}}});
  EXPECT_THAT(names_in(*RoleMap::infer(overfitted), Role::validation_loss), ElementsAre("Val"))
      << "it does not begin at its lowest";
  const osler::Run bare = run_of({{"train", rises}, {"val", rises}});
  EXPECT_THAT(names_in(*RoleMap::infer(bare), Role::validation_loss), ElementsAre("val"))
      << "no loss has a name of its own";
}

TEST(RoleMap, TakesAnAccuracyOfNoSplitBesideATrainLossForTheValidations) {
  const osler::Run alone = run_with({"train_loss", "val_loss", "accuracy"});
  EXPECT_THAT(names_in(*RoleMap::infer(alone), Role::validation_accuracy), ElementsAre("accuracy"));
  const osler::Run both = run_with({"train_loss", "val_loss", "accuracy", "val_accuracy"});
  EXPECT_THAT(names_in(*RoleMap::infer(both), Role::train_accuracy), ElementsAre("accuracy"));
  const osler::Run keras = run_with({"loss", "val_loss", "accuracy"});
  EXPECT_THAT(names_in(*RoleMap::infer(keras), Role::train_accuracy), ElementsAre("accuracy"))
      << "Keras names no split of training's";
}

TEST(RoleMap, PutsATotalFiledUnderLossBeforeItsParts) {
  const osler::Run run = run_with({"Loss/classification_loss", "Loss/localization_loss", "Loss/total_loss"});
  EXPECT_EQ(RoleMap::infer(run)->first(Role::train_loss)->name(), "Loss/total_loss");
}

TEST(RoleMap, TakesASmoothL1ForTheLossWhereThereIsNoOther) {
  const osler::Run run = run_with({"Train-Acc", "Train-SmoothL1", "Time cost"});
  EXPECT_THAT(names_in(*RoleMap::infer(run), Role::train_loss), ElementsAre("Train-SmoothL1"));
}

TEST(RoleMap, TakesTheOnlyFallingSeriesOfALogWithoutKnownNamesForItsLoss) {
  const std::vector<double> falls = {3.1, 2.5, 2.2, 1.9, 1.7, 1.6};
  const auto losses = [](const osler::Run& run) { return names_in(*RoleMap::infer(run), Role::train_loss); };
  EXPECT_THAT(losses(run_of({{"column 2", falls}})), ElementsAre("column 2"));
  EXPECT_THAT(losses(run_of({{"column 1", {1, 1, 1, 1, 1, 1}}, {"column 2", falls}})), ElementsAre("column 2"));
  EXPECT_THAT(losses(run_of({{"column 1", {1, 1, 2, 2, 3, 3}}, {"column 2", falls}})), ElementsAre("column 2"));
  EXPECT_THAT(losses(run_of({{"column 2", falls}, {"column 3", {0.1, 0.4, 0.6, 0.7, 0.8, 0.9}}})),
              ElementsAre("column 2"))
      << "beside a share that rises";

  EXPECT_THAT(losses(run_of({{"a", falls}, {"b", falls}})), IsEmpty()) << "nobody knows which of them";
  EXPECT_THAT(losses(run_of({{"column 2", falls}, {"lr", falls}})), IsEmpty()) << "a role is known";
  EXPECT_THAT(losses(run_of({{"column 2", {1.6, 1.7, 1.9, 2.2, 2.5}}})), IsEmpty()) << "it rises";
  EXPECT_THAT(losses(run_of({{"column 2", {3.1, 2, 1, 0, -1, -2}}})), IsEmpty()) << "it is no positive quantity";
  EXPECT_THAT(losses(run_of({{"column 2", {3.1, 2.5, 2.2}}})), IsEmpty()) << "too few";
  const osler::Run told = run_of({{"column 2", falls}});
  EXPECT_THAT(names_in(*RoleMap::infer(told, {{Role::other, "column 2"}}), Role::train_loss), IsEmpty());
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

TEST(ClippedShare, IsToldFromLimitsNormsAndPoliciesByItsName) {
  for (const char* name :
       {"clip_freq", "clip_frequency", "clipped", "was_clipped", "grad_clip_ratio", "train/clip_pct"})
    EXPECT_EQ(guess_role(name).role, Role::clipped_share) << name;
  EXPECT_EQ(guess_role("clip_fraction").role, Role::clip_fraction);
  EXPECT_EQ(guess_role("completions/clipped_ratio").role, Role::truncated_share);
  EXPECT_EQ(guess_role("clip_norm").role, Role::clip_threshold);
  EXPECT_EQ(guess_role("grad_norm_clipped").role, Role::gradient_norm);
}

}  // namespace
}  // namespace osler
