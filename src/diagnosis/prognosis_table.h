// The learned margins of a prognosis.
#pragma once

#include <span>

#include "diagnosis/prognosis.h"

namespace osler {

/// Rows in rising order of how far ahead they hold.
[[nodiscard]] std::span<const MarginRow> margin_table();

}  // namespace osler
