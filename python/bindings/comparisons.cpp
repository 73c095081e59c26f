// Runs beside others: comparisons of two, baselines of many; and figures as files.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/reports.h"
#include "osler/diagnosis/compare.h"
#include "osler/diagnosis/measures.h"
#include "osler/figures/figure.h"
#include "osler/report/baseline.h"
#include "osler/report/comparison.h"

namespace osler::python {
namespace {

namespace py = pybind11;

Error wrong(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message), {}};
}

Comparison compared_runs(const Run& a, const Run& b, const std::string& axis,
                         const std::map<std::string, std::string>& roles,
                         const std::map<std::string, double>& settings) {
  CompareOptions options;
  options.diagnosis = options_of(roles, settings, {});
  const std::optional<Axis> along = axis == "automatic" ? Axis::automatic : axis_from(axis);
  if (!along) throw Failure{wrong("there is no axis '" + axis + "'; there are: automatic, step, epoch, tokens")};
  options.axis = *along;
  Result<Comparison> comparison = Comparison{};
  {
    const py::gil_scoped_release unlocked;
    comparison = compare(a, b, options);
  }
  return taken(std::move(comparison));
}

ReferenceRanges learned(const std::vector<std::shared_ptr<Run>>& runs, std::size_t fewest, const std::string& name) {
  std::vector<MeasuredRun> measured;
  {
    const py::gil_scoped_release unlocked;
    for (const auto& run : runs) {
      if (Result<MeasuredRun> one = measure(*run)) measured.push_back(std::move(*one));
    }
  }
  if (measured.size() < fewest) {
    throw Failure{wrong(std::to_string(measured.size()) + " runs can be learned from; at least " +
                        std::to_string(fewest) + " are needed")};
  }
  ReferenceRanges ranges = learn_ranges(measured, fewest);
  ranges.name = name;
  return ranges;
}

Result<Figure> figure_of(const Run& run, const Report& report, const std::string& kind, const std::string& about,
                         const FigureWish& wish) {
  if (kind == "curves") return curves_figure(run, report, wish);
  if (kind == "gradients") return gradients_figure(run, report, wish);
  if (kind == "heatmap") return heatmap_figure(run, report, wish);
  if (kind == "ridge") return ridge_figure(run, report, wish);
  if (kind == "overview") return overview_figure(run, report, wish);
  if (kind == "finding") return finding_figure(run, report, about, wish);
  if (kind == "experiment") {
    const std::optional<Experiment> found = experiment(run, about);
    return found ? experiment_figure(*found) : wrong("the run has no experiment '" + about + "'");
  }
  return wrong("there is no kind '" + kind + "'; there are: curves, gradients, heatmap, ridge, overview");
}

py::bytes drawn(const Run& run, const Report& report, const std::string& kind, const std::string& about,
                const std::vector<std::string>& series, std::optional<std::int64_t> from,
                std::optional<std::int64_t> to, const std::string& type, int width, bool dark) {
  FigureWish wish;
  wish.series = series;
  wish.from = from;
  wish.to = to;
  FigureStyle style;
  style.width = width;
  style.theme = dark ? FigureTheme::dark : FigureTheme::light;
  const std::optional<FigureType> form = figure_type_of("figure." + type);
  if (!form) throw Failure{wrong("figures are png, svg or pdf, not '" + type + "'")};
  Result<std::string> bytes = std::string{};
  {
    const py::gil_scoped_release unlocked;
    const Result<Figure> figure = figure_of(run, report, kind, about, wish);
    bytes = figure ? render(*figure, *form, style) : Result<std::string>(figure.error());
  }
  return taken(std::move(bytes));
}

}  // namespace

void add_comparisons(py::module_& module) {
  py::class_<Comparison, std::shared_ptr<Comparison>>(module, "Comparison")
      .def("json", [](const Comparison& comparison) { return render_json(comparison); })
      .def("text", [](const Comparison& comparison, int width, bool colour, bool unicode) {
        TextOptions options;
        options.width = width;
        options.colour = colour;
        options.unicode = unicode;
        return render_text(comparison, options);
      });
  py::class_<ReferenceRanges, std::shared_ptr<ReferenceRanges>>(module, "Baseline")
      .def_readonly("name", &ReferenceRanges::name)
      .def_readonly("runs", &ReferenceRanges::runs)
      .def("json", [](const ReferenceRanges& ranges) { return render_baseline(ranges); })
      .def("text", [](const ReferenceRanges& ranges) { return render_ranges(ranges); });
  module.def("compare", &compared_runs);
  module.def("learn_baseline", &learned);
  module.def("read_baseline",
             [](const std::string& text, const std::string& name) { return taken(parse_baseline(text, name)); });
  module.def("built_in_baseline", [] { return built_in_ranges(); });
  module.def("draw", &drawn);
}

}  // namespace osler::python
