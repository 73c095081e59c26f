// osler compare: where two runs part, and what differs between them.
#include "osler/diagnosis/compare.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/program.h"
#include "cli/reading.h"
#include "cli/terminal.h"
#include "cli/wishes.h"
#include "osler/report/comparison.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  osler compare good/ bad/                   the first step and series at which they part
  osler compare good.csv bad.csv --align epoch
  osler compare good.csv bad.csv --json | jq .first
  osler compare baseline/ new/ --fail-on worse && echo "no worse than the baseline"

The first run may be a known good baseline. A difference counts when it is several standard errors large (noise of both
runs), lasts, and matters against what the runs gained. A second run that crashed, turned NaN, is critical where the
first is not, or stopped early is worse whatever its numbers were before.

Exit codes: 0 compared, 1 the second run is worse (with --fail-on worse), 2 cannot compare.)";

struct Arguments {
  std::string a;
  std::string b;
  Wishes wishes;
  Look look;
  std::string axis = "auto";
  std::string fail_on = "never";
  bool json = false;
};

int fail(const Error& error) {
  complain(error);
  return kCannotJudge;
}

int run_compare(const Arguments& arguments) {
  CompareOptions options;
  auto diagnosis = to_options(arguments.wishes);
  if (!diagnosis) return fail(diagnosis.error());
  options.diagnosis = std::move(*diagnosis);
  const auto axis = axis_from(arguments.axis);
  if (!axis) return fail({ErrorCode::invalid_argument, "align by auto, step, epoch or tokens", arguments.axis});
  options.axis = *axis;
  if (arguments.fail_on != "never" && arguments.fail_on != "worse" && arguments.fail_on != "not-better") {
    return fail({ErrorCode::invalid_argument, "--fail-on takes never, worse or not-better", arguments.fail_on});
  }
  const auto a = read_only_run(arguments.a, arguments.wishes.format);
  if (!a) return fail(a.error());
  const auto b = read_only_run(arguments.b, arguments.wishes.format);
  if (!b) return fail(b.error());
  const auto comparison = compare(*a, *b, options);
  if (!comparison) return fail(comparison.error());
  const std::string text =
      arguments.json ? render_json(*comparison) : render_text(*comparison, text_options(arguments.look));
  if (!print(text)) return kCannotJudge;
  const bool worse = comparison->standing == Standing::worse;
  const bool not_better = comparison->standing != Standing::better;
  if (arguments.fail_on != "never" && comparison->standing == Standing::unclear) {
    return fail({ErrorCode::not_found, "the runs share no loss or metric by which one could be called worse", {}});
  }
  return (arguments.fail_on == "worse" && worse) || (arguments.fail_on == "not-better" && not_better) ? kSick : kFine;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("compare", "Find where two runs part and what differs between them");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  verb->add_option("FIRST", arguments->a, "A run: a file or a folder that holds one run")->required()->type_name("");
  verb->add_option("SECOND", arguments->b, "The run to compare with it")->required()->type_name("");
  verb->add_option("--align", arguments->axis, "Align the runs by auto, step, epoch or tokens")
      ->type_name("AXIS")
      ->capture_default_str();
  verb->add_option("--fail-on", arguments->fail_on, "Exit with 1 when the second is worse, or is not-better")
      ->type_name("WHEN")
      ->capture_default_str();
  add_wish_options(*verb, arguments->wishes);
  verb->add_flag("--json", arguments->json, "Print JSON, with both reports");
  verb->add_flag("-v,--verbose", arguments->look.verbose, "Print every series and setting, and both reports in full");
  add_look_options(*verb, arguments->look);
  verb->callback([arguments, &work] { work = [arguments] { return run_compare(*arguments); }; });
}

}  // namespace

namespace verb {
Verb compare() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
