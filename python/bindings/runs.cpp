// Runs: reading logs and run files, and making a run of columns.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "history/kept_points.h"
#include "osler/base/file_system.h"
#include "osler/formats/format.h"
#include "osler/formats/read.h"
#include "osler/run/role.h"
#include "osler/source/source.h"

namespace osler::python {
namespace {

namespace py = pybind11;
using RunPointer = std::shared_ptr<Run>;

/// Ctrl-C while the interpreter's lock is let go: asked for now and then, it ends the reading.
class Interruption {
 public:
  void look() {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() == 0) return;
    happened_ = true;
    stop_.request_stop();
  }
  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  /// Lets the KeyboardInterrupt go on its way. With the lock held.
  void pass_on() const {
    if (happened_) throw py::error_already_set();
  }

 private:
  std::stop_source stop_;
  bool happened_ = false;
};

/// Everything at a path, read. Without the interpreter's lock.
Result<std::vector<RunPointer>> read_all(const std::string& path, const ReadOptions& options) {
  const Sources sources = find_sources(real_file_system(), {path}, options);
  if (sources.runs.empty()) return not_one_run(sources, path);
  std::vector<RunPointer> runs;
  for (const Source& source : sources.runs) {
    if (options.stop.stop_requested()) break;
    auto run = read_source(real_file_system(), source, options);
    if (!run && source.log.doubtful) continue;  // lies beside logs and is none
    if (!run) return run.error();
    runs.push_back(std::make_shared<Run>(std::move(*run)));
  }
  return runs;
}

std::vector<RunPointer> read(const std::string& path, const std::string& format, std::size_t points) {
  if (!format.empty() && find_format(format) == nullptr) {
    throw Failure{{ErrorCode::invalid_argument, "there is no format '" + format + "'; see osler.formats()", path}};
  }
  ReadOptions options;
  options.format = format;
  if (points > 0) {
    options.limits.per_series.buckets = std::max<std::size_t>(points, 3);
    options.limits.buckets_in_all = std::max(options.limits.buckets_in_all, points * 64);
  }
  Interruption interruption;
  options.stop = interruption.token();
  options.progress = [&](const ReadProgress&) { interruption.look(); };
  Result<std::vector<RunPointer>> runs = std::vector<RunPointer>{};
  {
    const py::gil_scoped_release unlocked;
    runs = read_all(path, options);
  }
  interruption.pass_on();
  return taken(std::move(runs));
}

/// The runs at a path, found and not read.
std::vector<Source> find(const std::string& path) {
  Sources sources;
  {
    const py::gil_scoped_release unlocked;
    sources = find_sources(real_file_system(), {path});
  }
  if (sources.runs.empty()) throw Failure{not_one_run(sources, path)};
  return std::move(sources.runs);
}

RunPointer read_found(const Source& source) {
  Interruption interruption;
  ReadOptions options;
  options.stop = interruption.token();
  options.progress = [&](const ReadProgress&) { interruption.look(); };
  Result<Run> run = Run{};
  {
    const py::gil_scoped_release unlocked;
    run = read_source(real_file_system(), source, options);
  }
  interruption.pass_on();
  return std::make_shared<Run>(taken(std::move(run)));
}

/// The files of a run that was found. A run file's newest points may be in the file beside it.
std::vector<std::string> files_of(const Source& source) {
  if (!source.run_file.empty()) return {source.run_file, source.run_file + "-wal"};
  std::vector<std::string> files;
  for (const SourceFile& file : source.log.files) files.push_back(file.path.string());
  return files;
}

/// Takes the points of every series.
class PointKeeper final : public EventSink {
 public:
  SeriesId series(std::string_view name) override {
    const auto [at, fresh] = ids_.try_emplace(std::string(name), static_cast<SeriesId>(columns.size()));
    if (fresh) columns.push_back({std::string(name), {}, {}, {}});
    return at->second;
  }
  void add(const Event& event) override {
    Column& column = columns[event.series];
    column.steps.push_back(event.step);
    column.values.push_back(event.value);
    column.times.push_back(event.wall_time);
  }
  void add(Mark /*mark*/) override {}
  void config(std::string_view /*key*/, std::string_view /*value*/) override {}

  struct Column {
    std::string name;
    std::vector<std::int64_t> steps;
    std::vector<double> values;
    std::vector<double> times;
  };
  std::vector<Column> columns;

 private:
  std::map<std::string, SeriesId, std::less<>> ids_;
};

py::dict points_of(const Run& run) {
  PointKeeper keeper;
  {
    const py::gil_scoped_release unlocked;
    tell_kept_points(run, keeper);
  }
  py::dict all;
  for (PointKeeper::Column& column : keeper.columns) {
    all[py::str(column.name)] = py::make_tuple(py::cast(column.steps), py::cast(column.values), py::cast(column.times));
  }
  return all;
}

/// One column of a table as doubles, whatever its memory looks like.
struct ColumnView {
  SeriesId series = 0;
  const char* data = nullptr;
  py::ssize_t stride = 0;
  char kind = 'd';

