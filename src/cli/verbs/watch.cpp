// osler watch: follows runs while they are being written, and speaks up when one falls ill.
#include "cli/watch/watch.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>

#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/results.h"
#include "cli/terminal.h"
#include "cli/watch/training.h"
#include "cli/wishes.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  osler watch runs/exp42                       a live view; Ctrl-C ends it with the full report
  osler watch train.log metrics.csv            several logs; they need not exist yet
  osler watch run.osler                        a run file, while the training records into it
  python train.py 2>&1 | osler watch -         the output of a program
  python train.py 2>&1 | tee train.log | osler watch -
  osler watch runs/ --webhook https://hooks.example.org/T0/B0
                                               post each alert; Slack, Discord and Teams are known by their address
  osler watch train.log --on-critical 'mail -s "$OSLER_FINDING in $OSLER_RUN" me@example.org'
  osler watch train.log --stop-on critical --pid 4711 --until-done
                                               end a hopeless run (SIGTERM, once), then report
  osler watch --stop-on critical -- python train.py --lr 0.1
                                               start it, pass on its output, watch it, end it when hopeless
  osler watch runs/exp42 -- python train.py    the same, watching what it writes there
  osler watch --stop-on critical --dry-run -- python train.py
                                               only print what it would do

Without a terminal, Osler prints one line per change. It alerts once per finding, after seeing it twice in a row. It
stops a training only for a finding at the level of --stop-on that is at least 90 % sure, once the loss has
--stop-after-points points and later data (a tenth more points, 3 to 100) confirm it, or 80 % sure and lasting (a
quarter more points); a line on standard error gives the evidence. The command of --on-critical gets the alert as JSON
on standard input, and OSLER_RUN, OSLER_FINDING, OSLER_STEP, OSLER_HEADLINE and OSLER_REMEDY in its environment.

Exit codes: 0 nothing at or above --fail-on at the end, 1 something, 2 cannot judge. With a command after --, its exit
code replaces 0 and 2.)";

struct Arguments {
  std::vector<std::string> paths;
  Wishes wishes;
  Look look;
  std::string fail_on = "critical";
  std::string on_critical;
  std::string webhook;
  std::string webhook_style;
  std::string alert_on = "critical";
  std::string stop_on;
  std::uint64_t stop_after_points = StopRule{}.points;
  bool dry_run = false;
  std::vector<std::string> command;
  int pid = 0;
  bool until_done = false;
  double idle = 600;
  bool json = false;
};

bool is_stream(const std::string& path) {
  if (path == "-") return true;
  const auto info = real_file_system().info(path);
  return info && info->kind == FileKind::pipe;
}

Result<void> check_combination(const Arguments& arguments) {
  const auto wrong = [](const char* why) { return Error{ErrorCode::invalid_argument, why, {}}; };
  if (arguments.paths.size() > 1 && std::any_of(arguments.paths.begin(), arguments.paths.end(), is_stream)) {
    return wrong("a pipe must be the only thing to watch");
  }
  if (arguments.paths.empty() && arguments.command.empty()) {
    return wrong("name what to watch: files, folders, -, or a command after --");
  }
  if (!arguments.command.empty() && arguments.pid != 0) return wrong("a command after -- needs no --pid");
  if (!arguments.command.empty() && std::any_of(arguments.paths.begin(), arguments.paths.end(), is_stream)) {
    return wrong("a command after -- is watched by its output or its files, not by a pipe");
  }
  if (!arguments.stop_on.empty() && arguments.pid == 0 && arguments.command.empty() && !arguments.dry_run) {
    return wrong("--stop-on needs to know what to stop: give --pid N, or the command after --");
  }
  if (arguments.pid != 0 && arguments.stop_on.empty() && !arguments.until_done) {
    return wrong("--pid names the process to stop or wait for: use it with --stop-on LEVEL or --until-done");
  }
  if (!(arguments.idle > 0)) return wrong("--idle takes a number of seconds above 0");
  return {};
}

