// Looking at batches: values, labels, repetition.
#include "monitor/batch_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "monitor/clock.h"
#include "run/series_names.h"

namespace osler::monitor {
namespace {

/// Samples of a training on all data at once; fewer are a batch (chosen).
constexpr std::int64_t kFewestOfWholeData = 100;
constexpr std::size_t kBatchesRemembered = 64;
constexpr std::uint64_t kFewestForConstantLabel = 4;
constexpr double kExtreme = 100;  // as batch-extreme has it
/// As many classes as anybody has; labels beyond are not classes, and would fill the memory.
constexpr std::size_t kMostClasses = 100'000;

using Counts = std::unordered_map<std::int64_t, std::uint64_t>;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15ULL;
  hash = (hash ^ word) * kPrime;
  return hash ^ (hash >> 29U);
}

/// A 64-bit hash of bytes, four words of eight at a time, because a product is waited for.
std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::array<std::uint64_t, 4> lanes = {bytes.size(), 1, 2, 3};
  std::array<std::uint64_t, lanes.size()> words{};
  while (bytes.size() >= sizeof words) {
    std::memcpy(words.data(), bytes.data(), sizeof words);
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = mixed(lanes[i], words[i]);
    bytes = bytes.subspan(sizeof words);
  }
  words = {};
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < lanes.size(); ++i) hash = mixed(hash, mixed(lanes[i], words[i]));
  return hash;
}

double largest_share(const Counts& counts) {
  std::uint64_t largest = 0;
  std::uint64_t all = 0;
  for (const auto& [label, count] : counts) {
    largest = std::max(largest, count);
    all += count;
  }
  return all == 0 ? 0 : static_cast<double>(largest) / static_cast<double>(all);
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::vector<std::string> problems_of(const BatchFacts& facts) {
  std::vector<std::string> problems;
  if (facts.nonfinite > 0) {
    problems.push_back(fmt::format("{} of {} inputs are NaN or infinite.", facts.nonfinite, facts.inputs));
  }
  if (facts.abs_max > kExtreme) {
    problems.push_back(
        fmt::format("Inputs reach {:.4g}; beyond {:.4g} they are hardly normalised.", facts.abs_max, kExtreme));
  }
  if (facts.identical_samples) problems.emplace_back("All samples of the batch are the same.");
  if (facts.repeated) problems.emplace_back("The same batch came before.");
  if (facts.invalid_labels > 0) {
    problems.push_back(fmt::format("{} of {} labels are NaN, fractional, negative or beyond the classes.",
                                   facts.invalid_labels, facts.labels));
  }
  if (facts.constant_label) problems.emplace_back("All labels of the batch are the same.");
  return problems;
}

}  // namespace

BatchLedger::BatchLedger(std::optional<std::int64_t> classes, std::int64_t every, double share, Of of)
    : classes_(classes), of_(of), pace_(every, share), engine_(stats::make_cpu_engine(0)) {}

bool BatchLedger::due() {
  return pace_.due(batches_++);
}

BatchFacts BatchLedger::look(const BatchView& batch, std::int64_t step, Recorder& recorder) {
  const double began = now();
  BatchFacts facts = examine(batch);
  if (of_ == Of::training) {
    record(facts, batch.indices, step, recorder);
  } else {
    record_validation(facts, step, recorder);
  }
  pace_.budget().spend(now() - began);
  return facts;
}

BatchFacts BatchLedger::examine(const BatchView& batch) {
  BatchFacts facts;
  if (batch.values) examine_values(*batch.values, facts);
  if (of_ == Of::training) examine_samples(batch, facts);
  examine_labels(batch, facts);
  if (of_ == Of::validation) facts.constant_label = false;
  facts.problems = problems_of(facts);
  return facts;
}

void BatchLedger::examine_values(const stats::TensorView& values, BatchFacts& facts) {
  facts.inputs = values.count();
  if (values.count() == 0) return;
  questions_.clear();
  const std::size_t asked = questions_.summarize(values, {.brief = true});
  if (!engine_->submit(questions_)) return;
  engine_->wait(questions_);
  const stats::TensorStats& stats = questions_.summary(asked);
  facts.nonfinite = stats.nan_count + stats.inf_count;
  facts.mean = stats.mean;
  facts.std = stats.std_dev();
  facts.abs_max = stats.abs_max();
}

