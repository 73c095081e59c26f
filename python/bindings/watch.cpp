// StepWatch for Python: the monitor's cadence and measurements, over the parameters of a Python model.
#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/recording.h"
#include "bindings/reports.h"
#include "bindings/tensors.h"
#include "monitor/step_watch.h"
#include "osler/run/experiment.h"
#include "run/series_names.h"

namespace osler::python {
namespace {

namespace py = pybind11;
using monitor::BatchFacts;
using monitor::BatchView;
using monitor::ParameterInfo;
using monitor::StepVerdict;
using monitor::StepWatch;
using monitor::WatchOptions;

/// Views of the tensors of one step after the other; the memory stays.
class StepViews {
 public:
  void begin(std::size_t count) {
    if (kept_.size() != count) kept_.assign(count, {});
    ++step_;
  }
  /// The view of this step, which `made` gives when it is asked for first.
  template <typename Make>
  const std::optional<stats::TensorView>& at(std::size_t number, const Make& made) {
    Kept& kept = kept_[number];
    if (kept.step != step_) {
      kept.view = made();
      kept.step = step_;
    }
    return kept.view;
  }

 private:
  struct Kept {
    std::uint64_t step = 0;
    std::optional<stats::TensorView> view;
  };
  std::vector<Kept> kept_;
  std::uint64_t step_ = 0;
};

/// What outlives a step of what is made for it.
struct StepMemory {
  TensorReader reader;
  StepViews gradients;
  StepViews weights;
};

/// The parameters of a model in one step; each is asked for at most once.
class PythonSource final : public monitor::TensorSource {
 public:
  PythonSource(const py::list& parameters, StepMemory& memory) : parameters_(parameters), memory_(memory) {
    memory_.gradients.begin(parameters.size());
    memory_.weights.begin(parameters.size());
  }
  ~PythonSource() override { memory_.reader.release(); }

  std::optional<stats::TensorView> gradient(std::size_t number) override {
    return memory_.gradients.at(number, [&] { return memory_.reader.view(gradient_of(number)); });
  }
  bool has_gradient(std::size_t number) override { return !gradient_of(number).is_none(); }
  std::optional<stats::TensorView> weight(std::size_t number) override {
    return memory_.weights.at(number, [&] { return memory_.reader.view(parameters_[number]); });
  }
  void unlocked(const std::function<void()>& work) override {
    const py::gil_scoped_release released;
    work();
  }

 private:
  [[nodiscard]] py::object gradient_of(std::size_t number) const {
    static PyObject* const kName = PyUnicode_InternFromString("grad");
    PyObject* const gradient = PyObject_GetAttr(parameters_[number].ptr(), kName);
    if (gradient == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(gradient);
  }

  const py::list& parameters_;
  StepMemory& memory_;
};

/// A watch of this process; in a fork, such as a loader's worker, it keeps still.
class PythonWatch {
 public:
  PythonWatch(const WatchOptions& options, Recorder recorder, std::vector<ParameterInfo> parameters)
      : watch_(std::make_unique<StepWatch>(options, std::move(recorder), std::move(parameters))) {}
  PythonWatch(const PythonWatch&) = delete;
  PythonWatch& operator=(const PythonWatch&) = delete;
  ~PythonWatch() {
    if (::getpid() != process_) {
      static_cast<void>(watch_.release());
      return;
    }
    const py::gil_scoped_release unlocked;
    watch_.reset();
  }

  StepWatch* operator->() { return watch_.get(); }
  TensorReader& reader() { return memory_.reader; }
  StepMemory& memory() { return memory_; }
  /// For the parameters on the GPU that is watched.
  StepMemory& gpu_memory() { return gpu_memory_; }
  [[nodiscard]] bool here() const { return ::getpid() == process_; }

