// osler plot: draws the curves of a run, with what the diagnosis found marked in them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>

#include "cli/drawing.h"
#include "cli/program.h"
#include "cli/reading.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "cli/wishes.h"
#include "osler/report/figure.h"
#include "osler/run/experiment.h"

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
  std::string kind;
  std::string finding;
  std::string experiment;
  std::string output;
  std::string format;
  std::string theme = "light";
  std::vector<std::string> series;
  Wishes wishes;
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
  bool log = false;
  bool linear = false;
  FigureStyle style;
};

struct Kind {
  const char* name;
  Result<Figure> (*draw)(const Run&, const Report&, const FigureWish&);
};
constexpr std::array kKinds = {Kind{"curves", curves_figure}, Kind{"gradients", gradients_figure},
                               Kind{"heatmap", heatmap_figure}, Kind{"ridge", ridge_figure},
                               Kind{"overview", overview_figure}};

Result<const Kind*> to_kind(const std::string& word) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) {
    if (kind.name == word) return &kind;
    names.emplace_back(kind.name);
  }
  return Error{
      ErrorCode::invalid_argument,
      fmt::format("cannot draw '{}'{}; there are: {}", word, did_you_mean(word, names), fmt::join(names, ", ")),
      "--kind"};
}

/// Fails with the names most like it when a series is not in the run.
Result<void> check_names(const std::vector<std::string>& wanted, const Run& run) {
  for (const std::string& name : wanted) {
    if (run.find(name) != nullptr) continue;
    std::vector<std::string> names;
    for (const Series& series : run.all_series()) names.push_back(series.name());
    const std::string hint = did_you_mean(name, names);
    names.resize(std::min<std::size_t>(names.size(), 8));
    return Error{ErrorCode::not_found,
                 fmt::format("no series '{}'{}", name,
                             hint.empty() ? fmt::format("; the run has {}", fmt::join(names, ", ")) : hint),
                 run.name};
  }
  return {};
}

/// The figure of an experiment that the run holds.
Result<Figure> draw_experiment(const std::string& probe, const Run& run) {
  if (const auto found = experiment(run, probe)) return experiment_figure(*found);
  std::vector<std::string> names;
  for (const Experiment& each : experiments(run)) names.push_back(each.probe);
  return Error{ErrorCode::not_found,
               names.empty() ? std::string("the run holds no experiment; the probes of osler::torch write them")
                             : fmt::format("no experiment '{}'{}; the run holds {}", probe, did_you_mean(probe, names),
                                           fmt::join(names, ", ")),
               run.name};
}

Result<Figure> draw(const Arguments& arguments, const Run& run) {
  if (!arguments.experiment.empty()) return draw_experiment(arguments.experiment, run);
  const auto options = to_options(arguments.wishes);
  if (!options) return options.error();
  if (const auto known = check_series(*options, run); !known) return known.error();
  if (const auto known = check_names(arguments.series, run); !known) return known.error();
  const auto report = diagnose(run, *options);
  if (!report) return report.error();
  FigureWish wish;
  wish.series = arguments.series;
  wish.from = arguments.from;
  wish.to = arguments.to;
  wish.roles = options->roles;
  using Scale = figure::Lines::Scale;
  wish.scale = arguments.log ? Scale::log : arguments.linear ? Scale::linear : Scale::automatic;
  if (!arguments.finding.empty()) return finding_figure(run, *report, arguments.finding, wish);
  const auto kind = to_kind(arguments.kind);
  if (!kind) return kind.error();
  return (*kind)->draw(run, *report, wish);
}

