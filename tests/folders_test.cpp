// Folders as people have them: logs of several programs, stray files, links, what may not be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "program.h"

namespace osler::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// What a program prints whose loss is NaN from `breaks` on.
std::string printed(int steps, int breaks) {
  std::string text = "Loading data ...\n";
  for (int step = 0; step < steps; ++step) {
    const std::string loss =
        step >= breaks ? "nan" : std::to_string(0.5 + 2.0 / (1 + 0.1 * step) + 0.01 * noise(step, 1));
    text += "step " + std::to_string(step) + " | loss " + loss + "\n";
  }
  return text;
}

class FoldersTest : public ::testing::Test {
 protected:
  [[nodiscard]] Outcome osler(std::vector<std::string> arguments, bool as_nobody = false) const {
    Call call;
    call.arguments = std::move(arguments);
    call.folder = folder.path();
    call.as_nobody = as_nobody;
    return run(call);
  }

  Folder folder;
};

TEST_F(FoldersTest, NoRunHidesBehindACertainOne) {
  folder.write("hid/exp1.csv", healthy_csv());
  folder.write("hid/exp2.log", printed(200, 90));
  const Outcome outcome = osler({"diagnose", "hid"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("exp1.csv"), HasSubstr("exp2.log"), HasSubstr("loss-nonfinite")));
}

TEST_F(FoldersTest, WhatIsLeftOutIsNamedWithItsReason) {
  folder.write("run/metrics.csv", healthy_csv());
  folder.write("run/train.log", printed(200, 1000));
  const Outcome outcome = osler({"diagnose", "run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("left out run/train.log"), HasSubstr("metrics.csv")));
  EXPECT_THAT(osler({"diagnose", "run", "--quiet"}).err, IsEmpty());
}

TEST_F(FoldersTest, AnOutputThatTellsOfACrashIsNoRepetitionOfTheLogBesideIt) {
  folder.write("run/metrics.csv", healthy_csv());
  folder.write("run/train.log", printed(200, 1000) +
                                    "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n"
                                    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n");
  const Outcome crashed = osler({"diagnose", "run"});
  EXPECT_EQ(crashed.exit_code, 1) << crashed.out << crashed.err;
  EXPECT_THAT(crashed.out,
              AllOf(HasSubstr("run/train.log"), HasSubstr("running out of memory"), HasSubstr("1 of 2 runs sick")));
  // It went on from a checkpoint an hour later: what is told of the first launch is over.
  const auto later = fs::last_write_time(folder.path() / "run/train.log") + std::chrono::hours(1);
  fs::last_write_time(folder.path() / "run/metrics.csv", later);
  const Outcome resumed = osler({"diagnose", "run"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.out << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("left out run/train.log"));
}

TEST_F(FoldersTest, CompressedLogsAndNotebooksAreRunsToo) {
  folder.write("runs/exp.csv", healthy_csv());
  const fs::path samples = fs::path(OSLER_SOURCE_DIR) / "tests/samples";
  fs::copy_file(samples / "compressed/train.log.xz", folder.path() / "runs/packed.log.xz");
  fs::copy_file(samples / "compressed/metrics.csv.gz", folder.path() / "runs/old.csv.gz");
  fs::copy_file(samples / "notebook/printed_epochs.ipynb", folder.path() / "runs/sheet.ipynb");
  folder.write("runs/plots.ipynb", R"({"cells": [{"cell_type": "code", "outputs": []}], "nbformat": 4})");
  folder.write("runs/weights.gz", "\x1f\x8b no name of a log");
  const Outcome outcome = osler({"diagnose", "runs"});
  const std::string told = outcome.out + outcome.err;
  EXPECT_THAT(
      told, AllOf(HasSubstr("exp.csv"), HasSubstr("packed.log.xz"), HasSubstr("old.csv.gz"), HasSubstr("sheet.ipynb")));
  EXPECT_THAT(told, AllOf(Not(HasSubstr("plots.ipynb")), Not(HasSubstr("weights.gz"))));
}

TEST_F(FoldersTest, AStrayFileBesideAGoodLogIsALineAndNoFailure) {
  folder.write("runs/train.log", printed(300, 1000));
  folder.write("runs/notes.json", R"({"author": "me", "why": "a try"})");
  folder.write("runs/args.json", R"({"lr": 0.1, "epochs": 3})");
  const Outcome outcome = osler({"diagnose", "runs"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("left out"), HasSubstr("notes.json"), HasSubstr("args.json")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("notes.json")));
  EXPECT_EQ(osler({"diagnose", "runs/notes.json"}).exit_code, 2) << "named by itself it is what was asked about";
}

TEST_F(FoldersTest, WhatMayNotBeReadIsSaidWithExitCodeTwo) {
  folder.write("runs/good.csv", healthy_csv());
  folder.write("runs/closed.csv", nan_csv());
  folder.write("runs/shut/metrics.csv", nan_csv());
  fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(folder.path() / "runs/closed.csv", fs::perms::none);
  fs::permissions(folder.path() / "runs/shut", fs::perms::none);
  const Outcome outcome = osler({"diagnose", "runs"}, true);
  fs::permissions(folder.path() / "runs/shut", fs::perms::owner_all);
  EXPECT_EQ(outcome.exit_code, 2) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("HEALTHY"));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("closed.csv"), HasSubstr("shut"), HasSubstr("ermission denied")));
}

TEST_F(FoldersTest, WatchingSaysOnceWhatMayNotBeRead) {
  folder.write("runs/good.csv", healthy_csv());
  folder.write("runs/closed.csv", nan_csv());
  fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(folder.path() / "runs/closed.csv", fs::perms::none);
  const Outcome outcome = osler({"watch", "runs", "--until-done", "--idle", "4"}, true);
  EXPECT_EQ(outcome.exit_code, 2) << "as of a diagnosis";
  EXPECT_THAT(outcome.out, HasSubstr("HEALTHY"));
  EXPECT_THAT(outcome.err, HasSubstr("closed.csv"));
  EXPECT_EQ(outcome.err.find("closed.csv"), outcome.err.rfind("closed.csv"));
}

TEST_F(FoldersTest, LinksAreFollowedWhereverTheyLead) {
  folder.write("scratch/exp/metrics.csv", nan_csv());
  folder.write("runs/own.csv", healthy_csv());
  fs::create_directory_symlink(folder.path() / "scratch/exp", folder.path() / "runs/latest");
  fs::create_symlink("nowhere.csv", folder.path() / "runs/lost.csv");
  const Outcome outcome = osler({"diagnose", "runs"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("latest"), HasSubstr("own.csv")));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("lost.csv"), HasSubstr("leads nowhere")));
  fs::remove(folder.path() / "runs/own.csv");
  EXPECT_EQ(osler({"diagnose", "runs"}).exit_code, 1) << "also where there are only links";
}

TEST_F(FoldersTest, DraftsOfAKilledConversionAreNoRuns) {
  folder.write("runs/a.csv", healthy_csv());
  ASSERT_EQ(osler({"convert", "runs/a.csv", "-o", "runs/.osler-draft-abc/a.osler"}).exit_code, 0);
  const Outcome outcome = osler({"diagnose", "runs", "--json"});
  EXPECT_THAT(outcome.out, Not(HasSubstr("draft")));
}

}  // namespace
}  // namespace osler::tests