  [[nodiscard]] double at(std::size_t row) const {
    const char* const place = data + static_cast<py::ssize_t>(row) * stride;
    if (kind == 'd') return *reinterpret_cast<const double*>(place);
    if (kind == 'f') return static_cast<double>(*reinterpret_cast<const float*>(place));
    return static_cast<double>(*reinterpret_cast<const std::int64_t*>(place));
  }
};

ColumnView view_of_column(const py::buffer_info& info, std::size_t rows) {
  ColumnView view;
  if (info.ndim != 1 || static_cast<std::size_t>(info.shape[0]) != rows) {
    throw py::value_error("all columns must have one dimension and the same length");
  }
  const char kind = info.format.size() == 1 ? info.format[0] : '?';
  if (kind == 'd' || kind == 'f') {
    view.kind = kind;
  } else if ((kind == 'l' || kind == 'q') && info.itemsize == sizeof(std::int64_t)) {
    view.kind = 'q';
  } else {
    throw py::type_error("columns are arrays of float64, float32 or int64");
  }
  view.data = static_cast<const char*>(info.ptr);
  view.stride = info.strides[0];
  return view;
}

/// Adds rows of a table. `present` has one byte for each cell of a column that has gaps, or is None.
void add_table(Run& run, const py::buffer& steps, const py::list& columns) {
  const py::buffer_info step_info = steps.request();
  const auto rows = static_cast<std::size_t>(step_info.ndim == 1 ? step_info.shape[0] : 0);
  const ColumnView step_view = view_of_column(step_info, rows);
  std::vector<py::buffer_info> held;
  std::vector<ColumnView> views;
  std::vector<ColumnView> masks;
  held.reserve(columns.size() * 2);
  for (const py::handle item : columns) {
    const auto column = py::cast<py::tuple>(item);
    held.push_back(py::cast<py::buffer>(column[1]).request());
    ColumnView view = view_of_column(held.back(), rows);
    view.series = run.series(py::cast<std::string>(column[0]));
    ColumnView mask;
    if (!column[2].is_none()) {
      held.push_back(py::cast<py::buffer>(column[2]).request());
      mask.data = static_cast<const char*>(held.back().ptr);
      mask.stride = held.back().strides.empty() ? 1 : held.back().strides[0];
      if (held.back().itemsize != 1 || static_cast<std::size_t>(held.back().size) != rows) {
        throw py::value_error("a mask has one byte for each row");
      }
    }
    views.push_back(view);
    masks.push_back(mask);
  }
  const py::gil_scoped_release unlocked;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto step = static_cast<std::int64_t>(step_view.at(row));
    for (std::size_t i = 0; i < views.size(); ++i) {
      if (masks[i].data != nullptr && masks[i].data[static_cast<py::ssize_t>(row) * masks[i].stride] == 0) continue;
      run.add(Event{views[i].series, step, kNoTime, views[i].at(row)});
    }
  }
}

std::vector<std::string> names_of(const Run& run) {
  std::vector<std::string> names;
  for (const Series& series : run.all_series()) names.push_back(series.name());
  return names;
}

}  // namespace

void add_runs(py::module_& module) {
  py::class_<Run, RunPointer>(module, "Run")
      .def(py::init([](const std::string& name) {
        auto run = std::make_shared<Run>();
        run->name = name;
        run->format = "python";
        return run;
      }))
      .def_readwrite("name", &Run::name)
      .def_readonly("sources", &Run::sources)
      .def_readonly("format", &Run::format)
      .def("series_names", &names_of)
      .def("points", &points_of)
      .def("steps",
           [](const Run& run) { return py::make_tuple(run.steps().first, run.steps().last, run.steps().count); })
      .def("configuration", [](const Run& run) { return run.configuration(); })
      .def("damage", [](const Run& run) { return run.damage.total(); })
      .def("add",
           [](Run& run, const std::string& name, std::int64_t step, double value) {
             run.add(Event{run.series(name), step, kNoTime, value});
           })
      .def("add_table", &add_table)
      .def("config", [](Run& run, const std::string& key, const std::string& value) { run.config(key, value); });
  py::class_<Source>(module, "Source")
      .def_readonly("name", &Source::name)
      .def_property_readonly("files", &files_of)
      .def_property_readonly("doubtful", [](const Source& source) { return source.log.doubtful; })
      .def("read", &read_found);
  module.def("find", &find, py::arg("path"));
  module.def("read", &read, py::arg("path"), py::arg("format"), py::arg("points"));
  module.def("formats", [] {
    std::vector<std::string> ids;
    for (const auto& [stem, format] : formats()) ids.emplace_back(format.id);
    return ids;
  });
  module.def("roles", [] {
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(Role::other); ++i) names.emplace_back(to_string(static_cast<Role>(i)));
    return names;
  });
}

}  // namespace osler::python