/// The file that was written.
Result<std::string> plot(const Arguments& arguments) {
  const auto theme = to_theme(arguments.theme);
  if (!theme) return theme.error();
  if (const auto kind = to_kind(arguments.kind); !kind) return kind.error();
  if (const auto format = check_format(arguments.format); !format) return format.error();
  if (!arguments.output.empty()) {
    if (const auto type = output_type(arguments.output); !type) return type.error();
  }
  if (!arguments.finding.empty() && find_finding(arguments.finding) == nullptr) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("no finding '{}'{}", arguments.finding, did_you_mean(arguments.finding, finding_ids())),
                 "--finding"};
  }
  const auto run = read_only_run(arguments.path, arguments.format, arguments.kind == "ridge");
  if (!run) return run.error();
  const auto figure = draw(arguments, *run);
  if (!figure) return figure.error();
  const std::string what = !arguments.experiment.empty() ? arguments.experiment
                           : !arguments.finding.empty()  ? arguments.finding
                                                         : arguments.kind;
  const std::string output = arguments.output.empty() ? default_output(*run, what + ".png") : arguments.output;
  FigureStyle style = arguments.style;
  style.theme = *theme;
  const auto bytes = render(*figure, *output_type(output), style);
  if (!bytes) return bytes.error();
  if (const auto written = write_output(output, *bytes); !written) return written.error();
  return output;
}

int run_plot(const Arguments& arguments) {
  const auto output = plot(arguments);
  if (!output) {
    complain(describe(output.error()));
    return kCannotJudge;
  }
  return print(*output + "\n") ? kFine : kCannotJudge;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("plot", "Draw a run's curves with the findings marked, as PNG, SVG or PDF");
  auto arguments = std::make_shared<Arguments>();
  arguments->kind = "curves";
  verb->footer(kFooter);
  verb->add_option("RUN", arguments->path, "A log, a run's folder, or - for standard input")->required()->type_name("");
  CLI::Option* series =
      verb->add_option("--series", arguments->series, "Series to draw, by name, with commas between them")
          ->delimiter(',')
          ->type_name("A,B")
          ->allow_extra_args(false);
  CLI::Option* kind = verb->add_option("--kind", arguments->kind, "curves, gradients, heatmap, ridge or overview")
                          ->type_name("KIND")
                          ->capture_default_str();
  CLI::Option* finding =
      verb->add_option("--finding", arguments->finding, "Draw the evidence for this finding (osler list findings)")
          ->type_name("ID")
          ->excludes(kind)
          ->excludes(series);
  verb->add_option("--experiment", arguments->experiment, "Draw what a probe measured, for example lr-range-test")
      ->type_name("PROBE")
      ->excludes(kind)
      ->excludes(series)
      ->excludes(finding);
  verb->add_option("-o,--output", arguments->output, "The file: .png, .svg or .pdf; without it, named after the run")
      ->type_name("FILE");
  CLI::Option* log = verb->add_flag("--log", arguments->log, "Logarithmic value axis; chosen by the values without it");
  verb->add_flag("--linear", arguments->linear, "Linear value axis")->excludes(log);
  verb->add_option("--from", arguments->from, "First step to show")->type_name("STEP");
  verb->add_option("--to", arguments->to, "Last step to show")->type_name("STEP");
  verb->add_option("--theme", arguments->theme, "light or dark")->type_name("NAME")->capture_default_str();
  verb->add_option("--width", arguments->style.width, "Width in pixels before --scale, or in points")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--height", arguments->style.height, "Height; without it, what the panels need")->type_name("N");
  verb->add_option("--scale", arguments->style.scale, "Pixels per unit of a PNG: 2 is sharp on any screen")
      ->type_name("X")
      ->capture_default_str();
  verb->add_option("--role", arguments->wishes.roles, "What a series means, for example train-loss=my_obj; repeatable")
      ->type_name("ROLE=SERIES")
      ->allow_extra_args(false);
  verb->add_option("--set", arguments->wishes.settings, "Change a setting of the diagnosis; repeatable")
      ->type_name("FINDING.SETTING=NUMBER")
      ->allow_extra_args(false);
  verb->add_option("--format", arguments->format, "Read as this format instead of looking (osler list formats)")
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
