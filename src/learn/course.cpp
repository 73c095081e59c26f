// The course: found in its files by their names and headings.
#include "learn/course.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace osler::learn {
namespace {

constexpr std::string_view kExercises = "\n## Exercises\n";
constexpr std::string_view kExercise = "\n### Exercise ";

/// The number a text begins with, or 0.
int leading_number(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool is_lesson(std::string_view path) {
  return path.size() > 3 && path[0] >= '0' && path[0] <= '9' && path.ends_with(".md") &&
         path.find('/') == std::string_view::npos;
}

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

/// What follows the first line.
std::string_view below_first_line(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
}

/// What follows the first ". " of a heading like "3. Gradient statistics".
std::string_view without_number(std::string_view heading) {
  const std::size_t dot = heading.find(". ");
  return dot == std::string_view::npos ? heading : heading.substr(dot + 2);
}

/// The sections "### Exercise N. Title" of a page, each from behind "Exercise " to the next.
std::vector<std::string_view> sections(std::string_view page) {
  std::vector<std::string_view> found;
  std::size_t at = page.find(kExercise);
  while (at != std::string_view::npos) {
    const std::size_t begin = at + kExercise.size();
    at = page.find(kExercise, begin);
    found.push_back(page.substr(begin, at == std::string_view::npos ? at : at - begin));
  }
  return found;
}

/// The number with which the name of a file or folder below `folder` begins, or 0 for files elsewhere.
int number_below(std::string_view folder, std::string_view path) {
  return path.starts_with(folder) ? leading_number(path.substr(folder.size())) : 0;
}

std::vector<Document> files_of(std::string_view folder, int exercise) {
  std::vector<Document> files;
  for (const Document& document : documents()) {
    if (!document.path.ends_with(".md") && number_below(folder, document.path) == exercise) files.push_back(document);
  }
  return files;
}

std::vector<Exercise> exercises_of(int lesson, std::string_view page, std::string_view solutions) {
  std::map<int, std::string_view> solved;
  for (const std::string_view section : sections(solutions)) {
    solved.emplace(leading_number(section), below_first_line(section));
  }
  std::vector<Exercise> exercises;
  for (const std::string_view section : sections(page)) {
    Exercise exercise;
    exercise.number = leading_number(section);
    exercise.lesson = lesson;
    exercise.title = without_number(first_line(section));
    exercise.text = below_first_line(section);
    const auto solution = solved.find(exercise.number);
    if (solution != solved.end()) exercise.solution = solution->second;
    exercise.handed = files_of("exercises/", exercise.number);
    exercise.solved = files_of("solutions/", exercise.number);
    exercises.push_back(std::move(exercise));
  }
  return exercises;
}

std::vector<Lesson> read_lessons() {
  std::vector<Lesson> all;
  for (const Document& document : documents()) {
    if (!is_lesson(document.path)) continue;
    Lesson lesson;
    lesson.number = leading_number(document.path);
    lesson.name = document.path.substr(0, document.path.size() - 3);
    lesson.title = without_number(first_line(document.text));
    const std::string_view below = below_first_line(document.text);
    const std::size_t end = below.find(kExercises);
    lesson.text = below.substr(0, end);
    const Document* solutions = find_document("solutions/" + std::string(document.path));
    if (end != std::string_view::npos) {
      lesson.exercises = exercises_of(lesson.number, below.substr(end), solutions != nullptr ? solutions->text : "");
    }
    all.push_back(std::move(lesson));
  }
  return all;
}

}  // namespace

const Document* find_document(std::string_view path) {
  const auto found = std::find_if(documents().begin(), documents().end(),
                                  [&](const Document& document) { return document.path == path; });
  return found == documents().end() ? nullptr : &*found;
}

const std::vector<Lesson>& lessons() {
  static const std::vector<Lesson> all = read_lessons();
  return all;
}

const Lesson* find_lesson(int number) {
  const auto found =
      std::find_if(lessons().begin(), lessons().end(), [&](const Lesson& lesson) { return lesson.number == number; });
  return found == lessons().end() ? nullptr : &*found;
}

const Exercise* find_exercise(int number) {
  for (const Lesson& lesson : lessons()) {
    for (const Exercise& exercise : lesson.exercises) {
      if (exercise.number == number) return &exercise;
    }
  }
  return nullptr;
}

const Document* handed_file(const Exercise& exercise, std::string_view stem) {
  for (const Document& document : exercise.handed) {
    if (file_name(document).starts_with(stem)) return &document;
  }
  return nullptr;
}

std::string_view file_name(const Document& document) {
  return document.path.substr(document.path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace osler::learn
