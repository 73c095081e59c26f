// The general reader on the habits of training output; whole logs of many tools lie in tests/samples/text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "formats/text/text_reader.h"
#include "reading.h"

namespace osler::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

const Format& text() {
  return *find_format("text");
}

RecordingSink read(std::string_view log) {
  return read_whole_text(text(), "train.log", log).sink;
}

TEST(Text, OneBlockOfATableIsOneRow) {
  const auto sink = read(
      "--------------------\n| rollout/    |      |\n|    rew_mean | 1.5  |\n| time/       |      |\n"
      "|    total_timesteps | 2048 |\n--------------------\n"
      "--------------------\n| rollout/    |      |\n|    rew_mean | nan  |\n| time/       |      |\n"
      "|    total_timesteps | 4096 |\n--------------------\n");
  EXPECT_THAT(sink.steps("rollout/rew_mean"), ElementsAre(2048, 4096));
  EXPECT_EQ(sink.values("rollout/rew_mean")[0], 1.5);
  EXPECT_TRUE(std::isnan(sink.values("rollout/rew_mean")[1]));
}

TEST(Text, ANameBeginsBehindAValueThatIsAbsent) {
  const auto sink = read("step 1 loss=0.5 acc=0.6\nstep 2 loss=None acc=0.7\nstep 3 loss: null acc: 0.8\n");
  EXPECT_THAT(sink.values("acc"), ElementsAre(0.6, 0.7, 0.8));
  EXPECT_THAT(sink.values("loss"), ElementsAre(0.5));
}

/// Lines of a training that is evaluated in every fifth epoch and prints nan in the others.
std::string evaluated_now_and_then(int epochs, int breaks) {
  std::string log;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const std::string loss = std::to_string(2.0 / (1 + 0.1 * epoch));
    log += "Epoch " + std::to_string(epoch) + " | train loss " + (epoch < breaks ? loss : "nan") + " | val loss " +
           (epoch % 5 == 0 && epoch < breaks ? loss : "nan") + "\n";
  }
  return log;
}

TEST(Text, NanForWhatWasNotMeasuredIsNoValue) {
  const auto sink = read(evaluated_now_and_then(50, 50));
  EXPECT_THAT(sink.steps("val loss"), ElementsAre(0, 5, 10, 15, 20, 25, 30, 35, 40, 45));
  EXPECT_EQ(sink.steps("train loss").size(), 50U);
}

TEST(Text, NanThatWasComputedIsToldAtOnce) {
  const auto sink = read(evaluated_now_and_then(50, 33));
  const auto losses = sink.values("train loss");
  ASSERT_EQ(losses.size(), 50U);
  EXPECT_FALSE(std::isnan(losses[32]));
  for (std::size_t i = 33; i < losses.size(); ++i) EXPECT_TRUE(std::isnan(losses[i])) << i;
}

TEST(Text, OfABarTheLastStateOfEachStepCounts) {
  std::string log;
  for (int step = 1; step <= 1000; ++step) {
    for (const double loss : {9.0, 1.0 / step}) {
      log += "\r 10%|#         | " + std::to_string(step) +
             "/9999 [00:01<00:09,  1.85it/s, loss=" + std::to_string(loss) + "]";
    }
  }
  const auto sink = read(log);
  ASSERT_EQ(sink.steps("loss").size(), 1000U);
  EXPECT_EQ(sink.values("loss")[1], 0.5);
}

TEST(Text, AMarkBehindANormSaysWhichStepsWereClipped) {
  std::string log;
  for (int step = 0; step < 40; step += 10) {
    log += "[Step " + std::to_string(step) + "] loss=2.30" + std::to_string(step) +
           " trend(50)=-0.0012 | grad_norm=1.00" + std::to_string(step) +
           (step == 10 || step == 30 ? "[CLIPPED] " : " ") + "clip_freq=50.0% | lr=1.00e-03\n";
  }
  const auto sink = read(log);
  EXPECT_THAT(sink.steps("clipped"), ElementsAre(10, 20, 30));
  EXPECT_THAT(sink.values("clipped"), ElementsAre(1, 0, 1));
  EXPECT_THAT(sink.steps("grad_norm"), ElementsAre(0, 10, 20, 30));
  EXPECT_THAT(sink.values("clip_freq"), ElementsAre(50, 50, 50, 50));
}

