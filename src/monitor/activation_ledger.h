// ActivationLedger: the health of every layer's output in one forward pass, from views of any framework.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "osler/recorder/recorder.h"
#include "osler/stats/engine.h"

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
  /// Whether what is measured from now on is recorded with its histogram.
  void with_histograms(bool wanted) { histograms_ = wanted; }
  /// What went into the softmax over classes.
  void logits(const stats::TensorView& tensor);

  /// Records what was measured and forgets it.
  void record(Recorder& recorder, std::int64_t step);
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
  Activation& entry(const std::string& layer);

  std::unique_ptr<stats::Engine> engine_;
  stats::Batch batch_;
  std::vector<Activation> activations_;
  std::map<std::string, std::size_t, std::less<>> known_;
  std::map<std::string, stats::DeadUnitWindow, std::less<>> dead_;
  std::optional<double> logits_;
  bool histograms_ = false;
};

}  // namespace osler::monitor
