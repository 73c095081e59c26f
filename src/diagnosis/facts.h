// Facts: what the curves say that several causes weigh.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/patient.h"
#include "diagnosis/verdicts.h"

namespace osler {

/// The learning rate over the run, where the log has it and it was ever above zero.
struct RateSchedule {
  double start = 0;
  double peak = 0;
  double now = 0;
  std::int64_t peak_step = 0;   ///< where the peak was reached first
  std::int64_t spent_step = 0;  ///< from here on it stays below a twentieth of the peak
  double spent_share = 0;       ///< the part of the logged rates after that

  /// What is left of the peak.
  [[nodiscard]] double left() const { return now / peak; }
};
[[nodiscard]] std::optional<RateSchedule> rate_schedule(const Patient& patient);

/// The median of the logged gradient norms.
[[nodiscard]] std::optional<double> usual_norm(const Patient& patient);
/// Every logged gradient norm is exactly zero.
[[nodiscard]] bool norms_all_zero(const Patient& patient);
/// The gradient norms are of a size at which training works, at the end as in the middle, and did not run away.
[[nodiscard]] bool norms_ordinary(const Patient& patient, const Verdicts& verdicts);

/// How the training loss looked right before it stopped being a number.
struct Break {
  double before = 0;  ///< the last finite value
  double usual = 0;   ///< the lowest level before it
  double growth = 1;  ///< from the one to the other, as a factor

  [[nodiscard]] bool announced() const;  ///< the loss had climbed: something ran away
  [[nodiscard]] bool sudden() const;     ///< it broke from an ordinary value
};
/// Nothing when the training loss stayed finite or too few values came before.
[[nodiscard]] std::optional<Break> break_of(const Patient& patient);
/// The NaN passed: finite values came after it to the end.
[[nodiscard]] bool break_recovered(const Verdicts& verdicts);

/// The reading fell significantly, by a thousandth of its level or more, over its last third.
[[nodiscard]] bool still_falls(const Reading& reading);
/// What still_falls saw, in words: "train/loss still falls (2.21 to 2.15 over the last third)".
[[nodiscard]] std::string fall_in_words(const Reading& reading);
/// Training still improves: over its last third, or since validation went flat.
[[nodiscard]] bool training_goes_on(const Patient& patient, const Verdicts& verdicts);
/// The training loss has come down to a twentieth of its start: the model fits the training set.
[[nodiscard]] bool fits_training_set(const Patient& patient);
/// The training objective has a significant downward trend of at least a hundredth of its level.
[[nodiscard]] bool training_learned(const Patient& patient);
/// The number of classes when the loss has never been far from the uniform guess among them and is within `tolerance`
/// (relative) of it now.
[[nodiscard]] std::optional<int> stays_at_chance(const Patient& patient, double tolerance);
/// In words: the validation loss lies near that of guessing, but surely below it, so the labels do say something; else
/// nothing.
[[nodiscard]] std::optional<std::string> better_than_guessing(const Patient& patient);
/// The loss crept up smoothly after its best, not far, and validation with it, under a rate that did not grow: the
/// picture of weights that shrink, not of steps that overshoot.
[[nodiscard]] bool creeps_back(const Patient& patient, const Verdicts& verdicts);
/// The number of classes that the configuration names, or else the one that the first loss gives away by being the loss
/// of guessing among them.
[[nodiscard]] std::optional<int> known_classes(const Patient& patient);
/// In words: training learned, and validation never did better than guessing, from the first evaluation to the last;
/// else nothing.
[[nodiscard]] std::optional<std::string> nothing_carries_over(const Patient& patient);
/// The size of the signal on its way through the network before it has learned anything: the deviation of the outputs
/// of its layers when the monitor first looked.
struct FirstSignal {
  std::string from;   ///< the first layer
  std::string to;     ///< the last layer
  double growth = 1;  ///< the last layer's size over the first one's

  [[nodiscard]] bool grows() const;
  [[nodiscard]] bool fades() const;
  [[nodiscard]] bool keeps() const;  ///< about the same size everywhere
  [[nodiscard]] std::string in_words() const;
};
/// Nothing without activations of at least two layers.
[[nodiscard]] std::optional<FirstSignal> first_signal(const Patient& patient);
/// A monitor in the training process wrote the run: what it records of parameters is of those that can be trained.
[[nodiscard]] bool monitored(const Patient& patient);
/// The loss is the same number throughout, to the last digit.
[[nodiscard]] bool exactly_constant(const Reading& reading);

/// The newest validation values, from the loss or else the first metric.
struct ValidationTail {
  std::string series;
  std::vector<double> values;  ///< as the log has them
  bool all_different = false;
  bool all_equal = false;
};
/// Nothing with fewer than three evaluations.
[[nodiscard]] std::optional<ValidationTail> validation_tail(const Patient& patient);
/// "the last 10 values of val/loss are all 2.341", for a tail of equal values while training moves; else nothing.
[[nodiscard]] std::optional<std::string> repeats_itself(const Patient& patient, const Verdicts& verdicts);
/// A validation metric is frozen while the validation loss follows the weights.
[[nodiscard]] bool only_metric_frozen(const Patient& patient, const Verdicts& verdicts);
/// Validation improved with training by more than its noise at some time: it sees the weights.
[[nodiscard]] bool validation_followed(const Patient& patient);

/// The observation was made on validation data.
[[nodiscard]] bool on_validation(const Patient& patient, const Observation& observation);
/// The value of a qualifier, empty when it is not there.
[[nodiscard]] std::string_view qualifier(const Observation* observation, const std::string& name);
/// The newest restart at or before `step`.
[[nodiscard]] const Mark* restart_before(const Patient& patient, std::int64_t step);

}  // namespace osler
