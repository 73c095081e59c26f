// Loss bounds: what an accuracy and a cross-entropy of the same samples allow each other.
#pragma once

#include <optional>
#include <string>

#include "diagnosis/patient.h"

namespace osler {

/// The most that a model which knows how sure it may be pays on average when a share `right` of its answers is right
/// among `classes` (Fano 1961): H(a) + (1 - a) ln(C - 1).
[[nodiscard]] double fano_bound(double right, double classes);

/// In words: so few answers are called right that the loss would have to be higher. A wrong answer costs at least ln 2,
/// since another class is at least as probable, so a share of 1 - loss / ln 2 must be right.
[[nodiscard]] std::optional<std::string> accuracy_too_low_for_loss(const Patient& patient);

/// In words: so many answers are right that an honest loss would be lower. A model that knows how sure it may be stays
/// below Fano's bound, H(a) + (1 - a) ln(C - 1); one above it, yet below guessing, is kept from being sure.
[[nodiscard]] std::optional<std::string> loss_too_high_for_accuracy(const Patient& patient);

/// In words: a metric is clearly worse than guessing and became so while the loss fell: it knows, and answers the
/// opposite; else nothing.
[[nodiscard]] std::optional<std::string> worse_than_guessing(const Patient& patient);

/// In words: the training loss stands still above that of guessing. Not even the class frequencies are learned, which
/// the last biases alone could do; so the weights hardly move. Nothing where the classes are unknown.
[[nodiscard]] std::optional<std::string> stays_above_chance(const Patient& patient);

}  // namespace osler
