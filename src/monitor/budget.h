// Budget: a share of the training time, earned by training and spent on watching.
#pragma once

#include <algorithm>

namespace osler::monitor {

/// Decides when something that costs time may be done so that it takes at most a share of the training time. The first
/// time is free: it tells what the thing costs.
class Budget {
 public:
  explicit Budget(double share) : share_(share) {}

  /// Training has taken so long.
  void earn(double seconds) {
    // What was saved up is bounded, so that a long pause is not followed by a burst.
    credit_ = std::min(credit_ + share_ * seconds, std::max(2 * expected_, share_ * kMostSaved));
  }
  /// So much may be spent beside the share: the first looks are worth more than later ones.
  void grant(double seconds) { credit_ += seconds; }
  /// Whether what it costs has been earned.
  [[nodiscard]] bool affords() const { return share_ > 0 && credit_ >= expected_; }
  /// It was done and took so long.
  void spend(double seconds) {
    // A process that was stopped meanwhile, for minutes perhaps, is not to end the looking for the rest of the
    // training.
    credit_ = std::max(credit_ - seconds, -share_ * kMostOwed);
    spent_ += seconds;
    expected_ =
        expected_ == 0 ? seconds : expected_ + kAdapt * (std::min(seconds, kMostDearer * expected_) - expected_);
  }

  /// What it took in all.
  [[nodiscard]] double spent() const { return spent_; }

 private:
  static constexpr double kMostSaved = 1.0;  // seconds of training
  static constexpr double kAdapt = 0.3;
  static constexpr double kMostOwed = 60;   // seconds of training
  static constexpr double kMostDearer = 8;  // times what was expected

  double share_;
  double credit_ = 0;
  double expected_ = 0;
  double spent_ = 0;
};

}  // namespace osler::monitor
