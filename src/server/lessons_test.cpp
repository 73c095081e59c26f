// The course for the dashboard: all of it is there, and no answer is told before it is asked for.
#include "server/lessons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "dashboard/json.h"

namespace osler::server {
namespace {

using dashboard::Json;
using testing::HasSubstr;
using testing::Not;

TEST(Lessons, HoldEveryLessonWithItsExercises) {
  const Json lessons = Json::parse(lessons_json()).at("lessons");
  ASSERT_GE(lessons.size(), 15U);
  std::set<int> exercises;
  for (const Json& lesson : lessons) {
    EXPECT_FALSE(lesson.at("title").get<std::string>().empty());
    EXPECT_FALSE(lesson.at("text").get<std::string>().empty());
    for (const Json& exercise : lesson.at("exercises")) {
      EXPECT_TRUE(exercises.insert(exercise.at("number").get<int>()).second);
    }
  }
  EXPECT_GE(exercises.size(), 30U);
}

TEST(Lessons, ShowFiguresThatAreThere) {
  const Json lessons = Json::parse(lessons_json()).at("lessons");
  const std::regex figure(R"(\]\(images/([^)]+)\))");
  int seen = 0;
  for (const Json& lesson : lessons) {
    const auto text = lesson.at("text").get<std::string>();
    for (std::sregex_iterator at(text.begin(), text.end(), figure), end; at != end; ++at, ++seen) {
      EXPECT_THAT(std::string(lesson_figure((*at)[1].str())), HasSubstr("</svg>")) << (*at)[1];
    }
  }
  EXPECT_GE(seen, 5);
  EXPECT_TRUE(lesson_figure("../README.md").empty());
  EXPECT_TRUE(lesson_figure("nothing.svg").empty());
}

TEST(Lessons, TellNoAnswerBeforeItIsAskedFor) {
  EXPECT_THAT(lessons_json(), Not(HasSubstr("<!--")));
  const auto solution = solution_json(17);
  ASSERT_TRUE(solution.has_value());
  EXPECT_THAT(*solution, Not(HasSubstr("<!--"))) << "comments hold the key";
  EXPECT_FALSE(solution_json(0).has_value());
  EXPECT_FALSE(solution_json(100000).has_value());
}

TEST(Lessons, JudgeAnAnswer) {
  // Exercise 17: by the linear rule, four times the batch takes four times the rate of 0.1.
  const auto right = checked_json(17, "0.4");
  ASSERT_TRUE(right.has_value());
  EXPECT_EQ(Json::parse(*right).at("right"), true);
  const auto wrong = checked_json(17, "0.1");
  ASSERT_TRUE(wrong.has_value());
  EXPECT_EQ(Json::parse(*wrong).at("right"), false);
  EXPECT_FALSE(checked_json(16, "a program").has_value()) << "its tests run where the program is";
  EXPECT_FALSE(checked_json(-1, "").has_value());
}

}  // namespace
}  // namespace osler::server
