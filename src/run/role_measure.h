// Which figure of merit the words of a name speak of.
#pragma once

#include "osler/run/role.h"
#include "run/name_words.h"

namespace osler {

/// The figure that the words name; unknown when they only say "loss" or "metric".
[[nodiscard]] Measure measure_of(const NameWords& w);

}  // namespace osler
