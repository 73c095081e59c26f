// The course for the dashboard: lessons and exercises as JSON, figures, and a word on each answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace osler::server {

/// All lessons with their exercises, without the solutions.
[[nodiscard]] std::string lessons_json();
/// Whether an answer is right, and if not, why not: {"right", "text"}. Nothing where no exercise of this number can be
/// checked by a word or a number.
[[nodiscard]] std::optional<std::string> checked_json(int exercise, std::string_view answer);
/// The solution of an exercise: {"text"}. Nothing where there is no such exercise.
[[nodiscard]] std::optional<std::string> solution_json(int exercise);
/// A figure of the course by its name, "healthy.svg"; empty where there is none.
[[nodiscard]] std::string_view lesson_figure(std::string_view name);

}  // namespace osler::server
