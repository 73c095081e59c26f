// The kind of training is told from what its log holds.
#include "diagnosis/domain.h"

#include <gtest/gtest.h>

#include "osler/diagnosis/diagnose.h"

namespace osler {
namespace {

RecognisedDomain domain_of(std::initializer_list<const char*> series, const char* key = "", const char* value = "") {
  Run run;
  for (const char* name : series) {
    const SeriesId id = run.series(name);
    for (std::int64_t step = 0; step < 12; ++step)
      run.add(Event{id, step, kNoTime, 2.0 / (1.0 + static_cast<double>(step))});
  }
  if (*key != '\0') run.config(key, value);
  return recognise_domain(run, *RoleMap::infer(run));
}

TEST(Domain, IsToldByTheSeries) {
  EXPECT_EQ(domain_of({"rollout/ep_rew_mean", "train/entropy_loss", "train/value_loss"}).domain, Domain::reinforcement);
  EXPECT_EQ(domain_of({"loss", "reward", "completions/mean_length", "kl"}).domain, Domain::reward_tuning);
  EXPECT_EQ(domain_of({"loss", "rewards/margins", "rewards/chosen"}).domain, Domain::preference_tuning);
  EXPECT_EQ(domain_of({"train_loss", "val_loss", "val_perplexity"}).domain, Domain::language_model);
  EXPECT_EQ(domain_of({"loss_G", "loss_D"}).domain, Domain::adversarial);
  EXPECT_EQ(domain_of({"train/box_loss", "train/cls_loss", "metrics/mAP50(B)"}).domain, Domain::detection);
  EXPECT_EQ(domain_of({"total_loss", "iou_loss", "l1_loss", "conf_loss"}).domain, Domain::detection);
  EXPECT_EQ(domain_of({"train_loss", "val_acc"}).domain, Domain::classification);
  EXPECT_EQ(domain_of({"train_loss", "val_r2"}).domain, Domain::regression);
  EXPECT_EQ(domain_of({"loss"}).domain, Domain::unknown);
}

TEST(Domain, IsToldByTheColumnsOfItsFramework) {
  EXPECT_EQ(domain_of({"loss", "learning_rate", "percentage"}).domain, Domain::language_model) << "LLaMA-Factory";
  EXPECT_EQ(domain_of({"loss", "accuracy", "lr", "percentage"}).domain, Domain::preference_tuning);
  EXPECT_EQ(domain_of({"loss train", "iter time"}).domain, Domain::language_model) << "LitGPT";
  EXPECT_EQ(domain_of({"loss", "logits_loss", "aux_loss", "lr"}).domain, Domain::language_model) << "MiniMind";
  EXPECT_EQ(domain_of({"loss", "dpo_loss", "aux_loss", "lr"}).domain, Domain::preference_tuning);
  EXPECT_EQ(domain_of({"objective/kl", "objective/scores", "loss/value_avg"}).domain, Domain::reward_tuning);
  EXPECT_EQ(domain_of({"loss", "reward_valid_json", "reward_env"}).domain, Domain::reward_tuning);
}

TEST(Domain, IsReinforcementWhereChanceActsLessAndLess) {
  const auto with_epsilon = [](double first, double last) {
    osler::Run run;
    for (std::int64_t step = 0; step < 12; ++step) {
      const double x = static_cast<double>(step) / 11;
      run.add(Event{run.series("avg_loss"), step, kNoTime, 0.5});
      run.add(Event{run.series("epsilon"), step, kNoTime, first + (last - first) * x});
    }
    return recognise_domain(run, *RoleMap::infer(run)).domain;
  };
  EXPECT_EQ(with_epsilon(0.95, 0.05), Domain::reinforcement);
  EXPECT_EQ(with_epsilon(0.4, 8), Domain::unknown) << "the budget of a private training";
}

TEST(Domain, IsALanguageModelWhereALossFallsFromThatOfGuessingAmongTokens) {
  const auto with_losses = [](double first, double last, const char* beside) {
    osler::Run run;
    for (std::int64_t step = 0; step < 12; ++step) {
      const double x = static_cast<double>(step) / 11;
      run.add(Event{run.series("train_loss"), step, kNoTime, first + (last - first) * x});
      run.add(Event{run.series(beside), step, kNoTime, first + (last - first) * x});
    }
    return recognise_domain(run, *RoleMap::infer(run)).domain;
  };
  EXPECT_EQ(with_losses(4.29, 1.23, "val_loss"), Domain::language_model) << "73 letters and signs";
  EXPECT_EQ(with_losses(10.9, 3.4, "val_loss"), Domain::language_model) << "50,257 words";
  EXPECT_EQ(with_losses(4.29, 1.23, "val_accuracy"), Domain::classification);
  EXPECT_EQ(with_losses(5.3, 5.27, "val_loss"), Domain::unknown) << "200 classes that are not told apart";
  EXPECT_EQ(with_losses(0.9, 0.2, "val_loss"), Domain::unknown);
}

TEST(Domain, IsToldByTheNameOfARunThatSaysNothingElse) {
  const auto called = [](const char* name) {
    osler::Run run;
    run.name = name;
    for (std::int64_t step = 0; step < 12; ++step) {
      run.add(Event{run.series("loss"), step, kNoTime, 2.4 - 0.05 * static_cast<double>(step)});
    }
    return recognise_domain(run, *RoleMap::infer(run)).domain;
  };
  EXPECT_EQ(called("runs/nanoGPT/log.txt"), Domain::language_model);
  EXPECT_EQ(called("home/gpt/work/images/run7/log.txt"), Domain::unknown) << "a folder far above it";
}

TEST(Domain, OfTextThatIsSortedIsClassification) {
  EXPECT_EQ(domain_of({"train_loss", "val_loss", "val_f1"}, "max_seq_length", "128").domain, Domain::classification);
  EXPECT_EQ(domain_of({"loss", "eval_macro_f1"}, "tokenizer", "bert-base-uncased").domain, Domain::classification);
  EXPECT_EQ(domain_of({"loss", "eval_accuracy"}, "max_seq_length", "128").domain, Domain::language_model)
      << "of tokens, as run_clm.py measures it";
}

TEST(Domain, IsToldByASequencesOwnFigures) {
  EXPECT_EQ(domain_of({"train_loss", "dev_wer", "dev_cer"}).domain, Domain::sequence);
  EXPECT_EQ(domain_of({"train_loss", "val_loss", "bleu"}, "tokenizer", "sentencepiece").domain, Domain::sequence);
}

TEST(Domain, IsToldByADivergenceThatIsWeighed) {
  EXPECT_EQ(domain_of({"train_loss", "kl", "beta", "val_loss"}).domain, Domain::autoencoder);
  EXPECT_EQ(domain_of({"loss", "kld", "beta_kl"}).domain, Domain::autoencoder);
}

TEST(Domain, IsToldByTheConfigurationWhereTheSeriesAreSilent) {
  const RecognisedDomain found = domain_of({"loss"}, "model_name_or_path", "meta-llama/Llama-3.2-1B");
  EXPECT_EQ(found.domain, Domain::language_model);
  EXPECT_NE(found.why.find("llama"), std::string::npos);
}

TEST(Domain, IsWhatTheUserSays) {
  osler::Run run;
  const SeriesId id = run.series("loss");
  for (std::int64_t step = 0; step < 40; ++step)
    run.add(Event{id, step, kNoTime, 2.0 / (1.0 + static_cast<double>(step))});
  DiagnosisOptions options;
  options.domain = Domain::language_model;
  const auto report = diagnose(run, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->domain.domain, Domain::language_model);
  EXPECT_EQ(report->domain.confidence, 1);
}

TEST(Domain, HasANameThatIsReadBack) {
  EXPECT_EQ(domain_from("language-model"), Domain::language_model);
  EXPECT_EQ(to_string(Domain::reward_tuning), "reward-tuning");
  EXPECT_FALSE(domain_from("astrology"));
}

}  // namespace
}  // namespace osler
