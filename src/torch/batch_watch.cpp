// Which batches are looked at, and what is told of them.
#include "torch/batch_watch.h"

#include <string_view>

#include "monitor/clock.h"
#include "run/series_names.h"

namespace osler::torch {

using monitor::now;
namespace {

/// Tokens and other rows of a table: numbers without a scale. Bytes may be pixels.
bool holds_indices(const at::Tensor& inputs) {
  return inputs.defined() && (inputs.scalar_type() == at::kLong || inputs.scalar_type() == at::kInt);
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

BatchWatch::BatchWatch(const BatchExpectations& expectations, std::int64_t every, double share)
    : checker_(expectations), classes_(expectations.classes), pace_(every, share) {}

std::optional<BatchReport> BatchWatch::look(const at::Tensor& inputs, const at::Tensor& labels, std::int64_t step,
                                            Recorder& recorder) {
  if (!pace_.due(checker_.batches())) {
    checker_.pass_over();
    return std::nullopt;
  }
  const double began = now();
  BatchReport report = checker_.check(inputs, labels);
  record(report, holds_indices(inputs), step, recorder);
  pace_.budget().spend(now() - began);
  return report;
}

void BatchWatch::record(const BatchReport& report, bool indices, std::int64_t step, Recorder& recorder) {
  static constexpr std::array<std::string_view, told_count> kNames = {
      series_name::kBatchNonfiniteShare,    series_name::kBatchMagnitude,          series_name::kBatchCenter,
      series_name::kBatchDeviation,         series_name::kBatchIdenticalSamples,   series_name::kBatchRepeated,
      series_name::kBatchRepeatedAfter,     series_name::kBatchInvalidLabelsShare, series_name::kBatchConstantLabel,
      series_name::kBatchLargestClassShare, series_name::kBatchClassShareSoFar,    series_name::kBatchClasses};
  values_.clear();
  const auto tell = [&](Told what, double value) {
    if (!series_[what]) series_[what] = recorder.series(kNames[what]);
    values_.push_back({*series_[what], value});
  };
  tell(nonfinite_share, share(report.nonfinite, report.inputs));
  if (!indices) {
    tell(magnitude, report.abs_max);
    tell(center, report.mean);
    tell(deviation, report.std);
  }
  tell(identical_samples, report.identical_samples ? 1 : 0);
  tell(repeated, report.repeated ? 1 : 0);
  if (report.repeated) tell(repeated_after, static_cast<double>(report.repeated_after));
  if (report.labels > 0) {
    tell(invalid_labels_share, share(report.invalid_labels, report.labels));
    tell(constant_label, report.constant_label ? 1 : 0);
    if (report.largest_class_share > 0) {
      tell(largest_class_share, report.largest_class_share);
      tell(class_share_so_far, report.class_share_so_far);
      tell(classes, static_cast<double>(classes_.value_or(report.classes_seen)));
    }
  }
  recorder.record(step, values_);
}

}  // namespace osler::torch
