// osler diagnose: examines training logs and says what is wrong with them.
#include "osler/diagnosis/diagnose.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/reading.h"
#include "cli/results.h"
#include "cli/terminal.h"
#include "cli/wishes.h"
#include "osler/dashboard/html_report.h"
#include "osler/formats/read.h"
#include "osler/report/layers.h"
#include "osler/report/render.h"
#include "osler/report/tree.h"
#include "osler/source/source.h"
#include "report/layout.h"
#include "report/numbers.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  osler diagnose metrics.csv                          one log
  osler diagnose runs/                                every run below a folder
  osler diagnose 'logs/*/metrics.csv'                 a pattern; quotes are fine
  tail -n +1 -f train.log | osler diagnose -          a pipe; Ctrl-C ends it and diagnoses what came
  osler diagnose run.csv --role train-loss=my_obj     tell it what a series means
  osler diagnose run.csv --set loss-diverging.stays=0.1
                                                      change what a finding decides by
  osler diagnose runs/ --json > report.json           for programs (docs/report.md)
  osler diagnose run.osler --layers                   every layer, and what is wrong with it
  osler diagnose run.csv --html report.html           with charts, in one file you can send
  osler diagnose run.csv --baseline team.json -v      beside your own healthy runs (osler baseline)
  osler diagnose run.csv --fail-on warning --quiet || echo "look at this run"

Exit codes: 0 nothing at or above --fail-on, 1 something, 2 cannot judge.)";

struct Arguments {
  std::vector<std::string> paths;
  Wishes wishes;
  Look look;
  std::string fail_on = "critical";
  std::string sarif;
  std::string html;
  bool json = false;
  bool tree = false;
  bool layers = false;
  bool quiet = false;
};

/// What the examination of all inputs gave.
struct Outcome {
  std::vector<Report> reports;
  std::size_t inputs = 0;
  bool failed = false;  ///< some input could not be read or judged; that has been said
  std::optional<HtmlReport> html;
};

/// Says in the run itself, and so in every form of its report, that it is not all there.
void note_interruption(Run& run) {
  run.add(
      Mark{Mark::Kind::note, run.steps().last, kNoTime, "reading was interrupted, the rest of the log is not seen"});
}

/// One line for a run that could not be judged: why, and what there is to choose from when the loss was not recognised.
void complain_of_too_little(const Report& report, const Run& run) {
  constexpr std::size_t kShown = 8;
  std::string hint;
  if (report.roles.count("train-loss") == 0 && !run.all_series().empty()) {
    std::vector<std::string> names;
    for (const Series& series : run.all_series()) {
      if (names.size() < kShown) names.push_back(series.name());
    }
    hint = fmt::format(" The log has: {}{} (--role train-loss=NAME)", fmt::join(names, ", "),
                       run.all_series().size() > kShown ? ", ..." : "");
  }
  complain(fmt::format("{}: cannot judge: {}{}", report.run_name, report.headline, hint));
}

/// A run as it was read, and what is said of it.
struct Examined {
  Run run;
  Report report;
};

Result<Examined> examine(const Source& input, const Interrupt& interrupt, const ReadOptions& reading,
                         const DiagnosisOptions& options, bool quiet) {
  auto run = read_input(input, interrupt, reading, quiet);
  if (!run) return run.error();
  if (interrupt.happened()) note_interruption(*run);
  if (const auto known = check_series(options, *run); !known) return known.error();
  auto report = diagnose(*run, options);
  if (!report) return report.error();
  return Examined{std::move(*run), std::move(*report)};
}

/// Whether this is what a file that is no log gives when it is read as one.
bool is_no_log(const Result<Examined>& examined) {
  if (examined) return examined->report.status == Status::insufficient_data;
  const ErrorCode code = examined.error().code;
  return code == ErrorCode::not_found || code == ErrorCode::unsupported || code == ErrorCode::corrupt;
}

/// Takes what came of one input into the outcome.
void take(Result<Examined> examined, Outcome& outcome) {
  if (!examined) {
    complain(examined.error());
    outcome.failed = true;
    return;
  }
  if (examined->report.status == Status::insufficient_data) complain_of_too_little(examined->report, examined->run);
  if (outcome.html) outcome.html->add(examined->run, examined->report);
  outcome.reports.push_back(std::move(examined->report));
}

Outcome examine_all(const Arguments& arguments, const DiagnosisOptions& options) {
  Outcome outcome;
  ReadOptions reading;
  reading.format = arguments.wishes.format;
  Sources inputs = find_sources(real_file_system(), arguments.paths, reading);
  for (const Error& failure : inputs.failures) complain(failure);
  outcome.failed = !inputs.failures.empty();
  outcome.inputs = inputs.runs.size();
  if (!arguments.html.empty()) outcome.html.emplace(outcome.inputs);

  const Interrupt interrupt;
  std::vector<const Source*> stray;
  for (const Source& input : inputs.runs) {
    if (interrupt.happened()) break;
    auto examined = examine(input, interrupt, reading, options, arguments.quiet);
    if (input.log.doubtful && is_no_log(examined)) {
      const std::string why = examined ? examined->report.headline : examined.error().message;
      inputs.left_out.push_back({input.log.files.back().path, why});
      stray.push_back(&input);
      continue;
    }
    take(std::move(examined), outcome);
  }
  // What is no log beside one that is can be passed over; where there is nothing else, it is what was asked about.
  if (outcome.reports.empty() && !outcome.failed) {
    for (const Source* input : stray) take(examine(*input, interrupt, reading, options, arguments.quiet), outcome);
  } else {
    outcome.inputs -= stray.size();
    if (!inputs.left_out.empty() && !arguments.quiet) complain(told(inputs.left_out));
  }
  if (interrupt.happened()) {
    complain(fmt::format("interrupted: {} of {} examined, the last one as far as it was read", outcome.reports.size(),
                         layout::counted(inputs.runs.size(), "run")));
  }
  return outcome;
}

