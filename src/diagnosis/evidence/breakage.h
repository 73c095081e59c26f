// Breakage: how the first numbers and the first NaN of a run came about.
#pragma once

#include <optional>
#include <string>

#include "diagnosis/patient.h"
#include "diagnosis/verdicts.h"

namespace osler {

/// The training loss had finite values for a while, broke from an ordinary one, and none has been finite since.
[[nodiscard]] bool broke_for_good(const Patient& patient);

/// The gradient norm stopped being finite while the loss still was.
[[nodiscard]] bool gradient_broke_first(const Patient& patient);

/// In words: the first gradient norm is a hundred and more, in a run whose loss stays finite; else nothing.
[[nodiscard]] std::optional<std::string> first_norm_huge(const Patient& patient);

/// In words: the loss was calm, then leapt to a multiple within one point and never came back; else nothing. Steps that
/// are too long do it by and by, a single batch at once.
[[nodiscard]] std::optional<std::string> leapt_at_once(const Patient& patient, const Verdicts& verdicts);

/// The validation loss is the same number in every evaluation, with digits enough to show any change.
[[nodiscard]] bool weights_stand_still(const Patient& patient);

}  // namespace osler
