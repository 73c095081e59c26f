// plain_text: a line without what only a terminal understands.
#pragma once

#include <string>
#include <string_view>

namespace osler::text {

/// Rewrites what stands in the way of reading: colour codes go, wide punctuation and box-drawing lines become their
/// ASCII counterparts, the glyphs of a progress bar become "[=]". Returns `line` itself when there is nothing to do,
/// else a view of `scratch`.
[[nodiscard]] std::string_view plain_text(std::string_view line, std::string& scratch);

/// Takes numbers out of what a framework prints around them: "tensor(1.94, device='cuda:0', grad_fn=<...>)" is "1.94",
/// "np.float32(0.5)" is "0.5". Returns `line` itself when there is nothing to do, else a view of `scratch`.
[[nodiscard]] std::string_view bare_numbers(std::string_view line, std::string& scratch);

}  // namespace osler::text
