// Renderers of a comparison: as text for a terminal, and as JSON.
#pragma once

#include <string>

#include "osler/diagnosis/compare.h"
#include "osler/report/render.h"

namespace osler {

/// Headline, both curves in one plot with the place where they part, the numbers side by side, both verdicts.
[[nodiscard]] std::string render_text(const Comparison& comparison, const TextOptions& options = {});

/// The contract "osler-comparison/1", one object with both reports in it.
[[nodiscard]] std::string render_json(const Comparison& comparison);

}  // namespace osler