std::string render(const Arguments& arguments, const Outcome& outcome) {
  const bool several = outcome.inputs > 1;
  if (arguments.json) return several ? render_json(outcome.reports) : render_json(outcome.reports.front());
  TextOptions options = text_options(arguments.look);
  std::string text = several ? render_many(outcome.reports, options) : render_text(outcome.reports.front(), options);
  if (arguments.tree && !several) text += "\n" + render_way(walk_tree(outcome.reports.front()), options);
  if (!arguments.layers) return text;
  for (const Report& report : outcome.reports) {
    text +=
        "\n" + (several ? layout::clean(report.run_name, options.unicode) + "\n" : "") + render_layers(report, options);
  }
  return text;
}

/// Writes to a file, or to standard output where the path is "-".
bool write_text(const std::string& path, const std::string& text, const std::vector<Report>& reports) {
  if (path == "-") return print(text);
  std::vector<std::string> inputs;
  for (const Report& report : reports) inputs.insert(inputs.end(), report.sources.begin(), report.sources.end());
  const auto written = write_output(path, text, inputs);
  if (!written) complain(written.error());
  return written.has_value();
}

bool write_html(const std::string& path, const HtmlReport& report, const std::vector<Report>& reports) {
  const auto text = report.text();
  if (text) return write_text(path, *text, reports);
  complain(text.error());
  return false;
}

/// What the command line asks of the diagnosis.
Result<DiagnosisOptions> wished(const Arguments& arguments) {
  auto options = to_options(arguments.wishes);
  if (options) options->layers = arguments.layers;
  return options;
}

int run_diagnose(const Arguments& arguments) {
  const auto options = wished(arguments);
  const auto fail_on = to_severity(arguments.fail_on);
  const auto format = check_format(arguments.wishes.format);
  for (const Error* error : {options ? nullptr : &options.error(), fail_on ? nullptr : &fail_on.error(),
                             format ? nullptr : &format.error()}) {
    if (error == nullptr) continue;
    complain(*error);
    return kCannotJudge;
  }
  if (!arguments.html.empty() && !has_dashboard()) {
    complain(HtmlReport(0).text().error());
    return kCannotJudge;
  }
  const Outcome outcome = examine_all(arguments, *options);
  bool written = true;
  if (!arguments.sarif.empty()) written = write_text(arguments.sarif, render_sarif(outcome.reports), outcome.reports);
  if (outcome.html && !outcome.reports.empty())
    written = write_html(arguments.html, *outcome.html, outcome.reports) && written;
  const bool piped = arguments.sarif == "-" || arguments.html == "-";
  const bool silent = arguments.quiet || piped || outcome.reports.empty();
  if (!silent) written = print(render(arguments, outcome)) && written;
  return written ? exit_code(outcome.reports, outcome.failed, *fail_on) : kCannotJudge;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb =
      program.add_subcommand("diagnose", "Examine training logs: what is wrong, since when, why, what to change");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  verb->add_option("PATH", arguments->paths,
                   "Files, folders (with everything below), patterns, or - for standard input")
      ->required()
      ->type_name("");
  add_wish_options(*verb, arguments->wishes);
  verb->add_option("--fail-on", arguments->fail_on, "Exit with 1 from this severity on: note, warning or critical")
      ->type_name("LEVEL")
      ->capture_default_str();
  CLI::Option* json = verb->add_flag("--json", arguments->json, "Print the report as JSON");
  verb->add_option("--sarif", arguments->sarif,
                   "Also write the findings as SARIF 2.1.0 to this file (- for standard output)")
      ->type_name("FILE");
  verb->add_option("--html", arguments->html,
                   "Also write one HTML file with the diagnosis and its charts (- for standard output)")
      ->type_name("FILE");
  verb->add_flag("--tree", arguments->tree,
                 "Also print the run's path through the diagnosis tree (osler explain tree)");
  verb->add_flag("--layers", arguments->layers,
                 "Also print every layer, from input to output, with its figures and status");
  verb->add_flag("-v,--verbose", arguments->look.verbose, "Print everything, not just what fits on a screen");
  verb->add_flag("-q,--quiet", arguments->quiet, "Print errors only; the exit code has the verdict")->excludes(json);
  add_look_options(*verb, arguments->look);
  verb->callback([arguments, &work] { work = [arguments] { return run_diagnose(*arguments); }; });
}

}  // namespace

namespace verb {
Verb diagnose() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
