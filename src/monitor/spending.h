// Spending: what a monitor may spend of the training's time, on what, and what it has spent.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "monitor/budget.h"

namespace osler::monitor {

/// The budgets of one monitor. The first steps are looked at whatever the budget says, up to a bound.
class Spending {
 public:
  /// Steps in which everything is worth a look; every third of them is looked at in full.
  static constexpr std::int64_t kFirstSteps = 50;
  static constexpr std::int64_t kEarlyEvery = 3;
  /// What these looks may take: so many seconds or the time of so many steps, whichever is more.
  static constexpr double kEarlySeconds = 2;
  static constexpr double kEarlyInSteps = 10;  // 1 % of a run of 1,000 steps
  /// Of the budget, what looks at batches may take.
  static constexpr double kBatchShare = 0.2;

  /// `budget`: the share of the training time that watching may take. `batches` earns with the others; it must outlive
  /// this.
  Spending(double budget, Budget& batches);

  Budget gradients;
  Budget statistics;
  Budget trace;
  Budget diagnosis;
  Budget histograms;

  /// How many steps there were before the one that is examined now.
  void at_step(std::int64_t seen) { seen_ = seen; }
  /// One of the first steps, which are looked at whatever the budget says.
  [[nodiscard]] bool early() const;
  /// Whether the first looks have not yet taken what they may.
  [[nodiscard]] bool early_left() const;
  /// Whether something is to be done at this step that is done every so many, or, with 0, when a budget affords it.
  [[nodiscard]] bool due(std::int64_t step, std::int64_t every, const Budget& budget) const;

  /// Takes what a look has cost from its budget; of an early one the budget is given it first.
  void spend(Budget& budget, double seconds) { spend(budget, seconds, early()); }
  void spend(Budget& budget, double seconds, bool early);
  /// The training has taken so long, which counts for how long a step is.
  void trained(double seconds) { training_ += seconds; }
  /// So much of it earns. Where it is known how long the thread was at work, what takes longer than usual earns no more
  /// than that: a step that others held up is not paid for with looks that they do not hold up. A pause, in which the
  /// thread may have done something else, earns as much as some steps.
  void earn(double training_seconds, std::optional<double> at_work = std::nullopt);
  /// Watching has taken so long, what was spent from the budgets included.
  void took(double seconds);

  /// In seconds, what training has taken so far, watching in all, and the first looks.
  [[nodiscard]] double training() const { return training_; }
  [[nodiscard]] double own() const { return own_; }
  [[nodiscard]] double early_spent() const { return early_spent_; }

 private:
  std::array<Budget*, 6> all();
  double undisturbed(double seconds, double at_work);

  double budget_;
  Budget& batches_;
  std::int64_t seen_ = 0;
  double training_ = 0;
  double own_ = 0;
  double early_spent_ = 0;
  double usual_ = 0;   // what a step takes that nothing holds up
  double fixed_ = 0;   // what was spent beside the budgets and not yet set off against what they earn
  double bought_ = 0;  // what the budgets were spent on so far
};

}  // namespace osler::monitor
