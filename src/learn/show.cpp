// The course in words for a terminal.
#include "learn/show.h"

#include <fmt/format.h>

#include "learn/answer.h"
#include "report/layout.h"

namespace osler::learn {
namespace {

bool solved(const Progress& progress, const Exercise& exercise) {
  const auto found = progress.exercises.find(exercise.number);
  return found != progress.exercises.end() && found->second.right > 0;
}

std::size_t solved_of(const Lesson& lesson, const Progress& progress) {
  std::size_t count = 0;
  for (const Exercise& exercise : lesson.exercises) count += solved(progress, exercise) ? 1 : 0;
  return count;
}

std::string kind_of(const Exercise& exercise) {
  if (exercise.asks_for_program()) return "program";
  return key_of(exercise).can_check() ? "answer" : "open";
}

std::string state_of(const Exercise& exercise, const Progress& progress) {
  if (solved(progress, exercise)) return "solved";
  const auto found = progress.exercises.find(exercise.number);
  if (found == progress.exercises.end()) return "";
  return fmt::format("{} wrong", found->second.wrong);
}

/// What to do next: the first lesson that was not read, or else the first exercise that is not solved.
std::string next_step(const Progress& progress) {
  for (const Lesson& lesson : lessons()) {
    if (!progress.read.contains(lesson.number)) return fmt::format("osler learn {}", lesson.number);
    for (const Exercise& exercise : lesson.exercises) {
      const bool can_check = exercise.asks_for_program() || key_of(exercise).can_check();
      if (can_check && !solved(progress, exercise)) return fmt::format("osler learn exercise {}", exercise.number);
    }
  }
  return "osler gallery --quiz";
}

}  // namespace

std::string for_terminal(std::string_view markdown) {
  std::string out;
  bool code = false;
  while (!markdown.empty()) {
    const std::size_t end = markdown.find('\n');
    const std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(end == std::string_view::npos ? markdown.size() : end + 1);
    if (line.starts_with("```")) code = !code;
    const std::size_t middle = line.find("](");
    if (!code && line.starts_with("<!-- ")) continue;
    if (!code && line.starts_with("![") && middle != std::string_view::npos) {
      const std::string_view file = line.substr(middle + 2, line.rfind(')') - middle - 2);
      out += fmt::format("> Figure: {} (docs/learn/{})\n", line.substr(2, middle - 2), file);
      continue;
    }
    out += line;
    out += '\n';
  }
  return out;
}

std::string show_contents(const Progress& progress, const TextOptions& options) {
  layout::Sheet sheet(options);
  sheet.line(sheet.text("Learn to read a sick training", layout::Ink::strong));
  sheet.blank();
  std::vector<std::vector<std::string>> rows;
  for (const Lesson& lesson : lessons()) {
    const std::string done =
        lesson.exercises.empty() ? "" : fmt::format("{} of {}", solved_of(lesson, progress), lesson.exercises.size());
    rows.push_back({fmt::format("{:2}", lesson.number), progress.read.contains(lesson.number) ? "read" : "", done,
                    sheet.text(lesson.title)});
  }
  layout::table(sheet, "  ", rows, {"", "", "exercises", "lesson"});
  int right = 0;
  int asked = 0;
  for (const auto& [id, tries] : progress.quiz) {
    right += tries.right;
    asked += tries.right + tries.wrong;
  }
  sheet.blank();
  if (asked > 0) sheet.line(fmt::format("Quiz: {} of {} right so far.", right, asked));
  sheet.line("Next: " + sheet.painted(next_step(progress), layout::Ink::second));
  return sheet.str();
}

std::string show_exercises(int lesson, const Progress& progress, const TextOptions& options) {
  layout::Sheet sheet(options);
  std::vector<std::vector<std::string>> rows;
  for (const Lesson& each : lessons()) {
    if (lesson != 0 && each.number != lesson) continue;
    for (const Exercise& exercise : each.exercises) {
      rows.push_back({fmt::format("{:2}", exercise.number), fmt::format("{:2}", exercise.lesson), kind_of(exercise),
                      state_of(exercise, progress), sheet.text(exercise.title)});
    }
  }
  if (rows.empty()) return "This lesson has no exercises.\n";
  layout::table(sheet, "  ", rows, {"", "lesson", "asks for", "", "exercise"});
  return sheet.str();
}

std::string show_lesson(const Lesson& lesson, const TextOptions& options) {
  std::string text = fmt::format("# {}. {}\n{}", lesson.number, lesson.title, for_terminal(lesson.text));
  if (!lesson.exercises.empty()) {
    text += fmt::format(
        "\n## Exercises\n\n{} belong to this lesson: `osler learn exercises {}` lists them, "
        "`osler learn exercise {}` shows the first.\n",
        lesson.exercises.size(), lesson.number, lesson.exercises.front().number);
  }
  return render_markdown(text, options);
}

std::string show_exercise(const Exercise& exercise, const TextOptions& options) {
  std::string text =
      fmt::format("# Exercise {}. {}\n{}\n", exercise.number, exercise.title, for_terminal(exercise.text));
  if (exercise.asks_for_program()) {
    text += fmt::format(
        "\n`osler learn take {0}` writes the skeleton, `osler learn check {0} FILE` tests what you made of "
        "it.\n",
        exercise.number);
  } else if (key_of(exercise).can_check()) {
    text += fmt::format("\nAnswer with `osler learn check {} ANSWER`.\n", exercise.number);
  } else {
    text += fmt::format("\nWrite your answer down, then compare: `osler learn solution {}`.\n", exercise.number);
  }
  return render_markdown(text, options);
}

std::string show_solution(const Exercise& exercise, const TextOptions& options) {
  std::string text =
      fmt::format("# Solution {}. {}\n{}\n", exercise.number, exercise.title, for_terminal(exercise.solution));
  for (const Document& document : exercise.solved) text += fmt::format("\n```\n{}```\n", document.text);
  return render_markdown(text, options);
}

}  // namespace osler::learn
