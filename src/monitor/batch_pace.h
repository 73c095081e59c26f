// BatchPace: which batches are looked at.
#pragma once

#include <cstddef>
#include <cstdint>

#include "monitor/budget.h"

namespace osler::monitor {

/// The first batches are looked at whatever it costs, because there most that is wrong with data shows; later ones as
/// the budget allows, several one after the other: a loader that hands out the same few batches shows in neighbours.
class BatchPace {
 public:
  static constexpr std::uint64_t kFirst = 64;
  static constexpr std::size_t kInARow = 8;

  /// `every`: looks at one batch of so many; 0: as the budget, a share of the training time, allows; -1: at none.
  BatchPace(std::int64_t every, double share) : every_(every), budget_(share) {}

  /// Whether batch number so-and-so is looked at; asked once for each.
  bool due(std::uint64_t number) {
    if (every_ != 0) return every_ > 0 && number % static_cast<std::uint64_t>(every_) == 0;
    if (number < kFirst) return true;
    if (in_a_row_ == 0 && budget_.affords()) in_a_row_ = kInARow;
    if (in_a_row_ == 0) return false;
    --in_a_row_;
    return true;
  }
  [[nodiscard]] Budget& budget() { return budget_; }

 private:
  std::int64_t every_;
  Budget budget_;
  std::size_t in_a_row_ = 0;  // batches that are still to be looked at one after the other
};

}  // namespace osler::monitor
