// osler learn: the course in a terminal, its exercises, and a word on each answer.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>

#include "cli/learn/keep.h"
#include "cli/learn/program_check.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "learn/answer.h"
#include "learn/course.h"
#include "learn/show.h"

namespace osler::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter = R"(Examples:
  osler learn                       the lessons, your progress, what to do next
  osler learn 3                     lesson 3; the same pages lie in docs/learn
  osler learn exercises 3           its exercises
  osler learn exercise 8            one of them
  osler learn check 8 0.25          checks your answer, and says what is wrong with it
  osler learn take 10               writes the skeleton for an exercise that asks for a program
  osler learn check 10 clipping.py  runs its tests on your program
  osler learn solution 10           the solution, for when you have tried
  osler learn take lab              writes lab.py, the small training that the lessons break

Progress is kept in ~/.local/state/osler/learn.json, or where --progress says.)";

struct Arguments {
  int lesson = 0;
  int exercise = 0;
  std::string what;
  std::vector<std::string> answer;
  std::string folder = ".";
  std::string progress;
  Look look;
};

int fail(const Error& error) {
  complain(error);
  return kCannotJudge;
}

int done(bool printed) {
  return printed ? kFine : kCannotJudge;
}

int no_lesson(int number) {
  complain(fmt::format("there is no lesson {}; there are 1 to {}", number, learn::lessons().back().number));
  return kCannotJudge;
}

int no_exercise(int number) {
  int last = 0;
  for (const learn::Lesson& lesson : learn::lessons()) {
    for (const learn::Exercise& exercise : lesson.exercises) last = std::max(last, exercise.number);
  }
  complain(fmt::format("there is no exercise {}; there are 1 to {}", number, last));
  return kCannotJudge;
}

/// Notes what was done. A place that cannot be written costs the note, not the lesson.
void note(const Arguments& arguments, const std::function<void(learn::Progress&)>& change) {
  const auto path = progress_file(arguments.progress);
  const auto kept = path ? keep_progress(*path, change) : Result<learn::Progress>(path.error());
  if (!kept) complain("progress is not kept: " + describe(kept.error()));
}

Result<learn::Progress> progress_of(const Arguments& arguments) {
  const auto path = progress_file(arguments.progress);
  // Without a place for it there is no progress, which is no reason not to show the course.
  if (!path) return learn::Progress{};
  return kept_progress(*path);
}

int run_lessons(const Arguments& arguments) {
  const TextOptions options = text_options(arguments.look);
  if (arguments.lesson == 0) {
    const auto progress = progress_of(arguments);
    return progress ? done(print(learn::show_contents(*progress, options))) : fail(progress.error());
  }
  const learn::Lesson* lesson = learn::find_lesson(arguments.lesson);
  if (lesson == nullptr) return no_lesson(arguments.lesson);
  if (!print(learn::show_lesson(*lesson, options))) return kCannotJudge;
  note(arguments, [&](learn::Progress& progress) { progress.read.insert(lesson->number); });
  return kFine;
}

int run_exercises(const Arguments& arguments) {
  if (arguments.lesson != 0 && learn::find_lesson(arguments.lesson) == nullptr) return no_lesson(arguments.lesson);
  const auto progress = progress_of(arguments);
  if (!progress) return fail(progress.error());
  return done(print(learn::show_exercises(arguments.lesson, *progress, text_options(arguments.look))));
}

int run_exercise(const Arguments& arguments) {
  const learn::Exercise* exercise = learn::find_exercise(arguments.exercise);
  if (exercise == nullptr) return no_exercise(arguments.exercise);
  return done(print(learn::show_exercise(*exercise, text_options(arguments.look))));
}

int run_solution(const Arguments& arguments) {
  const learn::Exercise* exercise = learn::find_exercise(arguments.exercise);
  if (exercise == nullptr) return no_exercise(arguments.exercise);
  return done(print(learn::show_solution(*exercise, text_options(arguments.look))));
}

/// The verdict on the words or the file that was given.
Result<learn::Verdict> judge(const learn::Exercise& exercise, const std::vector<std::string>& answer) {
  if (exercise.asks_for_program()) {
    if (answer.size() != 1) {
      return Error{ErrorCode::invalid_argument,
                   fmt::format("it asks for a program: osler learn check {} FILE", exercise.number),
                   fmt::format("exercise {}", exercise.number)};
    }
    const auto passed = check_program(exercise, answer.front());
    if (!passed) return passed.error();
    return learn::Verdict{*passed, *passed ? "" : "Its tests do not pass yet."};
  }
  const learn::Key key = learn::key_of(exercise);
  if (!key.can_check()) {
    return Error{ErrorCode::unsupported,
                 fmt::format("it has no one answer; compare with: osler learn solution {}", exercise.number),
                 fmt::format("exercise {}", exercise.number)};
  }
  if (answer.empty()) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("say your answer: osler learn check {} ANSWER", exercise.number),
                 fmt::format("exercise {}", exercise.number)};
  }
  return learn::check(key, fmt::format("{}", fmt::join(answer, " ")));
}

