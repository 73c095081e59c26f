// Looking at batches: values, labels, repetition.
#include "osler/torch/batch_check.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "torch/host_tensor.h"

namespace osler::torch {
namespace {

constexpr std::size_t kBatchesRemembered = 64;
constexpr std::uint64_t kFewestForConstantLabel = 4;
constexpr double kIgnoredLabel = -100;  // LibTorch's own ignore_index: a label that the loss passes over

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15ULL;
  hash = (hash ^ word) * kPrime;
  return hash ^ (hash >> 29U);
}

/// A 64-bit hash of bytes, four words of eight at a time, because a product is waited for.
std::uint64_t hash_of(const std::byte* bytes, std::size_t count) {
  std::array<std::uint64_t, 4> lanes = {count, 1, 2, 3};
  std::array<std::uint64_t, lanes.size()> words{};
  const std::size_t rest = count % sizeof words;
  const auto* const end = bytes + (count - rest);
  for (; bytes != end; bytes += sizeof words) {
    std::memcpy(words.data(), bytes, sizeof words);
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = mixed(lanes[i], words[i]);
  }
  words = {};
  std::memcpy(words.data(), bytes, rest);
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < lanes.size(); ++i) hash = mixed(hash, mixed(lanes[i], words[i]));
  return hash;
}

/// The tensor in host memory, element behind element; of a sparse one the elements that it holds.
at::Tensor at_hand(const at::Tensor& tensor) {
  if (tensor.is_sparse()) return tensor.detach().to(at::kCPU).coalesce().values().contiguous();
  return tensor.device().is_cpu() && tensor.is_contiguous() ? tensor : tensor.detach().to(at::kCPU).contiguous();
}

/// Calls `each` with every label as a number.
template <typename Each>
void for_each_label(const at::Tensor& labels, Each each) {
  const at::Tensor host = at_hand(labels);
  const auto count = static_cast<std::size_t>(host.numel());
  if (host.scalar_type() == at::kLong) {
    const std::int64_t* const values = host.data_ptr<std::int64_t>();
    for (std::size_t i = 0; i < count; ++i) each(static_cast<double>(values[i]));
  } else {
    const at::Tensor numbers = host.to(at::kDouble);
    const double* const values = numbers.data_ptr<double>();
    for (std::size_t i = 0; i < count; ++i) each(values[i]);
  }
}

void look_at_values(const at::Tensor& inputs, stats::Engine& engine, stats::Batch& questions, BatchReport& report) {
  const at::Tensor floating = inputs.is_floating_point() ? inputs : inputs.to(at::kFloat);
  const auto host = host_tensor(floating);
  if (!host || host->view.count() == 0) return;
  questions.clear();
  const std::size_t asked = questions.summarize(host->view, {.brief = true});
  if (!engine.submit(questions)) return;
  engine.wait(questions);
  const stats::TensorStats& stats = questions.summary(asked);
  report.nonfinite = stats.nan_count + stats.inf_count;
  report.mean = stats.mean;
  report.std = stats.std_dev();
  report.abs_max = stats.abs_max();
}

using Counts = std::unordered_map<std::int64_t, std::uint64_t>;

double largest_share(const Counts& counts) {
  std::uint64_t largest = 0;
  std::uint64_t all = 0;
  for (const auto& [label, count] : counts) {
    largest = std::max(largest, count);
    all += count;
  }
  return all == 0 ? 0 : static_cast<double>(largest) / static_cast<double>(all);
}

/// Returns how often each class occurs.
Counts look_at_labels(const at::Tensor& labels, const std::optional<std::int64_t>& classes, BatchReport& report) {
  report.labels = static_cast<std::uint64_t>(labels.numel());
  if (report.labels == 0) return {};
  const bool class_labels = !labels.is_floating_point() || classes.has_value();
  Counts counts;
  std::optional<double> first;
  bool one_value = true;
  for_each_label(labels, [&](double value) {
    if (class_labels && value == kIgnoredLabel) {
      ++report.ignored_labels;
      return;
    }
    one_value = one_value && value == first.value_or(value);
    if (!first) first = value;
    const bool whole = std::isfinite(value) && value == std::floor(value);
    const bool within = !classes || (value >= 0 && value < static_cast<double>(*classes));
    if (!std::isfinite(value) || (class_labels && (!whole || value < 0 || !within))) {
      ++report.invalid_labels;
    } else if (class_labels) {
      ++counts[static_cast<std::int64_t>(value)];
    }
  });
  report.constant_label = one_value && report.labels - report.ignored_labels >= kFewestForConstantLabel;
  report.classes_seen = static_cast<std::int64_t>(counts.size());
  report.largest_class_share = largest_share(counts);
  return counts;
}

