// osler gallery as a user meets it: lists, visits, the table for programs, the quiz, and what is said of mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.h"

namespace osler::tests {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class GalleryTest : public ::testing::Test {
 protected:
  [[nodiscard]] Call call(std::vector<std::string> arguments) const {
    Call call;
    call.arguments = {"gallery"};
    call.arguments.insert(call.arguments.end(), arguments.begin(), arguments.end());
    call.folder = folder_.path();
    return call;
  }
  [[nodiscard]] Outcome gallery(std::vector<std::string> arguments) const { return run(call(std::move(arguments))); }
  /// A visit that takes a second: few steps, drawn digits.
  [[nodiscard]] static std::vector<std::string> brief(std::vector<std::string> arguments) {
    for (const char* word : {"--digits", "nowhere", "--set", "steps=60", "--set", "samples=200"}) {
      arguments.emplace_back(word);
    }
    return arguments;
  }

  Folder folder_;
};

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; };
    longest = std::max(longest, static_cast<std::size_t>(std::count_if(line.begin(), line.end(), begins)));
  }
  return longest;
}

TEST_F(GalleryTest, WithoutWordsItListsPatientsAndControls) {
  const Outcome outcome = gallery({});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("Patients"), HasSubstr("Healthy controls"), HasSubstr("vanishing-sigmoid"),
                                 HasSubstr("healthy-digits")));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(GalleryTest, KnobsAreListedWithDefaultAndRange) {
  const Outcome outcome = gallery({"--knobs"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(ContainsRegex("optimizer +adam"), HasSubstr("sgd, momentum, adam, adamw, rmsprop"),
                                 ContainsRegex("lr +0.001")));
}

TEST_F(GalleryTest, AnUnknownPatientIsAnErrorWithASuggestion) {
  const Outcome outcome = gallery({"vanishing-sigmoit"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("no patient 'vanishing-sigmoit'"), HasSubstr("vanishing-sigmoid")));
}

TEST_F(GalleryTest, AWrongSettingIsAnErrorThatSaysWhatIsTaken) {
  EXPECT_THAT(gallery({"healthy-digits", "--set", "lr"}).err, HasSubstr("'lr' is not NAME=VALUE"));
  EXPECT_THAT(gallery({"healthy-digits", "--set", "rate=1"}).err, HasSubstr("no 'rate'"));
  const Outcome outcome = gallery({"healthy-digits", "--set", "optimizer=adan"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("sgd, momentum, adam, adamw, rmsprop, not 'adan'"));
}

TEST_F(GalleryTest, AWrongOptionPointsToTheHelp) {
  const Outcome outcome = gallery({"--al"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("osler gallery --help"));
}

TEST_F(GalleryTest, AVisitTellsTheStoryAndKeepsItsRuns) {
  const Outcome outcome = gallery(brief({"nan-input"}));
  EXPECT_THAT(outcome.err, HasSubstr("digits are drawn"));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("One damaged picture"), HasSubstr("batch-nonfinite"),
                                 HasSubstr("Origin of the first non-finite value"), HasSubstr("Look closer")));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "osler-gallery/nan-input.osler"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "osler-gallery/nan-input-treated.osler"));
  Call diagnose;
  diagnose.arguments = {"diagnose", "osler-gallery/nan-input.osler", "--verbose"};
  diagnose.folder = folder_.path();
  EXPECT_THAT(run(diagnose).out, HasSubstr("batch-nonfinite"));
}

TEST_F(GalleryTest, WhatIsSetIsJudgedByWhatWasFoundInIt) {
  const Outcome spoiled =
      gallery(brief({"healthy-digits", "--no-treatment", "--set", "lr=10", "--set", "optimizer=sgd"}));
  EXPECT_EQ(spoiled.exit_code, 1) << spoiled.err;
  EXPECT_THAT(spoiled.out, AllOf(HasSubstr("With what you set"), HasSubstr("Found: "), HasSubstr("On clean data"),
                                 Not(HasSubstr("false alarm"))));
  const Outcome mended = gallery(brief({"nan-division", "--no-treatment", "--set", "guarded_math=on"}));
  EXPECT_THAT(mended.out, AllOf(HasSubstr("On clean data"), Not(HasSubstr("finding missed"))));
}