int run_check(const Arguments& arguments) {
  const learn::Exercise* exercise = learn::find_exercise(arguments.exercise);
  if (exercise == nullptr) return no_exercise(arguments.exercise);
  const auto verdict = judge(*exercise, arguments.answer);
  if (!verdict) return fail(verdict.error());
  note(arguments, [&](learn::Progress& progress) {
    learn::Tries& tries = progress.exercises[exercise->number];
    ++(verdict->right ? tries.right : tries.wrong);
  });
  if (verdict->right) {
    return done(print(fmt::format("Right. osler learn solution {} says why.\n", exercise->number)));
  }
  const std::string why = verdict->text.empty() ? "" : " " + verdict->text;
  if (!print(render_markdown("Not yet." + why + "\n", text_options(arguments.look)))) return kCannotJudge;
  return kSick;
}

/// Writes a file into the folder; never over one that is there, which may hold the learner's work.
Result<std::string> hand_out(const learn::Document& document, const std::string& name, const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  const fs::path path = folder / name;
  if (fs::exists(path, problem)) {
    return Error{ErrorCode::invalid_argument, "it is there already; remove it or name another folder with -o",
                 path.string()};
  }
  if (const auto written = write_output(path.string(), document.text, {}); !written) return written.error();
  return path.string();
}

int run_take(const Arguments& arguments) {
  const learn::Document* document = nullptr;
  std::string name = "lab.py";
  if (arguments.what == "lab") {
    document = learn::find_document(name);
  } else {
    const int number = std::atoi(arguments.what.c_str());
    const learn::Exercise* exercise = learn::find_exercise(number);
    if (exercise == nullptr) return no_exercise(number);
    document = learn::handed_file(*exercise, "skeleton.");
    if (document == nullptr) {
      complain(fmt::format("exercise {} has no skeleton: it asks for no program", number));
      return kCannotJudge;
    }
    // "exercises/10-clipping/skeleton.py" becomes "clipping.py".
    const fs::path path(document->path);
    const std::string folder = path.parent_path().filename().string();
    name = folder.substr(folder.find('-') + 1) + path.extension().string();
  }
  if (document == nullptr) return kCannotJudge;
  const auto written = hand_out(*document, name, arguments.folder);
  return written ? done(print(*written + "\n")) : fail(written.error());
}

void add_exercise_verb(CLI::App& verb, const char* name, const char* description,
                       const std::shared_ptr<Arguments>& arguments, Work& work, int (*run)(const Arguments&)) {
  CLI::App* child = verb.add_subcommand(name, description);
  child->add_option("N", arguments->exercise, "The number of the exercise")->required()->type_name("");
  if (run == run_check) {
    child->add_option("ANSWER", arguments->answer, "Words, a number, or a file; as the exercise asks")->type_name("");
  }
  child->callback([arguments, run, &work] { work = [arguments, run] { return run(*arguments); }; });
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("learn", "Take a course on reading failing runs; exercises are checked");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  verb->require_subcommand(0, 1);
  verb->fallthrough();
  verb->add_option("LESSON", arguments->lesson, "The number of the lesson to show; without it, the list")
      ->type_name("");
  verb->add_option("--progress", arguments->progress, "Keep your progress in this file")->type_name("FILE");
  add_look_options(*verb, arguments->look);
  verb->callback([arguments, &work] {
    if (!work) work = [arguments] { return run_lessons(*arguments); };
  });
  CLI::App* list = verb->add_subcommand("exercises", "List the exercises, of one lesson or all");
  list->add_option("LESSON", arguments->lesson, "Of this lesson only")->type_name("");
  list->callback([arguments, &work] { work = [arguments] { return run_exercises(*arguments); }; });
  add_exercise_verb(*verb, "exercise", "Show an exercise", arguments, work, run_exercise);
  add_exercise_verb(*verb, "check", "Check an answer to an exercise", arguments, work, run_check);
  add_exercise_verb(*verb, "solution", "Show the solution of an exercise", arguments, work, run_solution);
  CLI::App* take = verb->add_subcommand("take", "Write the skeleton of an exercise, or the laboratory, to a file");
  take->add_option("WHAT", arguments->what, "The number of an exercise, or lab")->required()->type_name("");
  take->add_option("-o,--out", arguments->folder, "The folder to write to")->type_name("DIR")->capture_default_str();
  take->callback([arguments, &work] { work = [arguments] { return run_take(*arguments); }; });
}

}  // namespace

namespace verb {
Verb learn() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
