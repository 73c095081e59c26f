// osler note: attaches a word of a person's own to a run, to be shown wherever the run is.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "base/wall_clock.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "osler/base/file_system.h"
#include "osler/source/notes.h"
#include "report/layout.h"
#include "report/numbers.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter =
    R"(A run file (.osler) takes the note itself. Any other log keeps its notes in a file beside it,
NAME.notes.jsonl, one JSON object on each line: {"step": 95, "text": "...", "time": seconds}. So has a run file
that is still being written. Reports, JSON and figures show them at their step.

Examples:
  osler note runs/exp42 "doubled the batch here, expect less noise"     at the last step so far
  osler note metrics.csv "new data from this step on" --step 12000
  osler note metrics.csv                                                list the notes)";

struct Arguments {
  std::string path;
  std::string text;
  std::optional<std::int64_t> step;
};

/// The text in one line: a note stands among other lines.
std::string in_one_line(std::string text) {
  for (char& sign : text) {
    if (sign == '\n' || sign == '\r' || sign == '\t') sign = ' ';
  }
  return text;
}

Result<std::string> list_notes(const Source& source) {
  const auto run = read_source(real_file_system(), source, {});
  if (!run) return run.error();
  std::string text;
  for (const Mark& mark : run->marks()) {
    if (mark.kind != Mark::Kind::note) continue;
    text += fmt::format("step {}  {}\n", layout::grouped(mark.step), layout::clean(mark.text, true));
  }
  return text.empty() ? "no notes\n" : text;
}

Result<std::string> attach(const Source& source, const Arguments& arguments) {
  Mark note;
  note.kind = Mark::Kind::note;
  note.text = in_one_line(arguments.text);
  note.wall_time = wall_seconds();
  if (arguments.step) {
    note.step = *arguments.step;
  } else {
    const auto run = read_source(real_file_system(), source, {});
    if (!run) return run.error();
    note.step = run->steps().last;
  }
  const auto kept = add_note(source, note);
  if (!kept) return kept.error();
  return fmt::format("noted at step {} in {}\n", layout::grouped(note.step), kept->string());
}

int run_note(const Arguments& arguments) {
  const Sources sources = find_sources(real_file_system(), {arguments.path});
  const bool one = sources.runs.size() == 1;
  const auto said = !one                     ? Result<std::string>(not_one_run(sources, arguments.path))
                    : arguments.text.empty() ? list_notes(sources.runs.front())
                                             : attach(sources.runs.front(), arguments);
  if (!said) {
    complain(said.error());
    return kCannotJudge;
  }
  return print(*said) ? kFine : kCannotJudge;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("note", "Attach a note of your own to a run, or list its notes");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  verb->add_option("RUN", arguments->path, "A log, a run file or a run's folder")->required()->type_name("");
  verb->add_option("TEXT", arguments->text, "What to note; without it, the notes are listed")->type_name("");
  verb->add_option("--step", arguments->step, "The step it belongs to; without it, the last so far")->type_name("STEP");
  verb->callback([arguments, &work] { work = [arguments] { return run_note(*arguments); }; });
}

}  // namespace

namespace verb {
Verb note() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
