// osler fleet: how all runs of a team are: what is sick now, what it has cost, and why.
#include "osler/store/fleet.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/fleet/door.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "osler/diagnosis/diagnose.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  osler fleet --store clickhouse://store.example.org/osler?project=vision
                                      what is sick now, what it has cost, and why
  osler fleet RUN --store ...         the diagnosis of one run, and when each finding began, was seen and went
  osler fleet --store ... --json      for programs
  osler fleet --store ... --openmetrics > /var/lib/node_exporter/osler.prom
                                      for Prometheus

Times are in UTC. Hours are counted by the wall times of the logs, or, where a log has none, from when the finding was
seen. Exit codes: 0 no run is critical, 1 at least one is, 2 the store could not be asked.)";

struct Arguments {
  DoorWords door;
  Look look;
  std::string run;
  bool all_projects = false;
  bool json = false;
  bool metrics = false;
};

int fail(const Error& error) {
  complain(describe(error));
  return kCannotJudge;
}

int show_run(const Arguments& arguments, const Door& door) {
  Store store(door.address, door.access);
  const auto card = store.find(arguments.run, arguments.all_projects ? "" : door.address.project);
  if (!card) return fail(card.error());
  const auto run = store.read(*card);
  if (!run) return fail(run.error());
  const auto report = diagnose(*run);
  if (!report) return fail(report.error());
  const TextOptions text = text_options(arguments.look);
  const auto history = render_history(door.address, door.access, *card, text);
  if (!history) return fail(history.error());
  const std::string shown = arguments.json
                                ? render_json(*report)
                                : render_text(*report, text) + (history->empty() ? "" : "\nhistory\n" + *history);
  if (!print(shown)) return kCannotJudge;
  return report->status == Status::critical ? kSick : kFine;
}

int run_fleet(const Arguments& arguments) {
  const auto door = open_door(arguments.door);
  if (!door) return fail(door.error());
  if (!arguments.run.empty()) return show_run(arguments, *door);
  const auto fleet = look_at_fleet(door->address, door->access, arguments.all_projects);
  if (!fleet) return fail(fleet.error());
  const std::string text = arguments.json      ? render_json(*fleet)
                           : arguments.metrics ? render_metrics(*fleet)
                                               : render_text(*fleet, text_options(arguments.look));
  if (!print(text)) return kCannotJudge;
  return fleet->critical > 0 ? kSick : kFine;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("fleet", "The health of all runs in a store: sick now, hours lost, causes");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  verb->add_option("RUN", arguments->run, "One run: its name, the end of its name, or its number")->type_name("");
  add_door_options(*verb, arguments->door, "--store");
  CLI::Option* json = verb->add_flag("--json", arguments->json, "As JSON");
  verb->add_flag("--openmetrics", arguments->metrics, "As OpenMetrics")->excludes(json);
  verb->add_flag("--all-projects", arguments->all_projects, "The runs of every project");
  verb->add_flag("-v,--verbose", arguments->look.verbose, "Every sick run, not just the first");
  add_look_options(*verb, arguments->look);
  verb->callback([arguments, &work] { work = [arguments] { return run_fleet(*arguments); }; });
}

}  // namespace

namespace verb {
Verb fleet() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
