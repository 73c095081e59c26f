// Chance: what a model that has learned nothing scores, and whether a run ever does better.
#pragma once

#include <optional>
#include <string>

#include "diagnosis/patient.h"

namespace osler {

/// A logged figure that stays at what guessing gives.
struct Guessing {
  std::string series;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  double level = 0;         ///< where it stays, as the log writes it
  double chance = 0;        ///< what guessing gives
  std::string words;        ///< what guessing is here: "the loss of guessing among 10 classes"
  int classes = 0;          ///< the classes among which it guesses; 0 where that does not apply
  bool validation = false;  ///< measured on validation data
};

/// The figure that shows most clearly that the model guesses from its first evaluation to its last: cross-entropy at
/// ln C with an accuracy of 1/C, an area under the curve of 0.5, R2 at or below 0, a detector or segmenter that never
/// finds anything. Nothing where some figure does better, or none has a known level of chance.
[[nodiscard]] std::optional<Guessing> guessing(const Patient& patient);

/// A figure of merit that no evaluation brought above what a model without any knowledge scores.
struct Unlearned {
  std::string series;
  double figure = 0;        ///< its best value as the log writes it
  double limit = 0;         ///< what it stayed below
  std::string words;        ///< what that means: "no better than predicting the mean"
  bool follows = false;     ///< it got better with the loss, if not good
  bool validation = false;  ///< measured on validation data
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  double guess = 0;  ///< of an accuracy: the nats that a guess costs which is right as often; 0 for other figures

  /// A loss that claims no more than the figure does: it came down to that of a guess, from not far above.
  [[nodiscard]] bool agrees(const Reading& loss) const;
};
/// R2 that was never above 0, an area under the curve that was never above that of guessing, or an accuracy that is low
/// and has not risen since its first values. Unlike guessing(), it holds whatever the loss did meanwhile.
[[nodiscard]] std::optional<Unlearned> unlearned(const Patient& patient);

/// The number of classes: as configured, or as the first loss and the first accuracy agree on before anything is
/// learned, or as a loss near that of guessing tells.
[[nodiscard]] std::optional<int> class_count(const Patient& patient);

/// How far the best evaluation lies between guessing (0) and perfection (1), by accuracy among a known number of
/// classes, area under the curve, or R2.
struct Skill {
  std::string series;
  double share = 0;     ///< 0: guessing, 1: perfect; may be negative
  double figure = 0;    ///< the best value as the log writes it
  bool rising = false;  ///< it still improved clearly over the last third of the run
  double soon = 0;      ///< the share after as many steps again, at the pace of the last third
  std::int64_t last_step = 0;
};
/// On validation data where there are any, else on training data; nothing where the log does not tell.
[[nodiscard]] std::optional<Skill> skill(const Patient& patient);

}  // namespace osler
