// osler examine: a worker that examines the runs of a fleet's store when they have changed.
#include "osler/store/examine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "cli/fleet/door.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "cli/watch/messenger.h"
#include "cli/watch/surroundings.h"
#include "cli/wishes.h"
#include "osler/report/render.h"
#include "report/layout.h"
#include "report/numbers.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  osler examine --store clickhouse://store.example.org/osler?project=vision
                                       examine what changes, until Ctrl-C; start as many as you like
  osler examine --store ... --once     what has changed so far, and end (for cron)
  osler examine --store ... --webhook https://hooks.example.org/T0/B0
                                       and report each new finding, once

Each changed run is examined by one worker. If a worker dies, others take over its runs after --lease seconds. The store
keeps every verdict, with the times when it began and when it was seen: osler fleet shows them.)";

struct Arguments {
  DoorWords door;
  Wishes wishes;
  std::string worker;
  std::string webhook;
  std::string on_critical;
  std::string alert_on = "critical";
  int lease = 60;
  double every = 2;
  bool all_projects = false;
  bool once = false;
  bool quiet = false;
};

int fail(const Error& error) {
  complain(describe(error));
  return kCannotJudge;
}

/// Two workers on one machine have two names.
std::string default_worker() {
  std::array<char, 256> name{};
  const bool known = ::gethostname(name.data(), name.size() - 1) == 0;
  return fmt::format("{}:{}", known ? name.data() : "worker", ::getpid());
}

Result<Addresses> addresses_of(const Arguments& arguments) {
  Addresses addresses;
  addresses.command = arguments.on_critical;
  if (arguments.webhook.empty()) return addresses;
  auto webhook = parse_webhook(arguments.webhook);
  if (!webhook) return webhook.error();
  addresses.webhook = std::move(*webhook);
  return addresses;
}

Result<ExamineOptions> options_of(const Arguments& arguments, const Interrupt& interrupt) {
  ExamineOptions options;
  auto diagnosis = to_options(arguments.wishes);
  if (!diagnosis) return diagnosis.error();
  options.diagnosis = std::move(*diagnosis);
  options.worker = arguments.worker.empty() ? default_worker() : arguments.worker;
  options.all_projects = arguments.all_projects;
  if (arguments.lease < 1) return Error{ErrorCode::invalid_argument, "--lease takes a number of seconds above 0", {}};
  options.lease_seconds = arguments.lease;
  options.stop = interrupt.token();
  return options;
}

int run_examine(const Arguments& arguments) {
  const auto door = open_door(arguments.door);
  if (!door) return fail(door.error());
  const auto alert_on = to_severity(arguments.alert_on);
  if (!alert_on) return fail(alert_on.error());
  auto addresses = addresses_of(arguments);
  if (!addresses) return fail(addresses.error());
  const Interrupt interrupt;
  auto options = options_of(arguments, interrupt);
  if (!options) return fail(options.error());
  if (const auto fits = Store(door->address, door->access).check(); !fits) {
    if (fits.error().code != ErrorCode::io || arguments.once) return fail(fits.error());
  }
  Examiner examiner(door->address, door->access, std::move(*options));
  Messenger messenger(std::move(*addresses));
  const TextOptions text = text_options({});
  const auto hear = [&](const ExaminedRun& examined) {
    if (!arguments.quiet) static_cast<void>(print(render_line(examined.report, text) + "\n"));
    for (const Observation& finding : examined.fresh) {
      if (finding.severity >= *alert_on) messenger.send(make_alert(examined.report, finding));
    }
  };
  std::size_t examined = 0;
  std::string trouble;
  while (!interrupt.happened()) {
    const auto done = examiner.round(hear);
    if (!done) {
      if (done.error().code != ErrorCode::io || arguments.once) return fail(done.error());
      if (const std::string words = describe(done.error()); words != trouble) complain(trouble = words);
    } else {
      trouble.clear();
      examined += *done;
      if (*done > 0) continue;
      if (arguments.once) break;
    }
    real_clock().wait(arguments.every, interrupt.descriptor());
  }
  complain(layout::counted(examined, "run") + " examined");
  return kFine;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("examine", "Diagnose the runs in a fleet's store whenever they change");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  add_door_options(*verb, arguments->door, "--store");
  add_meaning_options(*verb, arguments->wishes);
  verb->add_flag("--once", arguments->once, "Diagnose what has changed so far, and end");
  verb->add_flag("--all-projects", arguments->all_projects, "The runs of every project");
  verb->add_option("--worker", arguments->worker, "A name for this worker that no other has")->type_name("NAME");
  verb->add_option("--lease", arguments->lease, "Seconds until others take over the runs of a dead worker")
      ->type_name("SECONDS")
      ->capture_default_str();
  verb->add_option("--every", arguments->every, "Seconds between looks while nothing changes")
      ->type_name("SECONDS")
      ->capture_default_str();
  verb->add_option("--on-critical", arguments->on_critical, "Run this shell command for each new critical finding")
      ->type_name("CMD");
  verb->add_option("--webhook", arguments->webhook, "Post each new finding as JSON to this address")->type_name("URL");
  verb->add_option("--alert-on", arguments->alert_on, "Alert from this severity on: note, warning or critical")
      ->type_name("LEVEL")
      ->capture_default_str();
  verb->add_flag("-q,--quiet", arguments->quiet, "Print no line for each run");
  verb->callback([arguments, &work] { work = [arguments] { return run_examine(*arguments); }; });
}

}  // namespace

namespace verb {
Verb examine() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
