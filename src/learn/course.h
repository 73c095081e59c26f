// The course: its lessons, their exercises, and what is kept apart from them, the solutions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "learn/documents.h"

namespace osler::learn {

/// One exercise. It stands in a lesson under "### Exercise N. Title"; its solution stands under the same heading in the
/// file of that name below solutions/.
struct Exercise {
  int number = 0;
  int lesson = 0;
  std::string_view title;
  std::string_view text;         ///< Markdown
  std::string_view solution;     ///< Markdown, the key of the answer in comments (learn/answer.h)
  std::vector<Document> handed;  ///< what the learner starts from and is checked with: exercises/NN-name/*
  std::vector<Document> solved;  ///< a solution that passes: solutions/NN-name.*

  /// Whether it asks for a program, which its tests check.
  [[nodiscard]] bool asks_for_program() const { return !handed.empty(); }
};

/// One lesson: a file NN-name.md of docs/learn.
struct Lesson {
  int number = 0;
  std::string_view name;   ///< "03-gradient-statistics"
  std::string_view title;  ///< without its number
  std::string_view text;   ///< Markdown without its title, up to the exercises
  std::vector<Exercise> exercises;
};

/// All lessons in their order.
[[nodiscard]] const std::vector<Lesson>& lessons();

/// The lesson or exercise of a number, or nullptr.
[[nodiscard]] const Lesson* find_lesson(int number);
[[nodiscard]] const Exercise* find_exercise(int number);

/// The file of an exercise whose name begins with `stem`, "tests" for example; nullptr where there is none.
[[nodiscard]] const Document* handed_file(const Exercise& exercise, std::string_view stem);

/// The last part of a document's path.
[[nodiscard]] std::string_view file_name(const Document& document);

}  // namespace osler::learn
