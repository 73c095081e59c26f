// The course for the dashboard.
#include "server/lessons.h"

#include "dashboard/json.h"
#include "learn/answer.h"
#include "learn/course.h"

namespace osler::server {
namespace {

using dashboard::Json;

/// Markdown without its comments: they hold the key of the answer.
std::string without_comments(std::string_view markdown) {
  constexpr std::string_view kBegin = "<!--";
  constexpr std::string_view kEnd = "-->";
  std::string text;
  while (true) {
    const std::size_t begin = markdown.find(kBegin);
    text += markdown.substr(0, begin);
    if (begin == std::string_view::npos) return text;
    const std::size_t end = markdown.find(kEnd, begin);
    if (end == std::string_view::npos) return text;
    markdown.remove_prefix(end + kEnd.size());
  }
}

Json files_json(const std::vector<learn::Document>& documents) {
  Json all = Json::array();
  for (const learn::Document& document : documents) {
    all.push_back({{"name", learn::file_name(document)}, {"text", document.text}});
  }
  return all;
}

Json exercise_json(const learn::Exercise& exercise) {
  return {{"number", exercise.number},
          {"title", exercise.title},
          {"text", without_comments(exercise.text)},
          {"checked", learn::key_of(exercise).can_check()},
          {"files", files_json(exercise.handed)}};
}

}  // namespace

std::string lessons_json() {
  Json lessons = Json::array();
  for (const learn::Lesson& lesson : learn::lessons()) {
    Json exercises = Json::array();
    for (const learn::Exercise& exercise : lesson.exercises) exercises.push_back(exercise_json(exercise));
    lessons.push_back({{"number", lesson.number},
                       {"name", lesson.name},
                       {"title", lesson.title},
                       {"text", without_comments(lesson.text)},
                       {"exercises", std::move(exercises)}});
  }
  return dashboard::written({{"lessons", std::move(lessons)}});
}

std::optional<std::string> checked_json(int number, std::string_view answer) {
  const learn::Exercise* exercise = learn::find_exercise(number);
  if (exercise == nullptr) return std::nullopt;
  const learn::Key key = learn::key_of(*exercise);
  if (!key.can_check()) return std::nullopt;
  const learn::Verdict verdict = learn::check(key, answer);
  return dashboard::written({{"right", verdict.right}, {"text", verdict.text}});
}

std::optional<std::string> solution_json(int number) {
  const learn::Exercise* exercise = learn::find_exercise(number);
  if (exercise == nullptr) return std::nullopt;
  return dashboard::written({{"text", without_comments(exercise->solution)}, {"files", files_json(exercise->solved)}});
}

std::string_view lesson_figure(std::string_view name) {
  const learn::Document* figure = learn::find_document("images/" + std::string(name));
  return figure == nullptr ? std::string_view() : figure->text;
}

}  // namespace osler::server
