// Suggestions for a word that is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace osler::cli {

/// How many letters must be inserted, removed, replaced or swapped with a neighbour to turn one word into the other.
[[nodiscard]] int edit_distance(std::string_view one, std::string_view other);

/// The candidates most like `word`, best first, at most three; none when nothing is close.
[[nodiscard]] std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean a, b or c?", or nothing when no candidate is close.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace osler::cli
