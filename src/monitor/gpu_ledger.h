// GpuLedger: gradients, weights and updates of parameters on a GPU, measured there and recorded when the results land.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "monitor/parameter_ledger.h"
#include "monitor/tensor_source.h"
#include "osler/recorder/recorder.h"
#include "osler/stats/gpu_engine.h"

namespace osler::monitor {

/// The gradients of a step, told a step or two later.
struct LateLook {
  std::int64_t step = 0;
  GradientLook look;
  double seconds = 0;  ///< that the device took
};

/// The parameters of one model on one GPU. Asks the questions of ParameterLedger without waiting for the device: up to
/// three samples are under way, and one more is passed over.
class GpuLedger {
 public:
  GpuLedger(std::unique_ptr<stats::GpuEngine> engine, std::size_t parameters);

  /// Queues a sample of the weights and, with `gradients`, of the gradients as they are at this point of the stream.
  /// False when it was passed over: too many are under way, or a graph is being captured. An error when the device
  /// cannot measure any more.
  Result<bool> ask(TensorSource& source, std::int64_t step, bool gradients, void* stream);
  /// Whether the update of the step before can still be measured: its weights were asked for.
  [[nodiscard]] bool remembers(std::int64_t step) const { return asked_ == step - 1; }
  /// What was asked at the newest step is not to be compared with what comes: the step was left out.
  void forget() { asked_.reset(); }

  /// Records what has landed, each sample under its own step; with `wait` all that is under way. An error when the
  /// device failed: what was under way is lost.
  Result<std::vector<LateLook>> collect(Recorder& recorder, const std::vector<ParameterInfo>& parameters,
                                        bool wait = false);
  [[nodiscard]] stats::GpuEngine& engine() { return *engine_; }
  /// The bytes held on the device and in page-locked memory.
  [[nodiscard]] stats::GpuMemory memory() const { return engine_->memory(); }

 private:
  struct Sample {
    stats::Batch batch;
    std::int64_t step = 0;
    std::vector<std::optional<std::size_t>> gradients;  // numbers in the batch
    std::vector<std::optional<std::size_t>> weights;
    std::vector<bool> absent;  // trainable, but without a gradient
    std::vector<bool> fresh;   // the weights were followed for the first time
    bool with_gradients = false;
  };
  /// What following the weights of one parameter takes, and how large they were when last followed.
  struct Followed {
    std::shared_ptr<void> memory;
    stats::DType dtype = stats::DType::f32;
    std::uint64_t count = 0;
    double norm = 0;
    std::optional<std::int64_t> step;
  };

  Result<void> fill(Sample& sample, TensorSource& source, bool gradients);
  /// Follows the weights of one parameter; whether for the first time.
  Result<bool> follow(Followed& followed, const stats::TensorView& view);
  LateLook record(Recorder& recorder, Sample& sample, const std::vector<ParameterInfo>& parameters);
  void record_update(Recorder& recorder, const Sample& sample, std::size_t number, const ParameterInfo& parameter);

  std::unique_ptr<stats::GpuEngine> engine_;
  std::vector<Followed> followed_;
  std::array<Sample, 3> samples_;
  std::deque<std::size_t> under_way_;  // of samples_, the oldest first
  std::optional<std::int64_t> asked_;  // the newest step whose weights were asked for
};

}  // namespace osler::monitor
