// Reports: the diagnosis of a run, its forms, and the pages of the catalogue.
#include "bindings/reports.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "osler/diagnosis/catalogue.h"
#include "osler/diagnosis/stop_rule.h"
#include "osler/figures/figure.h"
#include "osler/formats/format.h"
#include "osler/report/layers.h"
#include "osler/report/render.h"
#include "osler/report/tree.h"
#include "report/document.h"

namespace osler::python {
namespace {

namespace py = pybind11;

TextOptions text_options(int width, bool colour, bool verbose, bool unicode) {
  TextOptions options;
  options.width = width;
  options.colour = colour;
  options.verbose = verbose;
  options.unicode = unicode;
  return options;
}

Report diagnosed(const Run& run, const std::map<std::string, std::string>& roles,
                 const std::map<std::string, double>& settings, const std::vector<std::string>& only,
                 const std::shared_ptr<ReferenceRanges>& baseline, bool layers) {
  DiagnosisOptions options = options_of(roles, settings, only);
  options.layers = layers;
  if (baseline) options.baseline = *baseline;
  Result<Report> report = Report{};
  {
    const py::gil_scoped_release unlocked;
    report = diagnose(run, options);
  }
  return taken(std::move(report));
}

std::string overview_svg(const Run& run, const Report& report, int width) {
  Result<std::string> drawn = std::string{};
  {
    const py::gil_scoped_release unlocked;
    auto figure = overview_figure(run, report);
    if (figure) {
      FigureStyle style;
      style.width = width;
      drawn = render(*figure, FigureType::svg, style);
    } else {
      drawn = figure.error();
    }
  }
  return taken(std::move(drawn));
}

/// The title of every finding and cause; a cause that shares a finding's id has the same thing in mind.
std::map<std::string, std::string> titles() {
  std::map<std::string, std::string> all;
  for (const auto& [stem, finding] : findings()) all.emplace(finding.id, finding.title);
  for (const auto& [stem, cause] : causes()) all.insert_or_assign(std::string(cause.id), std::string(cause.title));
  return all;
}

/// The curves that a reader would want to see, column by column.
py::list sketches_of(const Report& report) {
  py::list all;
  for (const Sketch& sketch : report.sketches) {
    std::vector<std::int64_t> steps;
    std::vector<double> low;
    std::vector<double> high;
    std::vector<double> mean;
    std::vector<std::uint64_t> nonfinite;
    for (const Sketch::Column& column : sketch.columns) {
      steps.push_back(column.step);
      low.push_back(column.low);
      high.push_back(column.high);
      mean.push_back(column.mean);
      nonfinite.push_back(column.nonfinite);
    }
    all.append(py::make_tuple(sketch.series, sketch.role, steps, low, high, mean, nonfinite));
  }
  return all;
}

/// Every page with that id: a finding and a cause may share one, and then both are given.
std::vector<std::string> pages_of(const std::string& id, const TextOptions& options) {
  std::vector<std::string> pages;
  if (id == "tree") pages.push_back(render_tree(options));
  if (const Finding* finding = find_finding(id)) pages.push_back(render_page(*finding, options));
  if (const Cause* cause = find_cause(id)) pages.push_back(render_page(*cause, options));
  if (const Format* format = find_format(id)) {
    pages.push_back(layout::render_document({format->title, "format", format->id}, format->doc, options));
  }
  const std::size_t dot = id.find('.');
  const Finding* const owner = dot == std::string::npos ? nullptr : find_finding(id.substr(0, dot));
  if (owner == nullptr) return pages;
  for (const Setting& setting : owner->settings) {
    if (setting.name == id.substr(dot + 1)) pages.push_back(render_page(*owner, setting, options));
  }
  return pages;
}

template <typename Table>
std::vector<std::string> ids_of(const Table& table) {
  std::vector<std::string> ids;
  for (const auto& [stem, descriptor] : table) ids.emplace_back(descriptor.id);
  return ids;
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const auto& [stem, finding] : findings()) {
    for (const Setting& setting : finding.settings) {
      names.push_back(std::string(finding.id) + "." + std::string(setting.name));
    }
  }
  return names;
}

}  // namespace

DiagnosisOptions options_of(const std::map<std::string, std::string>& roles,
                            const std::map<std::string, double>& settings, const std::vector<std::string>& only) {
  DiagnosisOptions options;
  for (const auto& [name, series] : roles) {
    const std::optional<Role> role = role_from(name);
    if (!role) throw Failure{{ErrorCode::invalid_argument, "there is no role '" + name + "'", ""}};
    options.roles.push_back({*role, series});
  }
  for (const auto& [name, value] : settings) options.settings[name] = value;
  options.only = only;
  return options;
}

void add_reports(py::module_& module) {
  py::class_<Report, std::shared_ptr<Report>>(module, "Report")
      .def("json", [](const Report& report) { return render_json(report); })
      .def("sarif",
           [](const Report& report) {
             return render_sarif({&report, 1});
           })
      .def("sketches", &sketches_of)
      .def("layers_text",
           [](const Report& report, int width, bool colour, bool verbose, bool unicode) {
             return render_layers(report, text_options(width, colour, verbose, unicode));
           })
      .def("text", [](const Report& report, int width, bool colour, bool verbose, bool unicode) {
        return render_text(report, text_options(width, colour, verbose, unicode));
      });
  py::class_<StopJudge>(module, "StopJudge")
      .def(py::init([](std::uint64_t points) { return StopJudge(StopRule{.points = points}); }), py::arg("points"))
      .def("look", [](StopJudge& judge, const Report& report, const Run& run) {
        const auto reason = judge.look(report, run);
        return reason ? std::optional(to_line(*reason)) : std::nullopt;
      });
  module.def("diagnose", &diagnosed, py::arg("run"), py::arg("roles"), py::arg("settings"), py::arg("only"),
             py::arg("baseline") = nullptr, py::arg("layers") = false);
  module.def("overview_svg", &overview_svg, py::arg("run"), py::arg("report"), py::arg("width"));
  module.def("pages", [](const std::string& id, int width, bool colour, bool unicode) {
    return pages_of(id, text_options(width, colour, /*verbose=*/false, unicode));
  });
  module.def("findings", [] { return ids_of(findings()); });
  module.def("causes", [] { return ids_of(causes()); });
  module.def("settings", &setting_names);
  module.def("titles", &titles);
}

}  // namespace osler::python