Result<WatchWishes> to_wishes(const Arguments& arguments) {
  if (const auto fits = check_combination(arguments); !fits) return fits.error();
  if (const auto format = check_format(arguments.wishes.format); !format) return format.error();
  WatchWishes wishes;
  auto diagnosis = to_options(arguments.wishes);
  if (!diagnosis) return diagnosis.error();
  wishes.diagnosis = std::move(*diagnosis);
  wishes.addresses.command = arguments.on_critical;
  if (!arguments.webhook.empty()) {
    auto webhook = parse_webhook(arguments.webhook);
    if (!webhook) return webhook.error();
    if (!arguments.webhook_style.empty()) {
      const auto style = webhook_style_from(arguments.webhook_style);
      if (!style) {
        return Error{ErrorCode::invalid_argument, "--webhook-style takes osler, slack, discord or teams",
                     arguments.webhook_style};
      }
      webhook->style = *style;
    }
    wishes.addresses.webhook = std::move(*webhook);
  }
  const auto alert_on = to_severity(arguments.alert_on);
  if (!alert_on) return alert_on.error();
  wishes.alert_on = *alert_on;
  if (!arguments.stop_on.empty()) {
    const auto stop_on = to_severity(arguments.stop_on);
    if (!stop_on) return stop_on.error();
    wishes.stop_on = StopRule{.level = *stop_on, .points = arguments.stop_after_points};
  }
  if (arguments.pid != 0) {
    auto process = Process::find(arguments.pid);
    if (!process) return process.error();
    wishes.process = std::move(*process);
  }
  wishes.dry_run = arguments.dry_run;
  wishes.until_done = arguments.until_done;
  wishes.idle_seconds = arguments.idle;
  wishes.json = arguments.json;
  wishes.live = !arguments.json && can_redraw();
  wishes.text = text_options(arguments.look);
  return wishes;
}

ReadOptions reading_of(const Arguments& arguments) {
  ReadOptions reading;
  reading.format = arguments.wishes.format;
  return reading;
}

Result<std::unique_ptr<WatchedSource>> open_source(const Arguments& arguments, int interrupt) {
  const ReadOptions reading = reading_of(arguments);
  if (is_stream(arguments.paths.front())) return watch_stream(arguments.paths.front(), reading, interrupt);
  return watch_files(arguments.paths, reading, interrupt);
}

int fail(const Error& error) {
  complain(error);
  return kCannotJudge;
}

/// The last word on what was watched, and the exit code that it asks for.
int tell_end(const Arguments& arguments, const WatchedSource& source, Watching& watch, const TextOptions& text,
             bool on_error, Severity fail_on) {
  const auto reports = watch.finish();
  if (!reports) return fail(reports.error());
  if (reports->empty()) return fail({ErrorCode::not_found, "nothing was there to examine", {}});
  std::string final;
  if (arguments.json) {
    for (const Report& report : *reports) final += render_json_line(report);
  } else {
    final = reports->size() > 1 ? render_many(*reports, text) : render_text(reports->front(), text);
  }
  return print_for(on_error, final) ? exit_code(*reports, source.incomplete(), fail_on) : kCannotJudge;
}

