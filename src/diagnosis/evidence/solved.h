// Solved: nothing is left to learn, so that what looks odd at the end of a run does no harm.
#pragma once

#include "diagnosis/patient.h"

namespace osler {

/// Training came down to a hundredth of its first loss, or nearly every answer is right on every split that is logged
/// and the loss fell on the way there. Zero gradients, equal values and leaps of single samples are then what success
/// looks like.
[[nodiscard]] bool solved(const Patient& patient);

}  // namespace osler
