// ActivationLedger: the health of every layer's output in one forward pass, from views of any framework.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "osler/recorder/recorder.h"
#include "osler/stats/engine.h"
#include "osler/stats/gpu_engine.h"

namespace osler::monitor {

/// What only the framework can tell of an output.
struct OutputExtras {
  std::optional<double> entropy;  ///< of softmax rows, as a share of the largest possible
  std::optional<double> drift;    ///< running statistics against the batch's, in standard deviations
};

/// Measures the outputs of layers. The last measurement of a pass wins where a layer runs several times.
class ActivationLedger {
 public:
  ActivationLedger();

  /// Measures what the operation with this plain name gave out for the layer so called.
  void measure(const std::string& layer, std::string_view plain, const stats::TensorView& output,
               const OutputExtras& extras = {});
  /// The same of an output on a GPU, where it is measured later, in the order of the stream: but for how alike the rows
  /// are. The first of a pass wins, for each takes memory until it has landed. False when it is passed over, as while a
  /// graph is captured.
  bool measure_later(const std::string& layer, std::string_view plain, const stats::TensorView& output, void* stream);
  /// The engine of `measure_later`, which must outlive this.
  void use_gpu(stats::GpuEngine& engine) { gpu_ = &engine; }
  /// Whether what is measured from now on is recorded with its histogram.
  void with_histograms(bool wanted) { histograms_ = wanted; }
  /// What went into the softmax over classes.
  void logits(const stats::TensorView& tensor);

  /// Records what was measured and forgets it; what is still to come belongs to this step, too.
  void record(Recorder& recorder, std::int64_t step);
  /// Records what has landed of `measure_later`, under its own step; with `wait` all that is under way. Returns the
  /// seconds that the device took for it; an error when the device failed: what was under way is lost.
  Result<double> collect(Recorder& recorder, bool wait = false);
  /// Forgets what was measured.
  void clear();

 private:
  struct Activation {
    std::string layer;
    stats::TensorStats stats;
    std::optional<stats::LogHistogram> counts;
    std::optional<double> saturated;           // share beyond 0.99 of the range, for sigmoid, tanh and their kin
    std::optional<stats::UnitActivity> units;  // for rectifiers
    std::optional<stats::RowSimilarity> rows;  // with at least two samples
    OutputExtras extras;
  };
  /// What is asked of an output.
  struct Asked {
    std::size_t summary = 0;
    bool saturates = false;
    bool counted = false;
    std::optional<std::size_t> units;
  };
  /// A question whose answer lands later.
  struct Question {
    std::string layer;
    Asked asked;
    stats::Batch batch;
  };
  struct Pass {
    std::int64_t step = 0;
    std::vector<std::unique_ptr<Question>> questions;
  };

  Activation& entry(const std::string& layer);
  [[nodiscard]] Asked ask(stats::Batch& batch, std::string_view plain, const stats::TensorView& output) const;
  static void answer(const stats::Batch& batch, const Asked& asked, Activation& activation);
  void record_one(Recorder& recorder, std::int64_t step, const Activation& activation);
  /// Whether all of a pass has landed.
  Result<bool> landed(Pass& pass, bool wait);

  std::unique_ptr<stats::Engine> engine_;
  stats::Batch batch_;
  std::vector<Activation> activations_;
  std::map<std::string, std::size_t, std::less<>> known_;
  std::map<std::string, stats::DeadUnitWindow, std::less<>> dead_;
  std::optional<double> logits_;
  bool histograms_ = false;

  stats::GpuEngine* gpu_ = nullptr;
  std::vector<std::unique_ptr<Question>> asked_;  // in this pass
  std::deque<Pass> late_;                         // the oldest first
  std::vector<std::unique_ptr<Question>> spare_;
};

}  // namespace osler::monitor
