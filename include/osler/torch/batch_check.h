// Checks of the data: single batches, and splits that should have nothing in common.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "osler/stats/engine.h"

namespace osler::torch {

/// What is expected of a batch.
struct BatchExpectations {
  std::optional<std::int64_t> classes;  ///< labels are numbers from 0 up to but not including this
  double extreme = 100;                 ///< inputs beyond this magnitude are suspicious
};

/// What a batch is like.
struct BatchReport {
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
  std::uint64_t ignored_labels = 0;  ///< -100, which LibTorch's losses pass over
  bool constant_label = false;       ///< one label for all samples, of at least four
  double largest_class_share = 0;    ///< 0 without class labels
  double class_share_so_far = 0;     ///< the same of all labels that the checker has seen
  std::int64_t classes_seen = 0;
  std::vector<std::string> problems;  ///< one sentence each; empty for a healthy batch
};

/// Looks at single batches and remembers the last ones to notice repetition. Not for several threads at once.
class BatchChecker {
 public:
  explicit BatchChecker(BatchExpectations expectations = {});
  /// `labels` may be undefined. Integer labels of one dimension count as classes.
  BatchReport check(const at::Tensor& inputs, const at::Tensor& labels = {});
  /// A batch went by that is not looked at.
  void pass_over() { ++batches_; }
  /// Batches so far, looked at or not.
  [[nodiscard]] std::uint64_t batches() const { return batches_; }

 private:
  struct Seen {
    std::uint64_t hash;
    std::uint64_t number;
  };
  BatchExpectations expectations_;
  std::unique_ptr<stats::Engine> engine_;
  stats::Batch questions_;
  std::uint64_t batches_ = 0;
  std::deque<Seen> seen_;                                   // the last batches that were looked at
  std::unordered_map<std::int64_t, std::uint64_t> labels_;  // how often each class was seen
};

/// Looks at one batch by itself.
[[nodiscard]] BatchReport validate_batch(const at::Tensor& inputs, const at::Tensor& labels = {},
                                         const BatchExpectations& expectations = {});

/// A number for each sample along the first dimension; equal samples have equal numbers.
[[nodiscard]] std::vector<std::uint64_t> sample_hashes(const at::Tensor& samples);
/// The share of `validation` samples that are among `training` too, by their hashes.
[[nodiscard]] double shared_samples(std::vector<std::uint64_t> training, const std::vector<std::uint64_t>& validation);
/// The share of samples that differ between two loads of the same data; 1 when the numbers of samples differ.
[[nodiscard]] double changed_samples(const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& second);

}  // namespace osler::torch
