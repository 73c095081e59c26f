// What is drawn of a run, where a figure goes, and how it looks.
#include "cli/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "cli/suggest.h"
#include "osler/diagnosis/catalogue.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/run/experiment.h"

namespace osler::cli {
namespace {

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

/// Letters, digits, dots and underscores as they are; everything else, in runs, becomes one dash.
std::string plain(std::string_view name) {
  constexpr std::size_t kLongest = 80;
  std::string out;
  for (const char c : name.substr(0, kLongest)) {
    const bool fine = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (fine) {
      out.push_back(c);
    } else if (!out.empty() && out.back() != '-') {
      out.push_back('-');
    }
  }
  while (!out.empty() && (out.back() == '-' || out.back() == '.')) out.pop_back();
  return out.empty() || out.front() == '.' ? "run" + out : out;
}

}  // namespace

Result<void> check(const Drawing& drawing) {
  if (const auto kind = to_kind(drawing.kind); !kind) return kind.error();
  if (drawing.finding.empty() || find_finding(drawing.finding) != nullptr) return {};
  return Error{ErrorCode::invalid_argument,
               fmt::format("no finding '{}'{}", drawing.finding, did_you_mean(drawing.finding, finding_ids())),
               "--finding"};
}

Result<Figure> draw(const Drawing& drawing, const Run& run) {
  if (!drawing.experiment.empty()) return draw_experiment(drawing.experiment, run);
  const auto options = to_options(drawing.wishes);
  if (!options) return options.error();
  if (const auto known = check_series(*options, run); !known) return known.error();
  if (const auto known = check_names(drawing.series, run); !known) return known.error();
  const auto report = diagnose(run, *options);
  if (!report) return report.error();
  FigureWish wish;
  wish.series = drawing.series;
  wish.from = drawing.from;
  wish.to = drawing.to;
  wish.roles = roles_for(run, *options);
  using Scale = figure::Lines::Scale;
  wish.scale = drawing.log ? Scale::log : drawing.linear ? Scale::linear : Scale::automatic;
  if (!drawing.finding.empty()) return finding_figure(run, *report, drawing.finding, wish);
  const auto kind = to_kind(drawing.kind);
  if (!kind) return kind.error();
  return (*kind)->draw(run, *report, wish);
}

std::string default_output(const Run& run, std::string_view ending) {
  const std::filesystem::path path = run.name == "-" || run.name.empty() ? "run" : run.name;
  const std::string name = path.filename().empty() ? path.parent_path().filename().string() : path.stem().string();
  return plain(name) + "-" + std::string(ending);
}

Result<FigureType> output_type(const std::string& path) {
  if (const auto type = figure_type_of(path)) return *type;
  return Error{ErrorCode::invalid_argument, "the name must end in .png, .svg or .pdf", path};
}

Result<FigureTheme> to_theme(const std::string& word) {
  if (word == "light") return FigureTheme::light;
  if (word == "dark") return FigureTheme::dark;
  return Error{ErrorCode::invalid_argument, fmt::format("no theme '{}'; there are: light, dark", word), "--theme"};
}

}  // namespace osler::cli