TEST(Text, SettingsAreConfigurationAndNoSeries) {
  const auto sink = read("learning_rate: 0.001\nbatch_size = 32\noptimizer: adam\n--weight_decay 0.1\n");
  EXPECT_THAT(sink.names, IsEmpty());
  EXPECT_EQ(sink.configuration.at("learning_rate"), "0.001");
  EXPECT_EQ(sink.configuration.at("batch_size"), "32");
  EXPECT_EQ(sink.configuration.at("optimizer"), "adam");
  EXPECT_EQ(sink.configuration.at("weight_decay"), "0.1");
}

TEST(Text, AHeadingNamesTheEvaluationBelowIt) {
  const auto sink = read("step 10 loss 1.5\n***** Evaluating *****\nloss: 1.7\nstep 20 loss 1.4\n");
  EXPECT_THAT(sink.names, UnorderedElementsAre("loss", "eval/loss"));
  EXPECT_THAT(sink.steps("eval/loss"), ElementsAre(10));
}

TEST(Text, TheSameNamePerStepAndPerEpochIsTwoSeries) {
  const auto sink = read("epoch 1 - iter 0/2 - loss 1.2\nepoch 1 - iter 1/2 - loss 1.0\nEPOCH 1 done: loss 1.1\n");
  EXPECT_THAT(sink.steps("loss"), ElementsAre(0, 1));
  EXPECT_THAT(sink.values("loss (epoch)"), ElementsAre(1.1));
}

TEST(Text, LinesWithoutAnyCounterAreCounted) {
  EXPECT_THAT(read("loss: 3\nloss: 2\nloss: 1\n").steps("loss"), ElementsAre(0, 1, 2));
}

TEST(Text, NumbersThatNeverChangeAreNoSeries) {
  EXPECT_THAT(read("seq_len=128\nseq_len=128\nseq_len=128\nseq_len=128\n").names, IsEmpty());
  EXPECT_THAT(read("seq_len=128\nseq_len=128\nseq_len=256\n").values("seq_len"), ElementsAre(128, 128, 256));
}

TEST(Text, TheBestSoFarIsNoFailureBeforeTheFirst) {
  EXPECT_THAT(read("epoch 1 loss=2.5 best_loss=inf\nepoch 2 loss=2 best_loss=2.5\n").values("best_loss"),
              ElementsAre(2.5));
}

TEST(Text, ATracebackBecomesAMark) {
  const auto sink = read(
      "step 5 loss 1\nTraceback (most recent call last):\n  File \"t.py\", line 3, in <module>\n    go()\n"
      "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n");
  ASSERT_EQ(sink.marks.size(), 1U);
  EXPECT_EQ(sink.marks[0].kind, Mark::Kind::crashed);
  EXPECT_EQ(sink.marks[0].step, 5);
  EXPECT_EQ(sink.marks[0].text, "out-of-memory: RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB");
}

TEST(Text, TheEndByTheClusterBecomesAMark) {
  const auto sink = read(
      "step 5 loss 1\nslurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-05-01T10:00:00 DUE TO TIME LIMIT ***\n");
  ASSERT_EQ(sink.marks.size(), 1U);
  EXPECT_EQ(sink.marks[0].kind, Mark::Kind::crashed);
  EXPECT_THAT(sink.marks[0].text, ::testing::StartsWith("time-limit: slurmstepd:"));
}

