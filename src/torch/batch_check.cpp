// Looking at batches: values, labels, repetition.
#include "osler/torch/batch_check.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>

#include "osler/stats/engine.h"
#include "torch/host_tensor.h"

namespace osler::torch {
namespace {

constexpr std::size_t kBatchesRemembered = 64;
constexpr std::uint64_t kFewestForConstantLabel = 4;

/// A 64-bit hash of bytes, eight at a time.
std::uint64_t hash_of(const std::byte* bytes, std::size_t count) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15ULL;
  std::uint64_t hash = kPrime ^ count;
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 29U;
  };
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= count; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    mix(word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, bytes + at, count - at);
  mix(rest);
  return hash;
}

void look_at_values(const at::Tensor& inputs, BatchReport& report) {
  const at::Tensor floating = inputs.is_floating_point() ? inputs : inputs.to(at::kFloat);
  const auto host = host_tensor(floating);
  if (!host || host->view.count() == 0) return;
  const std::unique_ptr<stats::Engine> engine = stats::make_cpu_engine(0);
  stats::Batch batch;
  const std::size_t asked = batch.summarize(host->view);
  if (!engine->submit(batch)) return;
  engine->wait(batch);
  const stats::TensorStats& stats = batch.summary(asked);
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
  const at::Tensor flat = labels.detach().to(at::kCPU).to(at::kDouble).contiguous().view(-1);
  const double* values = flat.data_ptr<double>();
  const bool class_labels = !labels.is_floating_point() || classes.has_value();
  Counts counts;
  for (std::uint64_t i = 0; i < report.labels; ++i) {
    const double value = values[i];
    const bool whole = std::isfinite(value) && value == std::floor(value);
    const bool within = !classes || (value >= 0 && value < static_cast<double>(*classes));
    if (!std::isfinite(value) || (class_labels && (!whole || value < 0 || !within))) {
      ++report.invalid_labels;
    } else if (class_labels) {
      ++counts[static_cast<std::int64_t>(value)];
    }
  }
  const bool one_value = std::all_of(values, values + report.labels, [&](double value) { return value == values[0]; });
  report.constant_label = one_value && report.labels >= kFewestForConstantLabel;
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
  if (report.identical_samples) problems.push_back("All samples of the batch are the same.");
  if (report.repeated) problems.push_back("The same batch came before.");
  if (report.invalid_labels > 0) {
    problems.push_back(fmt::format("{} of {} labels are NaN, fractional, negative or beyond the classes.",
                                   report.invalid_labels, report.labels));
  }
  if (report.constant_label) problems.push_back("All labels of the batch are the same.");
}

BatchReport looked_at(const at::Tensor& inputs, const at::Tensor& labels, const BatchExpectations& expectations,
                      Counts& counts) {
  const at::NoGradGuard no_graph;
  BatchReport report;
  if (inputs.defined()) {
    report.inputs = static_cast<std::uint64_t>(inputs.numel());
    look_at_values(inputs, report);
    if (inputs.dim() > 0 && inputs.size(0) >= 2) {
      const std::vector<std::uint64_t> hashes = sample_hashes(inputs);
      report.identical_samples =
          std::all_of(hashes.begin(), hashes.end(), [&](std::uint64_t h) { return h == hashes[0]; });
    }
  }
  if (labels.defined()) counts = look_at_labels(labels, expectations.classes, report);
  return report;
}

}  // namespace

BatchReport validate_batch(const at::Tensor& inputs, const at::Tensor& labels, const BatchExpectations& expectations) {
  Counts counts;
  BatchReport report = looked_at(inputs, labels, expectations, counts);
  name_problems(expectations, report);
  return report;
}

BatchReport BatchChecker::check(const at::Tensor& inputs, const at::Tensor& labels) {
  Counts counts;
  BatchReport report = looked_at(inputs, labels, expectations_, counts);
  for (const auto& [label, count] : counts) {
    // As many classes as anybody has; labels beyond are not classes, and would fill the memory.
    constexpr std::size_t kMostClasses = 100000;
    if (labels_.size() < kMostClasses || labels_.contains(label)) labels_[label] += count;
  }
  report.class_share_so_far = largest_share(labels_);
  if (inputs.defined() && inputs.dim() > 0) {
    std::uint64_t whole = 0;
    for (const std::uint64_t hash : sample_hashes(inputs)) whole = whole * 31 + hash;
    const auto newest = std::find(seen_.rbegin(), seen_.rend(), whole);
    report.repeated = newest != seen_.rend();
    if (report.repeated) report.repeated_after = static_cast<std::size_t>(newest - seen_.rbegin()) + 1;
    seen_.push_back(whole);
    if (seen_.size() > kBatchesRemembered) seen_.pop_front();
  }
  name_problems(expectations_, report);
  return report;
}

std::vector<std::uint64_t> sample_hashes(const at::Tensor& samples) {
  const at::NoGradGuard no_graph;
  const at::Tensor host = samples.detach().to(at::kCPU).contiguous();
  std::vector<std::uint64_t> hashes;
  if (host.dim() == 0 || host.size(0) == 0) return hashes;
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