TEST_F(GalleryTest, AProbeShowsWhatItFoundAndKeepsItInTheRun) {
  const Outcome outcome = gallery(brief({"healthy-digits", "--probe", "lr-range", "--probe", "update-ratios"}));
  EXPECT_NE(outcome.exit_code, 2) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("Which learning rates can this training take?"), HasSubstr("learning-rate from 1e-07"),
                    HasSubstr("How far does one step move"), HasSubstr("--experiment lr-range-test")));
  Call diagnose;
  diagnose.arguments = {"diagnose", "osler-gallery/healthy-digits.osler"};
  diagnose.folder = folder_.path();
  EXPECT_THAT(run(diagnose).out, AllOf(HasSubstr("Tested"), HasSubstr("lr-range-test")));
  const Outcome unknown = gallery({"healthy-digits", "--probe", "lr-rang"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("no probe 'lr-rang'"), HasSubstr("lr-range")));
}

TEST_F(GalleryTest, RunsAreNotKeptWhenNobodyWantsThem) {
  EXPECT_EQ(gallery(brief({"healthy-digits", "--runs", "", "--no-treatment"})).exit_code & 2, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(GalleryTest, TheTableIsJsonOfAKnownShape) {
  const Outcome outcome = gallery(brief({"nan-division", "healthy-digits", "--seeds", "2", "--json", "--runs", ""}));
  ASSERT_THAT(outcome.exit_code, testing::AnyOf(0, 1)) << outcome.err;
  const json table = json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(table.is_discarded()) << outcome.out;
  EXPECT_EQ(table["schema"], "osler-gallery/1");
  ASSERT_EQ(table["visits"].size(), 4U);
  const json& sick = table["visits"][0];
  EXPECT_EQ(sick["patient"], "nan-division");
  EXPECT_EQ(sick["seed"], 1);
  EXPECT_EQ(sick["finding_seen"], true);
  EXPECT_EQ(sick["cause_rank"], 1);
  EXPECT_TRUE(sick["sick"]["true_loss"].is_null()) << "NaN is null";
  EXPECT_THAT(sick["sick"]["origin"], HasSubstr("0 / 0"));
  EXPECT_EQ(sick["changes"][0]["name"], "guarded_math");
  EXPECT_TRUE(sick["treated"]["true_loss"].is_number());
  EXPECT_EQ(table["visits"][1]["seed"], 2);
  const json& healthy = table["visits"][2];
  EXPECT_EQ(healthy["healthy_control"], true);
  EXPECT_FALSE(healthy.contains("treated"));
  EXPECT_EQ(table["summary"]["finding_seen"], (json{{"yes", 2}, {"of", 2}}));
  EXPECT_EQ(table["summary"]["healthy_clean"]["of"], 2);
}

TEST_F(GalleryTest, ANarrowTerminalIsNotOverrun) {
  for (const char* word : {"--knobs", "nan-input"}) {
    Call narrow = call(brief({word}));
    narrow.environment = {{"COLUMNS", "50"}};
    const Outcome outcome = run(narrow);
    // Commands to copy at the end are not broken into lines.
    EXPECT_LE(longest_line(outcome.out.substr(0, outcome.out.find("Look closer"))), 50U) << outcome.out;
  }
}

TEST_F(GalleryTest, ColourIsForTerminalsThatWantIt) {
  EXPECT_THAT(gallery({}).out, Not(HasSubstr("\x1b[")));
  Call plain = call(brief({"nan-input"}));
  plain.terminal = true;
  plain.environment = {{"TERM", "xterm"}, {"NO_COLOR", "1"}};
  EXPECT_THAT(run(plain).out, Not(ContainsRegex("\x1b\\[[0-9;]*m")));
  Call colourful = call({});
  colourful.terminal = true;
  colourful.environment = {{"TERM", "xterm"}};
  EXPECT_THAT(run(colourful).out, HasSubstr("\x1b["));
}

TEST_F(GalleryTest, AsciiTerminalsGetAscii) {
  Call ascii = call(brief({"nan-input"}));
  ascii.environment = {{"LC_ALL", "C"}};
  const Outcome outcome = run(ascii);
  EXPECT_TRUE(std::all_of(outcome.out.begin(), outcome.out.end(), [](char byte) {
    return static_cast<unsigned char>(byte) < 0x80U;
  })) << outcome.out;
}

TEST_F(GalleryTest, TheQuizAsksExplainsAndEndsWithItsInput) {
  Call quiz = call({"--quiz", "--digits", "nowhere"});
  quiz.input = "1\n";
  const Outcome outcome = run(quiz);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("What is the cause?"), ContainsRegex("Right\\.|No: it is"),
                                 ContainsRegex("[01] of 1 right")));
}

TEST_F(GalleryTest, TheQuizGivesAHintAndCanBeLeft) {
  Call quiz = call({"--quiz", "--digits", "nowhere"});
  quiz.input = "\nq\n";
  const Outcome outcome = run(quiz);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("Hint: Osler sees:"), HasSubstr("0 of 0 right")));
}

}  // namespace
}  // namespace osler::tests
