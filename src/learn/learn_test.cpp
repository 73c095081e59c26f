// The course as data: lessons, exercises, keys, progress.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "learn/answer.h"
#include "learn/course.h"
#include "learn/progress.h"
#include "learn/show.h"

namespace osler::learn {
namespace {

using testing::HasSubstr;
using testing::Not;

Exercise with_solution(std::string_view solution) {
  Exercise exercise;
  exercise.solution = solution;
  return exercise;
}

TEST(Course, LessonsAreNumberedFromOne) {
  int expected = 1;
  for (const Lesson& lesson : lessons()) {
    EXPECT_EQ(lesson.number, expected++);
    EXPECT_FALSE(lesson.title.empty());
    EXPECT_THAT(std::string(lesson.text), Not(HasSubstr("### Exercise")));
  }
  EXPECT_EQ(find_lesson(expected), nullptr);
}

TEST(Course, EveryExerciseHasATextAndASolutionThatIsKeptApart) {
  std::set<int> numbers;
  for (const Lesson& lesson : lessons()) {
    for (const Exercise& exercise : lesson.exercises) {
      EXPECT_TRUE(numbers.insert(exercise.number).second) << exercise.number;
      EXPECT_FALSE(exercise.text.empty()) << exercise.number;
      EXPECT_FALSE(exercise.solution.empty()) << exercise.number;
      EXPECT_EQ(find_exercise(exercise.number), &exercise);
    }
  }
  EXPECT_GE(numbers.size(), 30u);
}

TEST(Course, AnExerciseThatAsksForAProgramHasSkeletonTestsAndSolution) {
  int programs = 0;
  for (const Lesson& lesson : lessons()) {
    for (const Exercise& exercise : lesson.exercises) {
      if (!exercise.asks_for_program()) continue;
      ++programs;
      EXPECT_NE(handed_file(exercise, "skeleton."), nullptr) << exercise.number;
      EXPECT_NE(handed_file(exercise, "tests."), nullptr) << exercise.number;
      EXPECT_EQ(exercise.solved.size(), 1u) << exercise.number;
      EXPECT_FALSE(key_of(exercise).can_check()) << exercise.number << " would be checked in two ways";
    }
  }
  EXPECT_GE(programs, 10);
}

TEST(Answer, WordsAreComparedWithoutRegardToCaseAndCommas) {
  const Key key = key_of(with_solution("<!-- answer: d b a | 1d 2b 3a -->"));
  EXPECT_TRUE(check(key, "D, B, A").right);
  EXPECT_TRUE(check(key, "1d 2b 3a").right);
  EXPECT_FALSE(check(key, "d a b").right);
}

TEST(Answer, NumbersMayBeWrittenInSeveralWays) {
  const Key key = key_of(with_solution("<!-- answer: between 0.24 and 0.26 -->"));
  for (const char* right : {"0.25", "25%", "1/4", "2.5e-1", "0.24", "+0.26"})
    EXPECT_TRUE(check(key, right).right) << right;
  for (const char* wrong : {"0.3", "4", "1/0", "a quarter", ""}) EXPECT_FALSE(check(key, wrong).right) << wrong;
  EXPECT_THAT(check(key, "0.3").text, HasSubstr("less"));
  EXPECT_THAT(check(key, "0.1").text, HasSubstr("more"));
  EXPECT_THAT(check(key, "a quarter").text, HasSubstr("number"));
}

TEST(Answer, AWrongChoiceIsToldWhy) {
  const Key key = key_of(with_solution("<!-- answer: b -->\n<!-- not a: The rate is fine. -->\nb, because."));
  EXPECT_EQ(check(key, "A").text, "The rate is fine.");
  EXPECT_EQ(check(key, "c").text, "");
}

TEST(Answer, WithoutAKeyNothingIsChecked) {
  EXPECT_FALSE(key_of(with_solution("There is no one answer.")).can_check());
}

TEST(Progress, WhatIsKeptComesBack) {
  Progress progress;
  progress.read = {1, 3};
  progress.exercises[8] = {2, 1};
  progress.quiz["lr-too-high"] = {0, 4};
  const auto back = parse_progress(render_progress(progress), "learn.json");
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, progress);
}

TEST(Progress, AnotherFileIsRefused) {
  EXPECT_FALSE(parse_progress("{\"schema\": \"osler-report/1\"}", "report.json"));
  EXPECT_FALSE(parse_progress("[]", "list.json"));
  EXPECT_FALSE(parse_progress("not JSON", "notes.txt"));
}

TEST(Progress, OddPartsAreLeftOut) {
  const auto odd = parse_progress(
      R"({"schema": "osler-progress/1", "read": [1, "x"], "exercises": {"4": 7, "5": {"right": "many"}}, "quiz": []})",
      "");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->read, std::set<int>{1});
  EXPECT_EQ(odd->exercises.at(5), Tries{});
}

TEST(Show, AKeyIsNotShownAndAPictureIsALine) {
  const std::string text =
      for_terminal("<!-- answer: b -->\n![A curve](images/x.svg)\nrest\n```\n<!-- kept -->\n```\n");
  EXPECT_EQ(text, "> Figure: A curve (docs/learn/images/x.svg)\nrest\n```\n<!-- kept -->\n```\n");
}

TEST(Show, TheListSaysWhatIsNext) {
  Progress progress;
  EXPECT_THAT(show_contents(progress, {}), HasSubstr("osler learn 1"));
  progress.read = {1};
  EXPECT_THAT(show_contents(progress, {}), HasSubstr("osler learn exercise 1"));
  progress.quiz["lr-too-high"] = {1, 2};
  EXPECT_THAT(show_contents(progress, {}), HasSubstr("2 of 3 right"));
}

TEST(Show, AnExerciseDoesNotShowItsSolution) {
  const std::string text = show_exercise(*find_exercise(8), {});
  EXPECT_THAT(text, HasSubstr("osler learn check 8"));
  EXPECT_THAT(text, Not(HasSubstr("0.25^10")));
  EXPECT_THAT(show_solution(*find_exercise(8), {}), HasSubstr("0.25^10"));
}

}  // namespace
}  // namespace osler::learn