void name_problems(const BatchExpectations& expectations, BatchReport& report) {
  auto& problems = report.problems;
  if (report.nonfinite > 0)
    problems.push_back(fmt::format("{} of {} inputs are NaN or infinite.", report.nonfinite, report.inputs));
  if (report.abs_max > expectations.extreme) {
    problems.push_back(fmt::format("Inputs reach {:.4g}; beyond {:.4g} they are hardly normalised.", report.abs_max,
                                   expectations.extreme));
  }
  if (report.identical_samples) problems.emplace_back("All samples of the batch are the same.");
  if (report.repeated) problems.emplace_back("The same batch came before.");
  if (report.invalid_labels > 0) {
    problems.push_back(fmt::format("{} of {} labels are NaN, fractional, negative or beyond the classes.",
                                   report.invalid_labels, report.labels));
  }
  if (report.constant_label) problems.emplace_back("All labels of the batch are the same.");
}

/// What one look at a batch gives.
struct BatchLook {
  BatchReport report;
  std::vector<std::uint64_t> hashes;  // of its samples
  Counts counts;                      // of its classes
};

BatchLook look_at(const at::Tensor& inputs, const at::Tensor& labels, const BatchExpectations& expectations,
                  stats::Engine& engine, stats::Batch& questions) {
  const at::NoGradGuard no_graph;
  BatchLook look;
  BatchReport& report = look.report;
  if (inputs.defined()) {
    report.inputs = static_cast<std::uint64_t>(inputs.numel());
    const at::Tensor host = at_hand(inputs);
    look_at_values(host, engine, questions, report);
    if (!inputs.is_sparse()) look.hashes = sample_hashes(host);
    report.identical_samples =
        look.hashes.size() >= 2 &&
        std::all_of(look.hashes.begin(), look.hashes.end(), [&](std::uint64_t hash) { return hash == look.hashes[0]; });
  }
  if (labels.defined()) look.counts = look_at_labels(labels, expectations.classes, report);
  return look;
}

}  // namespace

BatchReport validate_batch(const at::Tensor& inputs, const at::Tensor& labels, const BatchExpectations& expectations) {
  const auto engine = stats::make_cpu_engine(0);
  stats::Batch questions;
  BatchReport report = look_at(inputs, labels, expectations, *engine, questions).report;
  name_problems(expectations, report);
  return report;
}

BatchChecker::BatchChecker(BatchExpectations expectations)
    : expectations_(expectations), engine_(stats::make_cpu_engine(0)) {}

BatchReport BatchChecker::check(const at::Tensor& inputs, const at::Tensor& labels) {
  auto [report, hashes, counts] = look_at(inputs, labels, expectations_, *engine_, questions_);
  for (const auto& [label, count] : counts) {
    // As many classes as anybody has; labels beyond are not classes, and would fill the memory.
    constexpr std::size_t kMostClasses = 100000;
    if (labels_.size() < kMostClasses || labels_.contains(label)) labels_[label] += count;
  }
  report.class_share_so_far = largest_share(labels_);
  if (inputs.defined() && inputs.dim() > 0 && !inputs.is_sparse()) {
    std::uint64_t whole = 0;
    for (const std::uint64_t hash : hashes) whole = whole * 31 + hash;
    const auto newest =
        std::find_if(seen_.rbegin(), seen_.rend(), [&](const Seen& earlier) { return earlier.hash == whole; });
    report.repeated = newest != seen_.rend();
    if (report.repeated) report.repeated_after = batches_ - newest->number;
    seen_.push_back({whole, batches_});
    if (seen_.size() > kBatchesRemembered) seen_.pop_front();
  }
  ++batches_;
  name_problems(expectations_, report);
  return report;
}

std::vector<std::uint64_t> sample_hashes(const at::Tensor& samples) {
  const at::NoGradGuard no_graph;
  const at::Tensor host = at_hand(samples);
  std::vector<std::uint64_t> hashes;
  if (host.dim() == 0 || host.size(0) == 0) return hashes;
  hashes.reserve(static_cast<std::size_t>(host.size(0)));
  const std::size_t bytes = host.nbytes() / static_cast<std::size_t>(host.size(0));
  const auto* data = static_cast<const std::byte*>(host.data_ptr());
  for (std::int64_t i = 0; i < host.size(0); ++i)
    hashes.push_back(hash_of(data + static_cast<std::size_t>(i) * bytes, bytes));
  return hashes;
}

double shared_samples(std::vector<std::uint64_t> training, const std::vector<std::uint64_t>& validation) {
  if (validation.empty()) return 0;
  std::sort(training.begin(), training.end());
  const auto shared = std::count_if(validation.begin(), validation.end(), [&](std::uint64_t hash) {
    return std::binary_search(training.begin(), training.end(), hash);
  });
  return static_cast<double>(shared) / static_cast<double>(validation.size());
}

double changed_samples(const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& second) {
  if (first.size() != second.size()) return 1;
  if (first.empty()) return 0;
  std::size_t changed = 0;
  for (std::size_t i = 0; i < first.size(); ++i) changed += first[i] != second[i] ? 1 : 0;
  return static_cast<double>(changed) / static_cast<double>(first.size());
}

}  // namespace osler::torch
