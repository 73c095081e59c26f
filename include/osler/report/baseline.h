// A baseline: the reference ranges of someone's own healthy runs, as a file.
#pragma once

#include <string>
#include <string_view>

#include "osler/base/result.h"
#include "osler/diagnosis/measures.h"
#include "osler/report/render.h"

namespace osler {

/// The ranges as the text of a baseline file (JSON).
[[nodiscard]] std::string render_baseline(const ReferenceRanges& ranges);
/// The ranges in such a text; `name` is the file, for errors.
[[nodiscard]] Result<ReferenceRanges> parse_baseline(std::string_view text, const std::string& name);
/// The ranges for people: each measure with its usual values in each group of runs.
[[nodiscard]] std::string render_ranges(const ReferenceRanges& ranges);

}  // namespace osler
