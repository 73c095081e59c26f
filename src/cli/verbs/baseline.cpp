// osler baseline: learns what is usual among someone's own healthy runs, and shows it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <memory>

#include "cli/fleet/door.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/reading.h"
#include "cli/terminal.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/report/baseline.h"
#include "osler/source/source.h"
#include "osler/store/store.h"
#include "report/numbers.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  osler baseline learn runs/ -o team.json              learn what is normal from the healthy runs there
  osler baseline learn --store clickhouse://localhost/osler?project=vision -o team.json
                                                       the same from a project in the store of a fleet
  osler diagnose new.csv --baseline team.json -v       compare a run with them
  osler baseline show team.json                        print the ranges
  osler baseline show                                  print the built-in ranges

Runs in which Osler finds a problem are left out, and it says which; --all includes them.)";

constexpr std::size_t kFewestRuns = 5;  // fewer have no range
constexpr std::uint64_t kMostBytes = 64 * 1024 * 1024;

struct Arguments {
  DoorWords door;
  std::vector<std::string> paths;
  std::string out;
  std::string file;
  bool all = false;
};

/// A run that can be read when its turn comes.
struct Candidate {
  std::string name;
  std::function<Result<Run>()> read;
};

/// The runs at the paths of the command line.
std::vector<Candidate> runs_at_paths(const Arguments& arguments, const Interrupt& interrupt) {
  const Sources inputs = find_sources(real_file_system(), arguments.paths, {});
  for (const Error& failure : inputs.failures) complain(describe(failure));
  std::vector<Candidate> runs;
  for (const Source& input : inputs.runs) {
    runs.push_back({input.name, [input, &interrupt] { return read_input(input, interrupt, {}, false); }});
  }
  return runs;
}

/// The runs of the project in a store.
Result<std::vector<Candidate>> runs_of_store(const Door& door) {
  const auto store = std::make_shared<Store>(door.address, door.access);
  const auto cards = store->runs({door.address.project, {}, false});
  if (!cards) return cards.error();
  std::vector<Candidate> runs;
  for (const RunCard& card : *cards) runs.push_back({card.name, [card, store] { return store->read(card); }});
  return runs;
}

/// The measures of every healthy one; what is left out is said.
std::vector<MeasuredRun> measure_healthy(const std::vector<Candidate>& runs, bool all, const Interrupt& interrupt) {
  std::vector<MeasuredRun> healthy;
  for (const Candidate& candidate : runs) {
    if (interrupt.happened()) break;
    const Result<Run> run = candidate.read();
    if (!run) {
      complain(run.error());
      continue;
    }
    const Result<Report> report = diagnose(*run);
    if (!all && report && report->status != Status::healthy) {
      complain(fmt::format("{}: left out: {}", candidate.name, report->headline));
      continue;
    }
    if (Result<MeasuredRun> measured = measure(*run)) healthy.push_back(std::move(*measured));
  }
  return healthy;
}

/// Where the runs are that are learned from.
Result<std::vector<Candidate>> candidates(const Arguments& arguments, const Interrupt& interrupt) {
  if (!arguments.paths.empty()) return runs_at_paths(arguments, interrupt);
  if (arguments.door.address.empty()) {
    return Error{ErrorCode::invalid_argument, "name runs to learn from, or a store with --store", {}};
  }
  const auto door = open_door(arguments.door);
  if (!door) return door.error();
  return runs_of_store(*door);
}

int run_learn(const Arguments& arguments) {
  const Interrupt interrupt;
  const auto runs = candidates(arguments, interrupt);
  if (!runs) {
    complain(runs.error());
    return kCannotJudge;
  }
  const std::vector<MeasuredRun> healthy = measure_healthy(*runs, arguments.all, interrupt);
  if (healthy.size() < kFewestRuns) {
    complain(fmt::format("{} of {} can be learned from; at least {} are needed", healthy.size(),
                         layout::counted(runs->size(), "run"), kFewestRuns));
    return kCannotJudge;
  }
  ReferenceRanges ranges = learn_ranges(healthy, kFewestRuns);
  ranges.name = std::filesystem::path(arguments.out).stem().string();
  if (const auto written = write_output(arguments.out, render_baseline(ranges), arguments.paths); !written) {
    complain(written.error());
    return kCannotJudge;
  }
  return print(fmt::format("learned from {} of {}; written to {}\n", healthy.size(),
                           layout::counted(runs->size(), "run"), arguments.out))
             ? kFine
             : kCannotJudge;
}

int run_show(const Arguments& arguments) {
  if (arguments.file.empty()) return print(render_ranges(built_in_ranges())) ? kFine : kCannotJudge;
  const Result<std::string> text = read_whole(real_file_system(), arguments.file, kMostBytes);
  const Result<ReferenceRanges> ranges =
      text ? parse_baseline(*text, arguments.file) : Result<ReferenceRanges>(text.error());
  if (!ranges) {
    complain(ranges.error());
    return kCannotJudge;
  }
  return print(render_ranges(*ranges)) ? kFine : kCannotJudge;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("baseline", "Learn what is normal for your own healthy runs");
  verb->footer(kFooter);
  verb->require_subcommand(1);
  auto arguments = std::make_shared<Arguments>();
  CLI::App* learn = verb->add_subcommand("learn", "Learn ranges from runs and write them to a file");
  learn->add_option("RUNS", arguments->paths, "Files, folders or patterns")->type_name("");
  add_door_options(*learn, arguments->door, "--store");
  learn->add_option("-o,--out", arguments->out, "The file to write")->required()->type_name("FILE");
  learn->add_flag("--all", arguments->all, "Include runs in which Osler finds a problem");
  learn->callback([arguments, &work] { work = [arguments] { return run_learn(*arguments); }; });
  CLI::App* show = verb->add_subcommand("show", "Print the ranges of a file, or the built-in ones");
  show->add_option("FILE", arguments->file, "A file that baseline learn wrote")->type_name("");
  show->callback([arguments, &work] { work = [arguments] { return run_show(*arguments); }; });
}

}  // namespace

namespace verb {
Verb baseline() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
