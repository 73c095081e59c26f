// plain_text: a line without what only a terminal understands.
#pragma once

#include <string>
#include <string_view>

namespace osler::text {

/// Rewrites what stands in the way of reading: colour codes go, wide punctuation and box-drawing lines become their
/// ASCII counterparts, the glyphs of a progress bar become "[=]". Returns `line` itself when there is nothing to do,
/// else a view of `scratch`.
[[nodiscard]] std::string_view plain_text(std::string_view line, std::string& scratch);

}  // namespace osler::text
