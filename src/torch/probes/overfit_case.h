// OverfitCase: one batch and everything the search for a reason needs to try it again.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "osler/torch/overfit.h"
#include "probes/memorising.h"
#include "torch/probes/probe.h"

namespace osler::torch {

/// What an attempt changes; the training as it is by default.
struct Attempt {
  enum class Mode { as_is, training, evaluation };
  double rate_factor = 1;
  Mode mode = Mode::as_is;
  bool plain_optimizer = false;  ///< Adam, at its default rate times the factor, on every parameter, frozen or not

  friend auto operator<=>(const Attempt&, const Attempt&) = default;
};

/// The losses of an attempt, up to where it ended.
struct Tried {
  std::vector<double> losses;
  bool memorised = false;
};

/// One training on one batch.
class OverfitCase {
 public:
  OverfitCase(const Training& training, const OverfitOptions& options, Preserved& preserved, const Clock& clock)
      : training_(training), options_(options), preserved_(preserved), clock_(clock) {}

  /// Draws the batch: the first of a few whose labels are not all the same.
  void choose_batch();
  /// Computes the first loss, the lowest loss that outputs could have, and the target. False when the loss is not
  /// finite or has no gradient.
  bool aim();
  /// Trains from the start; every attempt is made once.
  const Tried& attempt(const Attempt& attempt);

  [[nodiscard]] const Training& training() const { return training_; }
  [[nodiscard]] const Batch& batch() const { return batch_; }
  [[nodiscard]] const probes::MemoryGoal& goal() const { return goal_; }
  [[nodiscard]] double first() const { return goal_.first; }
  [[nodiscard]] double floor() const { return goal_.floor; }
  [[nodiscard]] double target() const { return goal_.target; }
  [[nodiscard]] bool unbounded() const { return unbounded_; }
  [[nodiscard]] Preserved& preserved() { return preserved_; }

 private:
  const Training& training_;
  const OverfitOptions& options_;
  Preserved& preserved_;
  const Clock& clock_;
  Batch batch_;
  probes::MemoryGoal goal_;
  bool unbounded_ = false;  // the loss of free outputs falls faster and faster
  std::map<Attempt, Tried> made_;
};

/// Whether even free outputs end where a softmax that is applied twice ends: ln(1 + (C - 1) / e) for C classes.
[[nodiscard]] bool softmax_in_loss_twice(const OverfitCase& overfit);

/// Something that keeps a batch from being memorised.
struct Suspect {
  const char* id;
  /// The evidence that this is the reason; nothing when it is not.
  std::optional<std::string> (*look)(OverfitCase& overfit);
};

/// Those to be looked at before anything is trained.
[[nodiscard]] const std::vector<Suspect>& plain_suspects();
/// Those to be looked at when the batch was not memorised, the surest first.
[[nodiscard]] const std::vector<Suspect>& suspects();

}  // namespace osler::torch