TEST(Text, ACrashThatEveryProcessTellsIsOneMark) {
  std::string text = "step 5 loss 1\n";
  for (int rank = 0; rank < 4; ++rank) {
    text += "[rank" + std::to_string(rank) + "]: Traceback (most recent call last):\n[rank" + std::to_string(rank) +
            "]: ValueError: bad shape\n";
  }
  EXPECT_EQ(read(text).marks.size(), 1U);
}

TEST(Text, ProcessesThatSpeakOneAfterAnotherKeepTheirSeries) {
  std::string text;
  for (int rank = 1; rank >= 0; --rank) {
    for (int epoch = 0; epoch < 4; ++epoch) {
      text += "RANK: " + std::to_string(rank) + " Train Epoch: " + std::to_string(epoch) +
              " [0/500 (0%)]\tLoss: " + std::to_string(4 - epoch) + "\n";
    }
  }
  const auto sink = read(text);
  EXPECT_THAT(sink.values("train/Loss (rank 1)"), ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(sink.steps("train/Loss"), ElementsAre(0, 500, 1000, 1500));
  EXPECT_THAT(sink.steps("epoch"), ElementsAre(0, 500, 1000, 1500)) << "told once, or the steps would go back";
}

TEST(Text, WhatIsAlwaysZeroBesideACounterIsASeries) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += "iter " + std::to_string(i) + " dead_units 0\n";
  EXPECT_THAT(read(text).values("dead_units"), ::testing::SizeIs(10));
}

TEST(Text, AlgebraInGeneratedTextIsNoSeries) {
  EXPECT_THAT(read("step 1 loss 2\nso x = 3\nstep 2 loss 1\nthen x = 4, y = 5\nx = 6\nx = 7\n").names,
              ElementsAre("loss"));
}

TEST(Text, DatesBecomeTheWallTime) {
  const auto sink = read("2023-01-01 00:00:10 step 1 loss 2\nstep 2 loss 1\n");
  ASSERT_EQ(sink.events.size(), 2U);
  EXPECT_EQ(sink.events[0].wall_time, 1672531210);
  EXPECT_TRUE(std::isnan(sink.events[1].wall_time));
}

TEST(Text, AnyLineEndWillDo) {
  const std::string log = "step 1 loss 3\nstep 2 loss 2\nstep 3 loss 1";
  for (const std::string end : {"\n", "\r", "\r\n", "\r\r\n", "\b\b\b\r"}) {
    std::string other;
    for (const char c : log) other += c == '\n' ? end : std::string(1, c);
    EXPECT_THAT(read(other).values("loss"), ElementsAre(3, 2, 1)) << ::testing::PrintToString(end);
  }
}