void BatchLedger::examine_samples(const BatchView& batch, BatchFacts& facts) {
  if (batch.samples <= 0 || batch.bytes.empty()) return;
  const std::size_t length = batch.bytes.size() / static_cast<std::size_t>(batch.samples);
  std::uint64_t whole = 0;
  std::uint64_t first = 0;
  facts.identical_samples = batch.samples >= 2;
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch.samples); ++i) {
    const std::uint64_t hash = hash_of(batch.bytes.subspan(i * length, length));
    if (i == 0) first = hash;
    facts.identical_samples = facts.identical_samples && hash == first;
    whole = whole * 31 + hash;
  }
  const std::uint64_t number = batches_ - 1;  // `due` has counted it
  const auto newest =
      std::find_if(seen_.rbegin(), seen_.rend(), [&](const Seen& earlier) { return earlier.hash == whole; });
  const bool whole_data = batch.kept && batch.samples >= kFewestOfWholeData;
  facts.repeated = newest != seen_.rend() && !whole_data;
  if (facts.repeated) facts.repeated_after = number - newest->number;
  seen_.push_back({whole, number});
  if (seen_.size() > kBatchesRemembered) seen_.pop_front();
}

void BatchLedger::examine_labels(const BatchView& batch, BatchFacts& facts) {
  Counts counts;
  std::optional<double> first;
  bool one_value = true;
  for (const double value : batch.labels) {
    if (batch.class_labels && value == kIgnoredLabel) continue;
    ++facts.labels;
    one_value = one_value && value == first.value_or(value);
    if (!first) first = value;
    const bool whole = std::isfinite(value) && value == std::floor(value);
    const bool within = !classes_ || (value >= 0 && value < static_cast<double>(*classes_));
    if (!std::isfinite(value) || (batch.class_labels && (!whole || value < 0 || !within))) {
      ++facts.invalid_labels;
    } else if (batch.class_labels) {
      ++counts[static_cast<std::int64_t>(value)];
    }
  }
  facts.constant_label = one_value && facts.labels >= kFewestForConstantLabel;
  facts.classes_seen = static_cast<std::int64_t>(counts.size());
  facts.largest_class_share = largest_share(counts);
  for (const auto& [label, count] : counts) {
    if (labels_.size() < kMostClasses || labels_.contains(label)) labels_[label] += count;
  }
  facts.class_share_so_far = largest_share(labels_);
}

void BatchLedger::record_validation(const BatchFacts& facts, std::int64_t step, Recorder& recorder) {
  // All batches of a validation belong to one step, of which a curve keeps one value: that of the worst.
  if (worst_.step != step) worst_ = {step, 0, 0};
  worst_.nonfinite = std::max(worst_.nonfinite, share(facts.nonfinite, facts.inputs));
  recorder.scalar(step, series_name::kValidationNonfiniteShare, worst_.nonfinite);
  if (facts.labels == 0) return;
  worst_.invalid_labels = std::max(worst_.invalid_labels, share(facts.invalid_labels, facts.labels));
  recorder.scalar(step, series_name::kValidationInvalidLabelsShare, worst_.invalid_labels);
}

void BatchLedger::record(const BatchFacts& facts, bool indices, std::int64_t step, Recorder& recorder) {
  const auto tell = [&](std::string_view series, double value) { recorder.scalar(step, series, value); };
  tell(series_name::kBatchNonfiniteShare, share(facts.nonfinite, facts.inputs));
  if (!indices) {
    tell(series_name::kBatchMagnitude, facts.abs_max);
    tell(series_name::kBatchCenter, facts.mean);
    tell(series_name::kBatchDeviation, facts.std);
  }
  tell(series_name::kBatchIdenticalSamples, facts.identical_samples ? 1 : 0);
  tell(series_name::kBatchRepeated, facts.repeated ? 1 : 0);
  if (facts.repeated) tell(series_name::kBatchRepeatedAfter, static_cast<double>(facts.repeated_after));
  if (facts.labels == 0) return;
  tell(series_name::kBatchInvalidLabelsShare, share(facts.invalid_labels, facts.labels));
  tell(series_name::kBatchConstantLabel, facts.constant_label ? 1 : 0);
  if (facts.largest_class_share <= 0) return;
  tell(series_name::kBatchLargestClassShare, facts.largest_class_share);
  tell(series_name::kBatchClassShareSoFar, facts.class_share_so_far);
  tell(series_name::kBatchClasses, static_cast<double>(classes_.value_or(facts.classes_seen)));
}

}  // namespace osler::monitor
