// Recorder: the live front of a run, and the diagnosis of what it holds.
#include "osler/recorder/recorder.h"

#include <pybind11/stl.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/recording.h"
#include "bindings/reports.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/diagnosis/stop_rule.h"
#include "osler/runfile/reader.h"
#include "run/mark_kind.h"

namespace osler::python {
namespace {

namespace py = pybind11;

/// A recorder of this process. In a fork its thread does not exist, so there it is neither used nor closed.
class OwnRecorder {
 public:
  explicit OwnRecorder(Recorder recorder) : recorder_(std::make_unique<Recorder>(std::move(recorder))) {}
  OwnRecorder(const OwnRecorder&) = delete;
  OwnRecorder& operator=(const OwnRecorder&) = delete;
  ~OwnRecorder() {
    if (::getpid() != process_) {
      static_cast<void>(recorder_.release());
      return;
    }
    const py::gil_scoped_release unlocked;
    recorder_.reset();
  }

  [[nodiscard]] bool here() const { return ::getpid() == process_; }
  Recorder& operator*() { return *recorder_; }
  Recorder* operator->() { return recorder_.get(); }

 private:
  std::unique_ptr<Recorder> recorder_;
  pid_t process_ = ::getpid();
};

void log(OwnRecorder& recorder, std::int64_t step, const py::dict& values) {
  if (!recorder.here()) return;
  for (const auto& [name, value] : values) {
    recorder->scalar(step, py::cast<std::string>(name), py::cast<double>(value));
  }
}

}  // namespace

Recorder opened(const std::string& path, const std::string& name, const Destinations& others, bool resume) {
  const py::gil_scoped_release unlocked;
  std::vector<SinkPointer> sinks;
  Run before;
  if (!path.empty()) {
    if (resume) {
      auto run = read_run_file(path);
      if (run) before = std::move(*run);
    }
    sinks.push_back(taken(run_file_sink(path, name)));
  }
  FileSystem& files = real_file_system();
  for (const auto& [kind, place] : others) {
    if (kind == "csv") {
      sinks.push_back(taken(csv_sink(files, place)));
    } else if (kind == "jsonl") {
      sinks.push_back(taken(jsonl_sink(files, place)));
    } else if (kind == "tensorboard") {
      sinks.push_back(taken(tensorboard_sink(files, place)));
    } else if (kind == "wandb") {
      sinks.push_back(taken(wandb_sink(files, place)));
    } else {
      throw Failure{{ErrorCode::invalid_argument, "there is no sink '" + kind + "'", place}};
    }
  }
  RecorderOptions options;
  options.name = name;
  return taken(Recorder::open(std::move(options), std::move(sinks), std::move(before)));
}

Report report_of(Recorder& recorder, const DiagnosisOptions& options) {
  Result<Report> report = Error{ErrorCode::internal, "the run was not shown", {}};
  {
    const py::gil_scoped_release unlocked;
    recorder.visit([&](const Run& run) { report = diagnose(run, options); });
  }
  return taken(std::move(report));
}

void add_recorder(py::module_& module) {
  py::class_<OwnRecorder>(module, "Recorder")
      .def(py::init([](const std::string& path, const std::string& name, const Destinations& others, bool resume) {
        return std::make_unique<OwnRecorder>(opened(path, name, others, resume));
      }))
      .def("log", &log)
      .def("config",
           [](OwnRecorder& recorder, const std::string& key, const std::string& value) {
             if (recorder.here()) recorder->config(key, value);
           })
      .def("mark",
           [](OwnRecorder& recorder, const std::string& kind, std::int64_t step, const std::string& text) {
             if (recorder.here()) recorder->mark(mark_kind(kind), step, text);
           })
      .def("report",
           [](OwnRecorder& recorder, const std::map<std::string, std::string>& roles,
              const std::map<std::string, double>& settings,
              const std::vector<std::string>& only) { return report_of(*recorder, options_of(roles, settings, only)); })
      .def("judge",
           [](OwnRecorder& recorder, StopJudge& judge, const Report& report) {
             std::optional<std::string> why;
             const py::gil_scoped_release unlocked;
             recorder->visit([&](const Run& run) {
               if (const auto reason = judge.look(report, run)) why = to_line(*reason);
             });
             return why;
           })
      .def("flush",
           [](OwnRecorder& recorder) {
             if (!recorder.here()) return;
             const py::gil_scoped_release unlocked;
             taken(recorder->flush());
           })
      .def("close", [](OwnRecorder& recorder) {
        if (!recorder.here()) return;
        const py::gil_scoped_release unlocked;
        taken(recorder->close());
      });
}

}  // namespace osler::python
