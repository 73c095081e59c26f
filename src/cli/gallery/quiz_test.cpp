// The quiz without a training: what it offers, what it says of an answer, what it remembers.
#include "cli/gallery/quiz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/gallery/question.h"
#include "cli/learn/keep.h"

namespace osler::cli {
namespace {

using gallery::Patient;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Patient sick() {
  Patient patient;
  patient.id = "diverging";
  patient.story = "The rate was raised.";
  patient.lesson = "Lower it.";
  patient.finding = "loss-diverging";
  patient.cause = "lr-too-high";
  return patient;
}

Patient well() {
  Patient patient;
  patient.id = "well";
  patient.story = "Nothing was done.";
  patient.lesson = "Leave it alone.";
  return patient;
}

/// What the engine might say of the sick one.
Report sick_report() {
  Report report;
  report.status = Status::critical;
  report.headline = "It climbs.";
  Observation climbs;
  climbs.finding = "vanishing-by-depth";
  climbs.summary = "the loss climbed";
  climbs.layers = {"fc1"};
  climbs.evidence.push_back({"grad_norm/fc1", 0, 90, 1e-9, 1e-6, "median size 1e-09"});
  report.findings.push_back(climbs);
  report.causes.push_back({"lr-too-high", 0.9, {}, {}, {}, {}});
  report.causes.push_back({"corrupt-data", 0.05, {}, {{"", 1, "batches are sound"}}, {"", "Look at a batch."}, {}});
  report.ruled_out.push_back({"scheduler-state-lost", "the rate has no jump"});
  return report;
}

std::set<std::string> ids(const std::vector<Choice>& choices) {
  std::set<std::string> all;
  for (const Choice& choice : choices) all.insert(choice.id);
  return all;
}

TEST(Question, WrongAnswersComeFromTheReportAndHealthyIsAmongThem) {
  std::mt19937_64 random(1);
  const auto choices = choices_for(sick(), sick_report(), random);
  const std::set<std::string> all = ids(choices);
  EXPECT_EQ(choices.size(), 5u);
  EXPECT_EQ(all.size(), choices.size()) << "none is offered twice";
  for (const char* id : {"lr-too-high", "healthy", "corrupt-data", "scheduler-state-lost"})
    EXPECT_THAT(all, Contains(id));
}

TEST(Question, AnotherNameForTheRightCauseIsNotOfferedAsAWrongOne) {
  Patient patient = sick();
  patient.causes = {"corrupt-data"};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    EXPECT_THAT(ids(choices_for(patient, sick_report(), random)), Not(Contains("corrupt-data")));
  }
  EXPECT_TRUE(is_right(patient, "corrupt-data"));
}

TEST(Question, TheRightAnswerIsNotAlwaysInTheSamePlace) {
  std::set<std::string> first;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    first.insert(choices_for(sick(), sick_report(), random).front().id);
  }
  EXPECT_GT(first.size(), 2u);
}

TEST(Question, HealthyIsRightForAHealthyPatientOnly) {
  EXPECT_TRUE(is_right(well(), "healthy"));
  EXPECT_FALSE(is_right(sick(), "healthy"));
  EXPECT_THAT(why_not(sick(), sick_report(), "healthy"), HasSubstr("the loss climbed"));
}

TEST(Question, EachKindOfWrongAnswerIsExplained) {
  const Report report = sick_report();
  EXPECT_THAT(why_not(sick(), report, "scheduler-state-lost"), HasSubstr("the rate has no jump"));
  const std::string weighed = why_not(sick(), report, "corrupt-data");
  EXPECT_THAT(weighed, HasSubstr("5 %"));
  EXPECT_THAT(weighed, HasSubstr("batches are sound"));
  EXPECT_THAT(weighed, HasSubstr("Look at a batch."));
  EXPECT_THAT(why_not(sick(), report, "dead-units"), HasSubstr("nothing in this run speaks for it"));
  EXPECT_THAT(why_not(sick(), report, "nonsense"), HasSubstr("no cause called 'nonsense'"));
  EXPECT_EQ(why_not(sick(), report, "lr-too-high"), "");
}

TEST(Question, LayersAreShownWithoutTheNameOfTheFinding) {
  const std::string text = layer_evidence(sick_report());
  EXPECT_THAT(text, HasSubstr("median size 1e-09"));
  EXPECT_THAT(text, HasSubstr("fc1"));
  EXPECT_THAT(text, Not(HasSubstr("vanishing-by-depth")));
  EXPECT_THAT(layer_evidence(Report{}), HasSubstr("as they should"));
}

class QuizTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "osler-quiz-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    options_.progress = (folder_ / "state" / "learn.json").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// What a quiz prints when these lines are typed.
  std::string held(const std::vector<Patient>& patients, const std::string& typed) {
    std::istringstream answers(typed);
    testing::internal::CaptureStdout();
    const int code = run_quiz(
        patients,
        [](const gallery::Recipe&, const gallery::TrainingOptions&) -> Result<gallery::TrainingResult> {
          gallery::TrainingResult result;
          result.report = sick_report();
          return result;
        },
        options_, answers);
    const std::string out = testing::internal::GetCapturedStdout();
    EXPECT_EQ(code, 0);
    return out;
  }

  std::filesystem::path folder_;
  QuizOptions options_;
};

TEST_F(QuizTest, AWrongAnswerIsToldTheRightOneAndWhyItsOwnIsWrong) {
  const std::string out = held({sick()}, "scheduler-state-lost\n");
  EXPECT_THAT(out, HasSubstr("No: it is lr-too-high."));
  EXPECT_THAT(out, HasSubstr("the rate has no jump"));
  EXPECT_THAT(out, HasSubstr("0 of 1 right."));
}

TEST_F(QuizTest, LayersAndHintsAreShownOnRequestBeforeTheAnswer) {
  const std::string out = held({sick()}, "l\n\nlr-too-high\n");
  EXPECT_THAT(out, HasSubstr("median size 1e-09"));
  EXPECT_THAT(out, HasSubstr("Hint: Osler sees: the loss climbed"));
  EXPECT_THAT(out, HasSubstr("1 of 1 right."));
}

TEST_F(QuizTest, TheScoreIsKeptFromOneQuizToTheNext) {
  (void)held({sick()}, "healthy\n");
  const std::string out = held({sick(), well()}, "lr-too-high\nlr-too-high\n");
  EXPECT_THAT(out, HasSubstr("1 of 2 right."));
  EXPECT_THAT(out, HasSubstr("In all quizzes so far: 1 of 3."));
  const auto progress = kept_progress(options_.progress);
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->quiz.at("lr-too-high").wrong, 1);
  EXPECT_EQ(progress->quiz.at("lr-too-high").right, 1);
  EXPECT_EQ(progress->quiz.at("healthy").wrong, 1);
}

TEST_F(QuizTest, LeavingEarlyCountsNothing) {
  const std::string out = held({sick()}, "q\n");
  EXPECT_THAT(out, HasSubstr("0 of 0 right."));
  EXPECT_FALSE(std::filesystem::exists(options_.progress));
}

TEST_F(QuizTest, AProgressThatIsSomeoneElsesFileIsNotWrittenOver) {
  std::filesystem::create_directories(folder_ / "state");
  std::ofstream(options_.progress) << "my diary";
  testing::internal::CaptureStderr();
  (void)held({sick()}, "healthy\n");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("the score is not kept"));
  std::ifstream file(options_.progress);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "my diary");
}

}  // namespace
}  // namespace osler::cli
