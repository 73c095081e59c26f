// Clues that several causes weigh alike.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnosis/patient.h"
#include "diagnosis/verdicts.h"

namespace osler {

/// The clue that a break gives: `if_announced` when the loss climbed to it, `if_sudden` when nothing foretold it.
void weigh_break(const Patient& patient, double if_announced, double if_sudden, std::vector<Clue>& clues);
/// The clue that gradient norms of an ordinary size give.
void weigh_ordinary_norms(const Patient& patient, const Verdicts& verdicts, double weight, std::vector<Clue>& clues);
/// The clue for memorising where no valley shows yet: training improves while validation stands still.
void weigh_silent_memorising(const Patient& patient, const Verdicts& verdicts, std::vector<Clue>& clues);
/// The clue against a faulty validation when the weights themselves do not move: the rate is spent or nothing is
/// learned.
void weigh_still_weights(const Patient& patient, const Verdicts& verdicts, std::vector<Clue>& clues);
/// The clue against causes that show on validation data alone, when the flat series is the training loss.
void weigh_flat_training(const Patient& patient, const Verdicts& verdicts, std::vector<Clue>& clues);
/// Why the run cannot be memorising its training set, for the causes of overfitting.
[[nodiscard]] std::optional<std::string> no_memorising(const Patient& patient, const Verdicts& verdicts);

}  // namespace osler