TEST(Text, LinesOfAMegabyteAreRead) {
  const std::string padding(std::size_t{1} << 20, 'x');
  const auto sink = read("step 1 loss 2 " + padding + "\nstep 2 loss 1 " + padding + "\n");
  EXPECT_THAT(sink.values("loss"), ElementsAre(2, 1));
  std::string numbers = "step 3 loss 5";
  for (int i = 0; i < 100'000; ++i) numbers += " a" + std::to_string(i) + "=1";
  EXPECT_THAT(read(numbers).values("loss"), ElementsAre(5));
}

TEST(Text, AHundredThousandNamesStayWithinBounds) {
  std::string log;
  for (int i = 0; i < 120'000; ++i) log += "step 1 loss_" + std::to_string(i) + "x: 0.5\n";
  const Outcome outcome = read_whole_text(text(), "train.log", log);
  EXPECT_EQ(outcome.sink.names.size(), 100'000U);
  EXPECT_EQ(outcome.damage.total(), 1U);

  log.clear();
  for (int i = 0; i < 120'000; ++i) log += "word" + std::to_string(i) + "x: " + std::to_string(i) + "\n";
  log += "step 1 loss 0.5\n";
  EXPECT_THAT(read(log).names, ElementsAre("loss"));
}

TEST(Text, ABatchOnALineOfItsOwnCountsWhereItRises) {
  std::string blocks;
  for (int batch = 100; batch <= 600; batch += 100) {
    blocks += "REPORT\n  Batch = " + std::to_string(batch) + "\n  Correct = " + std::to_string(batch / 10) + ".5%\n\n";
  }
  const auto counted = read(blocks);
  EXPECT_THAT(counted.steps("Correct"), ElementsAre(0, 200, 300, 400, 500, 600))
      << "that it counts is seen at the second";

  const auto told = read("Batch = 32\nepoch 1 loss 0.5\nBatch = 32\nepoch 2 loss 0.4\n");
  EXPECT_THAT(told.steps("loss"), ElementsAre(1, 2));
}

TEST(Text, APartOfTheTrainingIsACurveOfItsOwn) {
  std::string uncounted;
  std::string listed;
  for (int part = 1; part <= 2; ++part) {
    uncounted += "Training layer " + std::to_string(part) + "/2 ...\n";
    listed += "epoch " + std::to_string(part) + " loss 0.5\nLayer 1 frozen\nLayer 2 frozen\n";
    for (const char* error : {"0.9", "0.7", "0.6"}) uncounted += std::string("Reconstruction error: ") + error + "\n";
  }
  const auto layers = read(uncounted);
  EXPECT_THAT(layers.steps("Reconstruction error"), ElementsAre(0, 1, 2, 0, 1, 2));
  ASSERT_EQ(layers.marks.size(), 1U);
  EXPECT_EQ(layers.marks[0].text, "another part of the training: Training layer 2/2 ...");
  EXPECT_THAT(read(listed).marks, IsEmpty()) << "what is listed again and again is no part";
}

TEST(Text, StepsThatGoUpAndDownBesideARewardAreLengths) {
  std::string lengths;
  std::string counts;
  for (int i = 0; i < 30; ++i) {
    lengths += "steps: " + std::to_string(20 + i * 7 % 10) + ", reward: 1.5\n";
    counts += "steps: " + std::to_string(200 * i) + ", reward: 1.5\n";
  }
  EXPECT_EQ(read(lengths).steps("reward").size(), 30U);
  EXPECT_EQ(read(lengths).steps("reward").back(), 29);
  EXPECT_EQ(read(counts).steps("reward").back(), 5800);
  EXPECT_EQ(read(lengths.substr(0, (lengths.find('\n') + 1) * 6)).steps("reward").back(), 5)
      << "few lines wait to the end";
}

TEST(Text, ProseGivesNothing) {
  const auto sink = read(
      "You may not need to update to CUDA 11.1; cherry-picking the ptxas binary is often sufficient.\n"
      "In PyTorch 1.1.0 and later, you should call them in the opposite order.\n"
      "Restored model with mean reward: -681.79\nSaving model due to mean reward increase: -982.4 -> -972.7\n"
      "  File \"train.py\", line 511, in <module>\nProcess 10389 exits successfully.\nProcess 10390 exits "
      "successfully.\n");
  EXPECT_THAT(sink.names, IsEmpty());
}

TEST(Text, IsRecognisedByALineThatLooksLikeTraining) {
  const auto sniff = [](std::string_view head, bool whole = true) { return text().sniff({"run.log", head, whole}); };
  EXPECT_EQ(sniff("Loading data\nepoch 1 loss 0.5\n"), Sniff::possible);
  EXPECT_EQ(sniff("| episodes | 100 |\n| reward | 5.0 |\n----\n"), Sniff::possible);
  EXPECT_EQ(sniff("Dear reader, 3 of 4 words are prose.\n"), Sniff::no);
  EXPECT_EQ(sniff(""), Sniff::no);
  EXPECT_EQ(sniff(std::string_view("\0\1\2\3loss: 0.5\n", 15)), Sniff::no);
  EXPECT_EQ(sniff("a banner longer than what is seen of the file\n", false), Sniff::possible);
}

}  // namespace
}  // namespace osler::testing
