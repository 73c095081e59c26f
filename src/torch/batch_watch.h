// BatchWatch: the batches of a training, looked at as often as time allows, and what is recorded of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "monitor/batch_pace.h"
#include "osler/recorder/recorder.h"
#include "osler/torch/batch_check.h"

namespace osler::torch {

/// Looks at the first batches, where most that is wrong with data shows, and then at as many as its budget allows.
class BatchWatch {
 public:
  /// `every`: looks at one batch of so many; 0: as the budget, a share of the training time, allows; -1: at none.
  BatchWatch(const BatchExpectations& expectations, std::int64_t every, double share);

  /// Looks at the batch that comes before a step, or passes it over and returns nothing.
  std::optional<BatchReport> look(const at::Tensor& inputs, const at::Tensor& labels, std::int64_t step,
                                  Recorder& recorder);

  [[nodiscard]] monitor::Budget& budget() { return pace_.budget(); }

 private:
  /// What is recorded of a batch: the series of run/series_names.h.
  enum Told : std::size_t {
    nonfinite_share,
    magnitude,
    center,
    deviation,
    identical_samples,
    repeated,
    repeated_after,
    invalid_labels_share,
    constant_label,
    largest_class_share,
    class_share_so_far,
    classes,
    told_count
  };

  void record(const BatchReport& report, bool indices, std::int64_t step, Recorder& recorder);

  BatchChecker checker_;
  std::optional<std::int64_t> classes_;
  monitor::BatchPace pace_;
  std::array<std::optional<SeriesId>, told_count> series_;  // made when there is a first value
  std::vector<SeriesValue> values_;
};

}  // namespace osler::torch
