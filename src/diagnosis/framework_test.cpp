// Remedies as code: in the framework that the log shows, and only where one line is true.
#include "diagnosis/framework.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "osler/diagnosis/diagnose.h"

namespace osler {
namespace {

using ::testing::HasSubstr;

Run run_with(const char* series, const char* format = "csv") {
  osler::Run run;
  run.format = format;
  run.add(Event{run.series(series), 0, kNoTime, 1});
  return run;
}

TEST(Framework, IsToldByTheLog) {
  EXPECT_EQ(framework_of(run_with("loss")), Framework::pytorch) << "where nothing tells";
  EXPECT_EQ(framework_of(run_with("train_loss", "lightning-csv")), Framework::lightning);
  EXPECT_EQ(framework_of(run_with("loss", "hf-trainer-state")), Framework::transformers);
  EXPECT_EQ(framework_of(run_with("train/global_step", "tensorboard")), Framework::transformers);
  EXPECT_EQ(framework_of(run_with("epoch_loss", "tensorboard")), Framework::keras);
  osler::Run run = run_with("loss", "osler");
  run.config("optimizer", "torch::optim::Adam");
  EXPECT_EQ(framework_of(run), Framework::libtorch);
}

TEST(Framework, HasItsOwnLine) {
  const Remedy::Change change{"lr", "0.1", "0.01"};
  EXPECT_EQ(code_of(change, Framework::keras)->text, "model.optimizer.learning_rate = 0.01");
  EXPECT_EQ(code_of(change, Framework::transformers)->text, "TrainingArguments(learning_rate=0.01)");
  EXPECT_EQ(code_of(change, Framework::keras)->language, "Keras");
}

TEST(Framework, BorrowsThoseOfPyTorchWhereItIsPyTorchUnderneath) {
  const Remedy::Change change{"loss_scale", "", "1024"};
  EXPECT_EQ(code_of(change, Framework::lightning)->language, "PyTorch");
  EXPECT_FALSE(code_of(change, Framework::keras));
  EXPECT_FALSE(code_of(change, Framework::libtorch));
}

TEST(Framework, HasNoLineForWhatNoLineSays) {
  EXPECT_FALSE(code_of({"lr", "", "lower"}, Framework::pytorch)) << "no number";
  EXPECT_FALSE(code_of({"shuffle", "on", "off"}, Framework::pytorch));
  EXPECT_FALSE(code_of({"a knob of the gallery", "", "1"}, Framework::pytorch));
  EXPECT_FALSE(code_of({"activation", "", "sine"}, Framework::pytorch));
}

TEST(Framework, GivesTheRemediesOfAReportTheirCode) {
  osler::Run run;
  for (int step = 0; step < 200; ++step) {
    run.add(Event{run.series("lr"), step, kNoTime, 10});
    run.add(Event{run.series("loss"), step, kNoTime, step < 40 ? 1.0 / (1 + step) : 40.0 + std::sin(step * 1.3)});
  }
  const Report report = *diagnose(run);
  std::string code;
  for (const WeighedCause& cause : report.causes) {
    for (const Remedy& remedy : cause.remedies) code += remedy.code ? remedy.code->text + "\n" : "";
  }
  EXPECT_THAT(code, HasSubstr("group[\"lr\"] = 1"));
}

}  // namespace
}  // namespace osler
