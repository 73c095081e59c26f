// osler watch with a command: the training runs as it would alone, and is watched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "program.h"

namespace osler::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// A shell script that stands for a training: a falling loss, NaN from `breaks` on, `pause` seconds between ten lines.
std::string training(int steps, int breaks, const std::string& pause, const std::string& end) {
  return "#!/bin/sh\n"
         "i=0\n"
         "while [ $i -lt " +
         std::to_string(steps) +
         " ]; do\n"
         "  if [ $i -lt " +
         std::to_string(breaks) +
         " ]; then echo \"step $i loss $((3000 / (i + 10))).$((i % 7))\"; else echo \"step $i loss nan\"; fi\n"
         "  i=$((i + 1))\n"
         "  if [ $((i % 10)) = 0 ]; then sleep " +
         pause +
         "; fi\n"
         "done\n" +
         end + "\n";
}

class WatchCommand : public ::testing::Test {
 protected:
  [[nodiscard]] Outcome watch(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "watch");
    Call call;
    call.arguments = std::move(arguments);
    call.folder = folder.path();
    call.environment = {{"LANG", "C.UTF-8"}, {"PATH", "/usr/bin:/bin"}};
    return run(call);
  }

  Folder folder;
};

TEST_F(WatchCommand, PassesTheOutputOnUnchangedAndEndsWithItsExitCode) {
  folder.write("train.sh", training(120, 1000, "0", "printf 'no line end'; printf 'to\\0err' >&2; exit 7"));
  const Outcome alone = [&] {
    Call call;
    call.arguments = {"watch", "--", "sh", "-c", "sh train.sh; exit 0"};
    call.folder = folder.path();
    call.environment = {{"PATH", "/usr/bin:/bin"}};
    return run(call);
  }();
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  const Outcome outcome = watch({"--", "sh", "train.sh"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("step 0 loss 300.0\nstep 1 loss"), ::testing::EndsWith("no line end")));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 120);
  EXPECT_THAT(outcome.err, HasSubstr(std::string("to\0err", 6)));
  EXPECT_THAT(outcome.err, HasSubstr("train.sh")) << "the run is called after the script";
}

TEST_F(WatchCommand, AFindingTakesThePlaceOfTheExitCode) {
  folder.write("train.sh", training(200, 100, "0", "exit 0"));
  const Outcome outcome = watch({"--", "sh", "train.sh"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("loss-nonfinite"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("nonfinite"))) << "standard output is the training's alone";
}

TEST_F(WatchCommand, AProgramWithoutNumbersKeepsItsExitCode) {
  const Outcome outcome = watch({"--", "sh", "-c", "echo ImportError >&2; exit 3"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, StartsWith("ImportError\n"));
}

TEST_F(WatchCommand, WhatCannotBeStartedIsSaid) {
  const Outcome outcome = watch({"--", "no-such-program-here"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no-such-program-here: cannot be started"));
}

TEST_F(WatchCommand, AHopelessTrainingIsStoppedOnStatedEvidence) {
  // It would go on for minutes; it ends because it is asked to.
  folder.write("train.sh", "trap 'echo saved; exit 9' TERM\n" + training(4000, 60, "0.2", "exit 0"));
  const Outcome outcome = watch({"--stop-on", "critical", "--", "sh", "train.sh"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("saved"));
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("sent SIGTERM to process"), HasSubstr("first seen at"), HasSubstr("% sure")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("step 3999")));
}

TEST_F(WatchCommand, ADryRunSaysWhatItWouldDoAndDoesNothing) {
  folder.write("train.sh", training(160, 60, "0.4", "exit 0"));
  const Outcome outcome = watch({"--stop-on", "critical", "--dry-run", "--on-critical", "touch called", "--webhook",
                                 "http://127.0.0.1:1/hook", "--", "sh", "train.sh"});
  EXPECT_THAT(outcome.out, HasSubstr("step 159")) << "it lived to its end";
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("would stop the training now"), HasSubstr("would tell the webhook"),
                                 HasSubstr("would run the command"), Not(HasSubstr("SIGTERM"))));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "called"));
}

TEST_F(WatchCommand, ItsFilesAreWatchedWhereTheyAreNamed) {
  folder.write("metrics.txt", nan_csv());
  const Outcome outcome = watch({"metrics.csv", "--", "sh", "-c", "cp metrics.txt metrics.csv; echo hello; sleep 1"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_EQ(outcome.out, "hello\n");
  EXPECT_THAT(outcome.err, HasSubstr("loss-nonfinite-later"));
}

TEST_F(WatchCommand, CtrlCReachesTheTrainingAndItsEndIsAwaited) {
  Call call;
  call.arguments = {"watch", "--", "sh", "-c",
                    "trap 'echo saving; exit 4' INT; read line; while :; do sleep 0.1; done"};
  call.folder = folder.path();
  call.environment = {{"PATH", "/usr/bin:/bin"}};
  call.input = "go\n";
  call.interrupt_when_read = true;
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  EXPECT_EQ(outcome.out, "saving\n");
}

TEST_F(WatchCommand, OnATerminalTheTrainingHasOne) {
  Call call;
  call.arguments = {"watch", "--", "sh", "-c", "test -t 1 && test -t 2 && echo a terminal"};
  call.folder = folder.path();
  call.environment = {{"PATH", "/usr/bin:/bin"}, {"TERM", "xterm"}};
  call.terminal = true;
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("a terminal"));
}

TEST_F(WatchCommand, WishesThatMakeNoSenseAreRefused) {
  EXPECT_EQ(watch({}).exit_code, 2);
  EXPECT_THAT(watch({"-", "--", "true"}).err, HasSubstr("not by a pipe"));
  EXPECT_THAT(watch({"--pid", "4711", "--", "true"}).err, HasSubstr("needs no --pid"));
}

}  // namespace
}  // namespace osler::tests
