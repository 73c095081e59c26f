// FreshTrial: which short trainings from fresh weights to make, and what they say of the rate and the regularisation.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "osler/run/experiment.h"

namespace osler::probes {

/// A mean loss with its standard error; infinite when it is not finite.
struct LossLevel {
  double mean = std::numeric_limits<double>::infinity();
  double error = 0;
};
[[nodiscard]] LossLevel level_of(std::span<const double> losses);

/// One of the short trainings.
struct FreshArm {
  std::string name;
  std::string words;
  double factor = 1;        ///< of the learning rate
  bool regularised = true;  ///< false: without weight decay and dropout
  std::vector<double> losses = {};
  LossLevel level = {};
};

/// Goes up from a tenth of the rate until it is clear on which side the better rates lie, then takes the regularisation
/// away.
class FreshTrial {
 public:
  /// `now` is the loss that the training has come to, `first` that of the fresh weights; `classes`: it is that of a
  /// classifier, which is never negative.
  FreshTrial(LossLevel now, LossLevel first, double rate, std::size_t steps, double largest, bool classes)
      : now_(now), first_(first), rate_(rate), steps_(steps), largest_(largest), classes_(classes) {}

  /// The training to make next; nothing when enough is known.
  [[nodiscard]] std::optional<FreshArm> next();
  /// What came of it: its losses up to where it broke.
  void trained(FreshArm arm, std::vector<double> losses);
  /// There is no regularisation to take away.
  void nothing_to_drop() { dropped_ = true; }

  /// Writes values, columns, outcome and verdict.
  void write(Experiment& experiment) const;

 private:
  [[nodiscard]] bool learned(const FreshArm& arm) const;
  [[nodiscard]] bool clearly_better(const FreshArm& arm) const;
  [[nodiscard]] const FreshArm& best() const;
  void judge(Experiment& experiment) const;

  LossLevel now_;
  LossLevel first_;
  double rate_;
  std::size_t steps_;
  double largest_;
  bool classes_;
  std::vector<FreshArm> arms_;  // at several rates, the present one second
  std::optional<FreshArm> free_;
  bool dropped_ = false;
};

}  // namespace osler::probes
