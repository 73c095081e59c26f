// What a monitor may spend.
#include "monitor/spending.h"

#include <algorithm>
#include <utility>

namespace osler::monitor {
namespace {

/// Of the budget; the rest is left for what every step costs anyway and for what cannot be measured from inside, such
/// as what watching displaces from caches.
constexpr double kGradientShare = 0.06;
constexpr double kStatisticsShare = 0.09;
constexpr double kTraceShare = 0.09;
constexpr double kDiagnosisShare = 0.04;
constexpr double kHistogramShare = 0.03;

}  // namespace

Spending::Spending(double budget, Budget& batches)
    : gradients(kGradientShare * budget),
      statistics(kStatisticsShare * budget),
      trace(kTraceShare * budget),
      diagnosis(kDiagnosisShare * budget),
      histograms(kHistogramShare * budget),
      budget_(budget),
      batches_(batches) {}

bool Spending::early_left() const {
  if (budget_ <= 0) return false;
  const double step = seen_ > 0 ? training_ / static_cast<double>(seen_) : 0;
  return early_spent_ < std::max(kEarlySeconds, kEarlyInSteps * step);
}

bool Spending::early() const {
  return seen_ < kFirstSteps && seen_ % kEarlyEvery == 0 && early_left();
}

bool Spending::due(std::int64_t step, std::int64_t every, const Budget& budget) const {
  if (every < 0) return false;
  return every > 0 ? step % every == 0 : early() || budget.affords();
}

void Spending::spend(Budget& budget, double seconds, bool early) {
  if (early) {
    early_spent_ += seconds;
    budget.grant(seconds);
  }
  budget.spend(seconds);
}

double Spending::undisturbed(double seconds, double at_work) {
  constexpr double kFaster = 0.25;  // a step that others hold up is never too short, so that a short one tells more
  constexpr double kSlower = 0.02;
  constexpr double kMostLonger = 4;
  constexpr double kAlike = 1.25;
  if (usual_ == 0) usual_ = seconds;
  usual_ += (seconds < usual_ ? kFaster : kSlower) * (std::min(seconds, kMostLonger * usual_) - usual_);
  // What takes many times as long is no step: a validation, a checkpoint, another training.
  return std::min({seconds, std::max(at_work, kAlike * usual_), kMostLonger * usual_});
}

void Spending::earn(double training_seconds, std::optional<double> at_work) {
  if (at_work) training_seconds = undisturbed(training_seconds, *at_work);
  // What every step costs anyway is paid first; only the rest can be spent. Something is left even where there is no
  // rest, or nothing would ever be looked at.
  constexpr double kAlways = 0.25;
  if (budget_ > 0) {
    training_seconds = std::max(kAlways * training_seconds, training_seconds - std::exchange(fixed_, 0) / budget_);
  }
  for (Budget* const each : all()) each->earn(training_seconds);
}

void Spending::took(double seconds) {
  own_ += seconds;
  double bought = 0;
  for (const Budget* const each : all()) bought += each->spent();
  fixed_ += std::max(0.0, seconds - (bought - bought_));
  bought_ = bought;
}

std::array<Budget*, 6> Spending::all() {
  return {&gradients, &statistics, &trace, &diagnosis, &histograms, &batches_};
}

}  // namespace osler::monitor
