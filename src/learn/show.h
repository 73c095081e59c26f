// The course in words for a terminal: its contents, a lesson, an exercise, a solution.
#pragma once

#include <string>

#include "learn/course.h"
#include "learn/progress.h"
#include "osler/report/render.h"

namespace osler::learn {

/// Every lesson with what was done of it, and what to do next.
[[nodiscard]] std::string show_contents(const Progress& progress, const TextOptions& options);
/// The exercises of one lesson, or of all with 0, a line each.
[[nodiscard]] std::string show_exercises(int lesson, const Progress& progress, const TextOptions& options);
[[nodiscard]] std::string show_lesson(const Lesson& lesson, const TextOptions& options);
[[nodiscard]] std::string show_exercise(const Exercise& exercise, const TextOptions& options);
[[nodiscard]] std::string show_solution(const Exercise& exercise, const TextOptions& options);

/// Markdown as a terminal can show it: comments are left out, a picture becomes a line that says what it shows.
[[nodiscard]] std::string for_terminal(std::string_view markdown);

}  // namespace osler::learn
