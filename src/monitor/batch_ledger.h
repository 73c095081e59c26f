// BatchLedger: the batches of a training as views: what they are like, and what is recorded of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "monitor/batch_pace.h"
#include "osler/recorder/recorder.h"
#include "osler/stats/engine.h"

namespace osler::monitor {

/// One batch in host memory.
struct BatchView {
  std::optional<stats::TensorView> values;  ///< the inputs as floating-point numbers
  std::span<const std::byte> bytes;         ///< the inputs as they are, sample behind sample
  std::int64_t samples = 0;                 ///< along the first dimension
  bool indices = false;                     ///< the inputs are tokens or other numbers without a scale
  std::span<const double> labels;           ///< empty when there are none
  bool class_labels = false;                ///< the labels are whole numbers that name classes
  bool kept = false;  ///< the program shows the very tensor of the batch before: all of its data, if it is large
};

/// What a batch is like.
struct BatchFacts {
  std::uint64_t inputs = 0;  ///< elements
  std::uint64_t nonfinite = 0;
  double mean = 0;
  double std = 0;
  double abs_max = 0;
  bool identical_samples = false;    ///< every sample equals the first, of at least two
  bool repeated = false;             ///< the same batch is among the last ones that were looked at
  std::uint64_t repeated_after = 0;  ///< batches since then, looked at or not; 0 when it is new
  std::uint64_t labels = 0;
  std::uint64_t invalid_labels = 0;  ///< NaN, negative, fractional or beyond the classes
  bool constant_label = false;       ///< one label for all samples, of at least four
  double largest_class_share = 0;    ///< 0 without class labels
  double class_share_so_far = 0;     ///< the same of all labels that were seen
  std::int64_t classes_seen = 0;
  std::vector<std::string> problems;  ///< one sentence each; empty for a healthy batch
};

/// Looks at the first batches, where most that is wrong with data shows, and then at as many as its budget allows.
class BatchLedger {
 public:
  /// The label that loss functions leave out by convention.
  static constexpr double kIgnoredLabel = -100;

  /// Of validation it does not matter in which order the samples come, how often, and in what proportion of classes.
  enum class Of : std::uint8_t { training, validation };

  /// `every`: looks at one batch of so many; 0: as the budget, a share of the training time, allows; -1: at none.
  BatchLedger(std::optional<std::int64_t> classes, std::int64_t every, double share, Of of = Of::training);

  /// Whether the batch that comes now is to be looked at. Asked once for each batch; when it says no, that was it.
  bool due();
  /// Looks at a batch and records what it is like.
  BatchFacts look(const BatchView& batch, std::int64_t step, Recorder& recorder);

  [[nodiscard]] Budget& budget() { return pace_.budget(); }

 private:
  BatchFacts examine(const BatchView& batch);
  void examine_values(const stats::TensorView& values, BatchFacts& facts);
  void examine_samples(const BatchView& batch, BatchFacts& facts);
  void examine_labels(const BatchView& batch, BatchFacts& facts);
  void record(const BatchFacts& facts, bool indices, std::int64_t step, Recorder& recorder);
  void record_validation(const BatchFacts& facts, std::int64_t step, Recorder& recorder);

  struct Seen {
    std::uint64_t hash;
    std::uint64_t number;
  };
  struct Worst {
    std::int64_t step = -1;
    double nonfinite = 0;
    double invalid_labels = 0;
  };
  std::optional<std::int64_t> classes_;
  Of of_;
  Worst worst_;  // of the batches of one validation
  BatchPace pace_;
  std::unique_ptr<stats::Engine> engine_;
  stats::Batch questions_;
  std::uint64_t batches_ = 0;
  std::deque<Seen> seen_;                                   // the last batches that were looked at
  std::unordered_map<std::int64_t, std::uint64_t> labels_;  // how often each class was seen
};

}  // namespace osler::monitor