 private:
  std::unique_ptr<StepWatch> watch_;
  StepMemory memory_;
  StepMemory gpu_memory_;
  pid_t process_ = ::getpid();
};

template <typename T>
std::optional<T> maybe(const py::dict& options, const char* name) {
  if (!options.contains(name) || options[name].is_none()) return std::nullopt;
  try {
    return py::cast<T>(options[name]);
  } catch (const py::cast_error&) {
    const std::string_view kind = std::is_floating_point_v<T> ? "a number" : "a whole number";
    const auto given = py::cast<std::string>(py::repr(options[name]));
    throw Failure{{ErrorCode::invalid_argument, fmt::format("{} is {}: write {}", name, given, kind), ""}};
  }
}

WatchOptions options_from(const py::dict& words) {
  WatchOptions options;
  const auto set = [&](const char* name, auto& member) {
    using Member = std::remove_reference_t<decltype(member)>;
    if (const auto value = maybe<Member>(words, name)) member = *value;
  };
  set("first_step", options.first_step);
  set("budget", options.budget);
  set("statistics_every", options.statistics_every);
  set("trace_every", options.trace_every);
  set("batches_every", options.batches_every);
  set("diagnose_every", options.diagnose_every);
  set("histograms_every", options.histograms_every);
  set("line_every", options.line_every);
  set("check_every_gradient", options.check_every_gradient);
  set("threads", options.threads);
  options.classes = maybe<std::int64_t>(words, "classes");
  options.batch_size = maybe<std::int64_t>(words, "batch_size");
  if (const std::string fault = fault_of(options); !fault.empty()) {
    throw Failure{{ErrorCode::invalid_argument, fault, ""}};
  }
  return options;
}

/// Name, shape, and whether it is the table of an embedding.
using Declared = std::vector<std::tuple<std::string, std::vector<std::int64_t>, bool>>;

std::unique_ptr<PythonWatch> made(const py::dict& words, const std::string& path, const std::string& name,
                                  const Destinations& others, const Declared& declared) {
  std::vector<ParameterInfo> parameters;
  for (const auto& [parameter, shape, table] : declared) parameters.push_back({parameter, shape, true, true, table});
  const WatchOptions options = options_from(words);
  return std::make_unique<PythonWatch>(options, opened(path, name, others, /*resume=*/options.first_step > 0),
                                       std::move(parameters));
}

/// What is due of a step, as `arrive` tells it: sums of these.
constexpr int kStatistics = 1;
constexpr int kLoss = 2;

/// Every step comes by here: one call of Python's for what would be half a dozen.
int arrived(PythonWatch& watch, std::optional<bool> cleared, bool tracing) {
  watch->arrive();
  if (cleared) watch->tell_gradients_cleared(*cleared);
  if (!tracing) watch->traced(0, 0);
  return (watch->statistics_due() ? kStatistics : 0) + (watch->loss_due() || watch->loss_kind_due() ? kLoss : 0);
}

py::tuple examined(PythonWatch& watch, double loss, const py::list& parameters, const std::vector<double>& rates,
                   std::optional<bool> training) {
  PythonSource source(parameters, watch.memory());
  const StepVerdict verdict = watch->examine(loss, source);
  watch->tell_state(rates, training);
  return py::make_tuple(verdict.finite, verdict.first_bad, verdict.norm);
}

/// The nodes behind a loss: the plain name of each, and the numbers of those that it used.
void loss_told(PythonWatch& watch, const std::vector<std::pair<std::string, std::vector<std::size_t>>>& shown,
               bool all_with_all, bool over_samples) {
  std::vector<monitor::LossNode> nodes;
  nodes.reserve(shown.size());
  for (const auto& [plain, inputs] : shown) nodes.push_back({plain, inputs});
  watch->tell_loss(nodes);
  watch->tell_shapes(all_with_all, over_samples);
}

void use_gpu(PythonWatch& watch, int device, const std::string& cache_folder,
             const std::vector<std::string>& compilers) {
  std::unique_ptr<stats::GpuEngine> engine;
  {
    const py::gil_scoped_release unlocked;
    engine = taken(stats::make_gpu_engine({device, cache_folder, compilers}));
  }
  watch.gpu_memory().reader.serve_gpu(device);
  watch->use_gpu(std::move(engine));
}

/// Steps that have landed: number, whether the gradients were finite, the first bad one, and their norm if all were
/// seen.
py::list told(const std::vector<monitor::LateLook>& landed) {
  py::list list;
  for (const monitor::LateLook& late : landed) {
    list.append(py::make_tuple(late.step, late.look.finite, late.look.first_bad,
                               late.look.complete ? py::cast(late.look.norm) : py::none()));
  }
  return list;
}

py::list looked_later(PythonWatch& watch, const py::list& parameters, std::uintptr_t stream) {
  // What the views show is let go of at once: memory that is used again on the same stream is used after the kernels.
  PythonSource source(parameters, watch.gpu_memory());
  return told(taken(watch->look_later(source, reinterpret_cast<void*>(stream))));
}

std::size_t bytes_of(py::handle tensor) {
  return py::cast<std::size_t>(tensor.attr("numel")()) * py::cast<std::size_t>(tensor.attr("element_size")());
}

/// `raw` and `labels` (float64) are dense tensors in host memory, or None.
py::dict batch(PythonWatch& watch, py::handle values, py::handle raw, std::int64_t samples, bool indices,
               py::handle labels, bool class_labels, bool kept, bool of_validation) {
  BatchView view;
  view.kept = kept;
  view.values = watch.reader().view(values);
  view.samples = samples;
  view.indices = indices;
  view.class_labels = class_labels;
  if (!raw.is_none()) {
    view.bytes = {reinterpret_cast<const std::byte*>(py::cast<std::uintptr_t>(raw.attr("data_ptr")())), bytes_of(raw)};
  }
  if (!labels.is_none()) {
    view.labels = {reinterpret_cast<const double*>(py::cast<std::uintptr_t>(labels.attr("data_ptr")())),
                   py::cast<std::size_t>(labels.attr("numel")())};
  }
  BatchFacts facts;
  {
    const py::gil_scoped_release unlocked;
    facts = of_validation ? watch->validation_batch(view) : watch->batch(view);
  }
  watch.reader().release();
  py::dict told;
  told["inputs"] = facts.inputs;
  told["nonfinite"] = facts.nonfinite;
  told["mean"] = facts.mean;
  told["std"] = facts.std;
  told["abs_max"] = facts.abs_max;
  told["identical_samples"] = facts.identical_samples;
  told["repeated"] = facts.repeated;
  told["labels"] = facts.labels;
  told["invalid_labels"] = facts.invalid_labels;
  told["constant_label"] = facts.constant_label;
  told["largest_class_share"] = facts.largest_class_share;
  told["problems"] = facts.problems;
  return told;
}

void activation(PythonWatch& watch, const std::string& layer, const std::string& plain, py::handle tensor,
                std::optional<double> entropy, std::optional<double> drift) {
  if (const auto view = watch.reader().view(tensor)) {
    const py::gil_scoped_release unlocked;
    watch->activations().measure(layer, plain, *view, {entropy, drift});
  }
  watch.reader().release();
}

/// Whether it is measured; on the GPU, of which nothing is waited for.
bool activation_later(PythonWatch& watch, const std::string& layer, const std::string& plain, py::handle tensor,
                      std::uintptr_t stream) {
  const auto view = watch.gpu_memory().reader.view(tensor);
  const bool asked = view && view->device().kind == stats::Device::Kind::cuda &&
                     watch->activations().measure_later(layer, plain, *view, reinterpret_cast<void*>(stream));
  watch.gpu_memory().reader.release();
  return asked;
}

void logits(PythonWatch& watch, py::handle tensor) {
  if (const auto view = watch.reader().view(tensor)) {
    const py::gil_scoped_release unlocked;
    watch->activations().logits(*view);
  }
  watch.reader().release();
}

py::list news(PythonWatch& watch, bool of_validation) {
  std::vector<Observation> fresh;
  {
    const py::gil_scoped_release unlocked;
    fresh = of_validation ? watch->news_of_validation() : watch->news();
  }
  py::list told;
  for (const Observation& observation : fresh) {
    told.append(py::make_tuple(observation.finding, std::string(to_string(observation.severity)), observation.summary,
                               observation.confidence, observation.first_step));
  }
  return told;
}

}  // namespace

void add_watch(py::module_& module) {
  module.attr("DUE_STATISTICS") = kStatistics;
  py::class_<PythonWatch>(module, "StepWatch")
      .def(py::init(&made))
      .def("here", &PythonWatch::here)
      .def("begin",
           [](PythonWatch& watch, const py::list& parameters) {
             PythonSource source(parameters, watch.memory());
             watch->begin(source);
           })
      .def("tell_parameters", [](PythonWatch& watch, const std::vector<bool>& trainable,
                                 const std::vector<bool>& optimized) { watch->tell_parameters(trainable, optimized); })
      .def("trace_due", [](PythonWatch& watch) { return watch->trace_due(); })
      .def("traced",
           [](PythonWatch& watch, double seconds, std::size_t operations) { watch->traced(seconds, operations); })
      .def("arrive", &arrived, py::arg("cleared") = std::nullopt, py::arg("tracing") = false)
      .def("examine", &examined)
      .def("loss_due", [](PythonWatch& watch) { return watch->loss_due(); })
      .def("tell_loss", &loss_told)
      .def("loss_kind_due", [](PythonWatch& watch) { return watch->loss_kind_due(); })
      .def("tell_loss_kind", [](PythonWatch& watch, std::uint64_t kind) { watch->tell_loss_kind(kind); })
      .def("use_gpu", &use_gpu)
      .def("look_later", &looked_later)
      .def("settle", [](PythonWatch& watch) { return told(taken(watch->settle())); })
      .def("late_loss", [](PythonWatch& watch, std::int64_t step, double loss) { watch->late_loss(step, loss); })
      .def("late_scalar", [](PythonWatch& watch, std::int64_t step, const std::string& name,
                             double value) { watch->late_scalar(step, name, value); })
      .def("gpu_memory",
           [](PythonWatch& watch) {
             const stats::GpuMemory held = watch->gpu() != nullptr ? watch->gpu()->memory() : stats::GpuMemory{};
             return py::make_tuple(held.device, held.pinned);
           })
      .def("tell_state", [](PythonWatch& watch, const std::vector<double>& rates,
                            std::optional<bool> training) { watch->tell_state(rates, training); })
      .def("tell_clipping", [](PythonWatch& watch, double factor) { watch->tell_clipping(factor); })
      .def("take_line", [](PythonWatch& watch) { return watch->take_line(); })
      .def("has_news", [](PythonWatch& watch, bool findings) { return watch->has_news(findings); })
      .def("used", [](PythonWatch& watch, double seconds) { watch->used(seconds); })
      .def("leave",
           [](PythonWatch& watch) {
             watch->leave();
             return watch->trace_due();
           })
      .def("leave_run",
           [](PythonWatch& watch, double data, double forward, double backward, double optimizer) {
             watch->leave(data, forward, backward, optimizer);
             return watch->trace_due();
           })
      .def("batch_due", [](PythonWatch& watch) { return watch->batch_due(); })
      .def("validation_batch_due", [](PythonWatch& watch) { return watch->validation_batch_due(); })
      .def("batch", &batch, py::arg(), py::arg(), py::arg(), py::arg(), py::arg(), py::arg(), py::arg("kept") = false,
           py::arg("of_validation") = false)
      .def("activation", &activation)
      .def("activation_later", &activation_later)
      .def("logits", &logits)
      .def("scalar", [](PythonWatch& watch, const std::string& name, double value) { watch->scalar(name, value); })
      .def("validation",
           [](PythonWatch& watch, const std::string& name, double value) { watch->validation(name, value); })
      .def("check", [](PythonWatch& watch, const std::string& id,
                       double value) { watch->check(series_name::completed(series_name::kCheckOf, id), value); })
      .def("epoch", [](PythonWatch& watch, double number) { watch->epoch(number); })
      .def("note", [](PythonWatch& watch, const std::string& text) { watch->note(text); })
      .def("finished",
           [](PythonWatch& watch, const std::string& text) {
             watch->recorder().mark(Mark::Kind::finished, watch->steps(), text);
           })
      .def("config", [](PythonWatch& watch, const std::string& key,
                        const std::string& value) { watch->recorder().config(key, value); })
      .def("news", &news, py::arg("of_validation") = false)
      .def("hopeless",
           [](PythonWatch& watch) {
             return watch->hopeless() ? std::optional(to_line(*watch->hopeless())) : std::nullopt;
           })
      .def("report",
           [](PythonWatch& watch, const std::map<std::string, std::string>& roles,
              const std::map<std::string, double>& settings, const std::vector<std::string>& only, bool layers) {
             DiagnosisOptions options = options_of(roles, settings, only);
             options.layers = layers;
             return report_of(watch->recorder(), options);
           })
      .def("steps", [](PythonWatch& watch) { return watch->steps(); })
      .def("share", [](PythonWatch& watch) { return watch->share(); })
      .def("early_seconds", [](PythonWatch& watch) { return watch->early_seconds(); })
      .def("copies", [](PythonWatch& watch) { return watch.reader().copies(); })
      .def("flush",
           [](PythonWatch& watch) {
             const py::gil_scoped_release unlocked;
             taken(watch->recorder().flush());
           })
      .def("close", [](PythonWatch& watch) {
        if (!watch.here()) return;
        const py::gil_scoped_release unlocked;
        taken(watch->recorder().close());
      });
}

}  // namespace osler::python
