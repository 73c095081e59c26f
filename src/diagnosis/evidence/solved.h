// Solved: nothing is left to learn, so that what looks odd at the end of a run does no harm.
#pragma once

#include "diagnosis/patient.h"

namespace osler {

/// Nearly every answer is right on every split whose accuracy is logged, and the loss fell on the way there.
[[nodiscard]] bool all_answers_right(const Patient& patient);

/// Training came down to a hundredth of its first loss, or all answers are right. Zero gradients, equal values and
/// leaps of single samples are then what success looks like.
[[nodiscard]] bool solved(const Patient& patient);

}  // namespace osler
