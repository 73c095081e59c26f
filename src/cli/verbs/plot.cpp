// osler plot: draws the curves of a run, with what the diagnosis found marked in them.
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

constexpr const char* kFooter = R"(Kinds:
  curves      losses, or the series of --series, one panel for each kind of value
  gradients   the gradient norm of each layer, with the lines of vanishing and exploding
  heatmap     layers by time: gradients, weights, updates, activations
  ridge       how the distribution of a tensor's values moves (logs with histograms)
  overview    losses, accuracy, gradient norm, learning rate and layers, one above the other

Findings are marked with their steps, restarts with a dotted line, NaN and Inf with crosses.

Examples:
  osler plot runs/exp42                                losses, as exp42-curves.png
  osler plot run.csv --kind overview -o run.pdf        everything, for a paper or a review
  osler plot run.csv --series loss,val_loss --log      these curves on a logarithmic axis
  osler plot run.csv --finding loss-spikes             the evidence for one finding
  osler plot run.osler --experiment lr-range-test      what a probe measured
  osler plot run.csv --kind gradients --from 1000 --to 2000 -o zoom.svg
  osler plot run.csv --theme dark --width 1400)";

struct Arguments {
  std::string path;
  std::string output;
  std::string theme = "light";
  Drawing drawing;
  FigureStyle style;
};

/// The file that was written.
Result<std::string> plot(const Arguments& arguments) {
  const auto theme = to_theme(arguments.theme);
  if (!theme) return theme.error();
  const Drawing& drawing = arguments.drawing;
  if (const auto known = check(drawing); !known) return known.error();
  if (const auto format = check_format(drawing.wishes.format); !format) return format.error();
  if (!arguments.output.empty()) {
    if (const auto type = output_type(arguments.output); !type) return type.error();
  }
  const auto run = read_only_run(arguments.path, drawing.wishes.format);
  if (!run) return run.error();
  const auto figure = draw(drawing, *run);
  if (!figure) return figure.error();
  const std::string what = !drawing.experiment.empty() ? drawing.experiment
                           : !drawing.finding.empty()  ? drawing.finding
                                                       : drawing.kind;
  const std::string output = arguments.output.empty() ? default_output(*run, what + ".png") : arguments.output;
  FigureStyle style = arguments.style;
  style.theme = *theme;
  const auto bytes = render(*figure, *output_type(output), style);
  if (!bytes) return bytes.error();
  if (const auto written = write_output(output, *bytes, run->sources); !written) return written.error();
  return output;
}

int run_plot(const Arguments& arguments) {
  const auto output = plot(arguments);
  if (!output) {
    complain(output.error());
    return kCannotJudge;
  }
  return print(*output + "\n") ? kFine : kCannotJudge;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("plot", "Draw a run's curves with the findings marked, as PNG, SVG or PDF");
  auto arguments = std::make_shared<Arguments>();
  Drawing& drawing = arguments->drawing;
  verb->footer(kFooter);
  verb->add_option("RUN", arguments->path, "A log, a run's folder, or - for standard input")->required()->type_name("");
  CLI::Option* series = verb->add_option("--series", drawing.series, "Series to draw, separated by commas")
                            ->delimiter(',')
                            ->type_name("A,B")
                            ->allow_extra_args(false);
  CLI::Option* kind = verb->add_option("--kind", drawing.kind, "curves, gradients, heatmap, ridge or overview")
                          ->type_name("KIND")
                          ->capture_default_str();
  CLI::Option* finding =
      verb->add_option("--finding", drawing.finding, "Draw the evidence for this finding (osler list findings)")
          ->type_name("ID")
          ->excludes(kind)
          ->excludes(series);
  verb->add_option("--experiment", drawing.experiment, "Draw what a probe measured, for example lr-range-test")
      ->type_name("PROBE")
      ->excludes(kind)
      ->excludes(series)
      ->excludes(finding);
  verb->add_option("-o,--output", arguments->output, "The file: .png, .svg or .pdf (default: named after the run)")
      ->type_name("FILE");
  CLI::Option* log = verb->add_flag("--log", drawing.log, "Logarithmic value axis (default: chosen from the values)");
  verb->add_flag("--linear", drawing.linear, "Linear value axis")->excludes(log);
  verb->add_option("--from", drawing.from, "First step to show")->type_name("STEP");
  verb->add_option("--to", drawing.to, "Last step to show")->type_name("STEP");
  verb->add_option("--theme", arguments->theme, "light or dark")->type_name("NAME")->capture_default_str();
  verb->add_option("--width", arguments->style.width, "Width in pixels before --scale, or in points")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--height", arguments->style.height, "Height (default: what the panels need)")->type_name("N");
  verb->add_option("--scale", arguments->style.scale, "Pixels per unit of a PNG: 2 is sharp on any screen")
      ->type_name("X")
      ->capture_default_str();
  verb->add_option("--role", drawing.wishes.roles, "What a series means, for example train-loss=my_obj; repeatable")
      ->type_name("ROLE=SERIES")
      ->allow_extra_args(false);
  verb->add_option("--set", drawing.wishes.settings, "Change a setting of the diagnosis; repeatable")
      ->type_name("FINDING.SETTING=NUMBER")
      ->allow_extra_args(false);
  verb->add_option("--format", drawing.wishes.format, "Read as this format instead of looking (osler list formats)")
      ->type_name("ID");
  verb->callback([arguments, &work] { work = [arguments] { return run_plot(*arguments); }; });
}

}  // namespace

namespace verb {
Verb plot() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
