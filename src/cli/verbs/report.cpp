// osler report: the diagnosis of a run as a document to hand on.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/drawing.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/reading.h"
#include "cli/terminal.h"
#include "cli/wishes.h"
#include "osler/figures/figure.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter =
    R"(One or two A4 pages: the verdict, the curves that show it, findings with their evidence, causes with
what speaks for and against each, what to do, and what could not be checked. A PNG or SVG holds the
first page.

Examples:
  osler report runs/exp42                    as exp42-report.pdf
  osler report run.csv -o incident.pdf       for the incident review
  osler report run.csv -o page.png           the first page as a picture
  osler report run.csv --role train-loss=my_objective

The exit code is 0 when the document was written, whatever it says; osler diagnose judges by its own.)";

struct Arguments {
  std::string path;
  std::string output;
  std::string format;
  std::string theme = "light";
  Wishes wishes;
};

/// The file that was written.
Result<std::string> write_report(const Arguments& arguments) {
  const auto options = to_options(arguments.wishes);
  if (!options) return options.error();
  const auto theme = to_theme(arguments.theme);
  if (!theme) return theme.error();
  if (const auto format = check_format(arguments.format); !format) return format.error();
  if (!arguments.output.empty()) {
    if (const auto type = output_type(arguments.output); !type) return type.error();
  }
  const auto run = read_only_run(arguments.path, arguments.format);
  if (!run) return run.error();
  if (const auto known = check_series(*options, *run); !known) return known.error();
  const auto report = diagnose(*run, *options);
  if (!report) return report.error();
  const std::string output = arguments.output.empty() ? default_output(*run, "report.pdf") : arguments.output;
  const auto bytes = render_report(*run, *report, *output_type(output), *theme);
  if (!bytes) return bytes.error();
  if (const auto written = write_output(output, *bytes, run->sources); !written) return written.error();
  return output;
}

int run_report(const Arguments& arguments) {
  const auto output = write_report(arguments);
  if (!output) {
    complain(output.error());
    return kCannotJudge;
  }
  return print(*output + "\n") ? kFine : kCannotJudge;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb =
      program.add_subcommand("report", "Write the diagnosis of a run as a PDF with its figures, or as PNG");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  verb->add_option("RUN", arguments->path, "A log, a run's folder, or - for standard input")->required()->type_name("");
  verb->add_option("-o,--output", arguments->output, "The file: .pdf, .png or .svg (default: named after the run)")
      ->type_name("FILE");
  verb->add_option("--theme", arguments->theme, "light or dark")->type_name("NAME")->capture_default_str();
  verb->add_option("--role", arguments->wishes.roles, "What a series means, for example train-loss=my_obj; repeatable")
      ->type_name("ROLE=SERIES")
      ->allow_extra_args(false);
  verb->add_option("--set", arguments->wishes.settings, "Change a setting (osler explain FINDING); repeatable")
      ->type_name("FINDING.SETTING=NUMBER")
      ->allow_extra_args(false);
  verb->add_option("--format", arguments->format, "Read as this format instead of looking (osler list formats)")
      ->type_name("ID");
  verb->callback([arguments, &work] { work = [arguments] { return run_report(*arguments); }; });
}

}  // namespace

namespace verb {
Verb report() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
