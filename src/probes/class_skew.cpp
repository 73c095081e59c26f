// Comparing the classes of batches with all batches together.
#include "probes/class_skew.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace osler::probes {
namespace {

constexpr std::size_t kBatchesKept = 256;
constexpr std::size_t kFewestBatches = 4;
constexpr double kDominant = 0.9;  // share of one class that makes the others hardly count
constexpr double kSorted = 2;      // chi-square per degree of freedom; 1 for batches drawn at random

/// What chi-square per degree of freedom exceeds once in ten thousand times by chance (Wilson, Hilferty 1931).
double by_chance(double freedom) {
  constexpr double kOnceInTenThousand = 3.719;  // deviations of a normal distribution
  const double variance = 2 / (9 * freedom);
  return std::pow(1 - variance + kOnceInTenThousand * std::sqrt(variance), 3);
}

}  // namespace

void ClassSkew::add(const std::vector<std::int64_t>& labels) {
  std::map<std::int64_t, std::uint64_t> counts;
  for (const std::int64_t label : labels) ++counts[label];
  for (const auto& [label, count] : counts) pooled_[label] += count;
  labels_ += labels.size();
  ++batches_;
  if (seen_.size() < kBatchesKept) seen_.push_back(std::move(counts));
}

std::optional<std::string> ClassSkew::problem() const {
  if (seen_.size() < kFewestBatches || labels_ < 2 * batches_) return std::nullopt;
  const auto largest = std::max_element(pooled_.begin(), pooled_.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  const double share = static_cast<double>(largest->second) / static_cast<double>(labels_);
  if (pooled_.size() == 1) return fmt::format("All {} labels drawn are of class {}.", labels_, largest->first);
  if (share > kDominant) {
    return fmt::format("{:.0f} % of the {} labels drawn are of class {}.", 100 * share, labels_, largest->first);
  }
  if (classes_ && 2 * static_cast<std::int64_t>(pooled_.size()) < *classes_ &&
      labels_ > 10 * static_cast<std::uint64_t>(*classes_)) {
    return fmt::format("Only {} of {} classes are among the {} labels drawn.", pooled_.size(), *classes_, labels_);
  }
  double square = 0;
  for (const auto& counts : seen_) {
    std::uint64_t size = 0;
    for (const auto& [label, count] : counts) size += count;
    for (const auto& [label, all] : pooled_) {
      const double expected = static_cast<double>(size) * static_cast<double>(all) / static_cast<double>(labels_);
      const auto found = counts.find(label);
      const double there = found == counts.end() ? 0.0 : static_cast<double>(found->second);
      square += (there - expected) * (there - expected) / expected;
    }
  }
  const double freedom = static_cast<double>(seen_.size() - 1) * static_cast<double>(pooled_.size() - 1);
  if (square / freedom > std::max(kSorted, by_chance(freedom))) {
    return "The batches differ in their classes far more than batches drawn at random would: the data are sorted or "
           "not "
           "shuffled.";
  }
  return std::nullopt;
}

}  // namespace osler::probes