/// Starts the training, watches its output or the files that it writes, and ends with it.
int watch_command(const Arguments& arguments, WatchWishes wishes, Severity fail_on) {
  auto training = Training::start(arguments.command);
  if (!training) return fail(training.error());
  const TextOptions text = wishes.text;
  auto process = Process::find((*training)->process().pid());
  if (process) wishes.process = std::move(*process);
  wishes.on_error = true;
  wishes.live = false;
  wishes.until_done = true;
  wishes.idle_seconds = std::numeric_limits<double>::infinity();  // a training that stands still is not at its end
  const ReadOptions reading = reading_of(arguments);
  auto output = (*training)->output();
  std::jthread reader;  // of output that is shown and not watched
  Result<std::unique_ptr<WatchedSource>> source = watch_files(arguments.paths, reading, -1);
  if (arguments.paths.empty()) {
    source = watch_output(std::move(output), name_of(arguments.command), reading);
    if (!source) return fail(source.error());
  } else {
    reader = std::jthread([&output] {
      std::vector<std::byte> buffer(std::size_t{1} << 16U);
      for (auto length = output->read(buffer); length && *length > 0;) length = output->read(buffer);
    });
  }
  Watching watch(**source, std::move(wishes));
  for (;;) {
    const auto goes_on = watch.round();
    if (!goes_on) complain(goes_on.error());
    if (!goes_on || !*goes_on) break;
  }
  if (reader.joinable()) reader.join();
  const int verdict = tell_end(arguments, **source, watch, text, true, fail_on);
  const int own = (*training)->wait();
  return verdict == kSick ? kSick : own;
}

int run_watch(const Arguments& arguments) {
  const auto fail_on = to_severity(arguments.fail_on);
  if (!fail_on) return fail(fail_on.error());
  auto wishes = to_wishes(arguments);
  if (!wishes) return fail(wishes.error());
  if (!arguments.command.empty()) return watch_command(arguments, std::move(*wishes), *fail_on);
  const TextOptions text = wishes->text;
  const Interrupt interrupt;
  const auto source = open_source(arguments, interrupt.descriptor());
  if (!source) return fail(source.error());

  Watching watch(**source, std::move(*wishes));
  for (;;) {
    const auto goes_on = watch.round();
    if (!goes_on) return fail(goes_on.error());
    if (!*goes_on || interrupt.happened()) break;
  }
  return tell_end(arguments, **source, watch, text, false, *fail_on);
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("watch", "Follow runs while they are written: live verdict, alerts, stop");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  verb->add_option("PATH", arguments->paths, "Files, folders (new runs in them are found), a named pipe, or -")
      ->type_name("");
  verb->add_option(kCommandOption, arguments->command, "A word of the command after --")
      ->allow_extra_args(false)
      ->group("");
  add_wish_options(*verb, arguments->wishes);
  verb->add_option("--on-critical", arguments->on_critical, "Run this shell command for each critical finding")
      ->type_name("CMD");
  verb->add_option("--webhook", arguments->webhook, "Post each alert as JSON to this address")->type_name("URL");
  verb->add_option("--webhook-style", arguments->webhook_style,
                   "osler, slack, discord or teams (default: told from the address)")
      ->type_name("STYLE");
  verb->add_option("--alert-on", arguments->alert_on, "Alert from this severity on: note, warning or critical")
      ->type_name("LEVEL")
      ->capture_default_str();
  verb->add_option("--stop-on", arguments->stop_on, "Send SIGTERM to the training, once, at this severity")
      ->type_name("LEVEL");
  verb->add_option("--stop-after-points", arguments->stop_after_points,
                   "Stop nothing before the loss has so many points")
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag("--dry-run", arguments->dry_run, "Print what would be sent or stopped, and do neither");
  verb->add_option("--pid", arguments->pid, "The training process")->type_name("N");
  verb->add_flag("--until-done", arguments->until_done,
                 "End when the log says so, --pid has ended, or nothing came for --idle");
  verb->add_option("--idle", arguments->idle, "Seconds without a new value after which a run counts as done")
      ->type_name("SECONDS")
      ->capture_default_str();
  verb->add_option("--fail-on", arguments->fail_on, "Exit with 1 from this severity on: note, warning or critical")
      ->type_name("LEVEL")
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "Print the report as one line of JSON at each change, and at the end");
  add_look_options(*verb, arguments->look);
  verb->callback([arguments, &work] { work = [arguments] { return run_watch(*arguments); }; });
}

}  // namespace

namespace verb {
Verb watch() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
