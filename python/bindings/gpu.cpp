// GpuMeter for Python: the statistics of tensors on a GPU, asked for now and picked up later.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/tensors.h"
#include "osler/stats/gpu_engine.h"

namespace osler::python {
namespace {

namespace py = pybind11;

/// A batch of questions about tensors of one GPU, which it keeps alive until they are queued on the device.
class GpuMeter {
 public:
  GpuMeter(int device, const std::string& cache_folder, const std::vector<std::string>& compilers) {
    reader_.serve_gpu(device);
    const py::gil_scoped_release unlocked;
    engine_ = taken(stats::make_gpu_engine({device, cache_folder, compilers}));
  }

  void clear() {
    batch_.clear();
    reader_.release();
  }
  std::size_t summarize(py::handle tensor, bool histogram) {
    return batch_.summarize(view_of(tensor), {.histogram = histogram});
  }
  std::size_t compare(py::handle a, py::handle b) { return taken(batch_.compare(view_of(a), view_of(b))); }
  void submit(std::uintptr_t stream) {
    taken(engine_->submit(batch_, reinterpret_cast<void*>(stream)));
    reader_.release();  // memory that is used again on the same stream is used after the kernels
  }
  bool poll() { return taken(engine_->poll(batch_)); }
  void wait() {
    {
      const py::gil_scoped_release unlocked;
      engine_->wait(batch_);
    }
    if (!poll()) throw Failure{{ErrorCode::invalid_argument, "nothing was submitted", "GPU statistics"}};
  }
  [[nodiscard]] const stats::Batch& batch() const { return batch_; }
  [[nodiscard]] const stats::GpuEngine& engine() const { return *engine_; }

 private:
  stats::TensorView view_of(py::handle tensor) {
    const auto view = reader_.view(tensor);
    if (!view) {
      throw Failure{{ErrorCode::unsupported, "only dense tensors of f32, f64, f16 and bf16 are measured", ""}};
    }
    return *view;
  }

  TensorReader reader_;
  std::unique_ptr<stats::GpuEngine> engine_;
  stats::Batch batch_;
};

py::dict summary_of(const GpuMeter& meter, std::size_t number) {
  const stats::TensorStats& stats = meter.batch().summary(number);
  py::dict told;
  told["count"] = stats.count;
  told["nan"] = stats.nan_count;
  told["inf"] = stats.inf_count;
  if (stats.first_nan != stats::TensorStats::kNone) told["first_nan"] = stats.first_nan;
  if (stats.first_inf != stats::TensorStats::kNone) told["first_inf"] = stats.first_inf;
  told["mean"] = stats.mean;
  told["std"] = stats.std_dev();
  told["norm"] = stats.l2();
  told["l1"] = stats.l1;
  told["min"] = stats.min;
  told["max"] = stats.max;
  told["smallest_nonzero"] = stats.smallest_nonzero;
  told["zeros"] = stats.zeros;
  told["near_zeros"] = stats.near_zeros;
  return told;
}

py::dict pair_of(const GpuMeter& meter, std::size_t number) {
  const stats::PairStats& stats = meter.batch().pair(number);
  py::dict told;
  told["count"] = stats.count;
  told["excluded"] = stats.excluded;
  told["dot"] = stats.dot;
  told["a_norm"] = stats.a_norm();
  told["b_norm"] = stats.b_norm();
  told["difference_norm"] = stats.difference_norm();
  told["cosine"] = stats.cosine();
  told["lost_share"] = stats.lost_share();
  return told;
}

py::tuple histogram_of(const GpuMeter& meter, std::size_t number) {
  const stats::LogHistogram& histogram = meter.batch().histogram(number);
  return py::make_tuple(std::vector<std::uint64_t>(histogram.positive.begin(), histogram.positive.end()),
                        std::vector<std::uint64_t>(histogram.negative.begin(), histogram.negative.end()),
                        histogram.zeros);
}

}  // namespace

void add_gpu(py::module_& module) {
  py::class_<GpuMeter>(module, "GpuMeter")
      .def(py::init<int, const std::string&, const std::vector<std::string>&>())
      .def("clear", &GpuMeter::clear)
      .def("summarize", &GpuMeter::summarize)
      .def("compare", &GpuMeter::compare)
      .def("submit", &GpuMeter::submit)
      .def("poll", &GpuMeter::poll)
      .def("wait", &GpuMeter::wait)
      .def("summary", &summary_of)
      .def("pair", &pair_of)
      .def("histogram", &histogram_of)
      .def("memory",
           [](const GpuMeter& meter) {
             const stats::GpuMemory held = meter.engine().memory();
             return py::make_tuple(held.device, held.pinned);
           })
      .def("compiled", [](const GpuMeter& meter) { return meter.engine().compiled(); });
}

}  // namespace osler::python
