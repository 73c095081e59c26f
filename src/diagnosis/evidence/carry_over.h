// Carry-over: how much of what training learned shows on validation data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnosis/patient.h"
#include "osler/diagnosis/catalogue.h"

namespace osler {

/// The validation loss beside that of the untrained network, for a run whose training loss fell.
struct CarryOver {
  double untrained = 0;  ///< the training loss before anything was learned
  double learned = 0;    ///< the training loss now
  double best = 0;       ///< the lowest level of the validation loss
  double skill = 0;      ///< of the best evaluation: 0 is guessing, 1 perfect; NaN where no metric tells

  /// Validation came down with training, if not as far.
  [[nodiscard]] bool followed() const;
  /// Validation never did better than the untrained network.
  [[nodiscard]] bool never() const;
  /// Validation was always far worse than the untrained network: nothing that is learned makes it so at once.
  [[nodiscard]] bool beyond() const;
  /// Training has come down to next to nothing: it knows its samples by heart.
  [[nodiscard]] bool by_heart() const;
  /// The answers on validation data are no better than guesses.
  [[nodiscard]] bool guesses() const;
  /// The answers on validation data are good, whatever their loss.
  [[nodiscard]] bool answers() const;
};
/// Nothing where training did not learn, or one of the two losses is missing or not a plain one.
[[nodiscard]] std::optional<CarryOver> carry_over(const Patient& patient);

/// What each of these facts weighs for one cause, in log-odds; 0 where it says nothing of it.
struct CarryOverWeights {
  double never = 0;     ///< validation never did better than the untrained network
  double beyond = 0;    ///< and was far worse than that
  double by_heart = 0;  ///< although training is near zero
  double guesses = 0;   ///< the answers are no better than guesses
  double answers = 0;   ///< the answers are good while the loss is not
  double followed = 0;  ///< validation came down with training
};
/// Adds the clues that carry-over gives.
void weigh_carry_over(const Patient& patient, const CarryOverWeights& weights, std::vector<Clue>& clues);

/// In words: training does far worse than validation, as when most of the network is switched off in training; else
/// nothing.
[[nodiscard]] std::optional<std::string> training_held_up(const Patient& patient);

}  // namespace osler
