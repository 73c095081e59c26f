// Suggestions for a word that is not known.
#include "cli/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace osler::cli {
namespace {

constexpr std::size_t kLongest = 64;  // beyond this a word is no typing error, and the table stays small
constexpr std::size_t kSuggestions = 3;

}  // namespace

int edit_distance(std::string_view one, std::string_view other) {
  one = one.substr(0, kLongest);
  other = other.substr(0, kLongest);
  using Row = std::array<int, kLongest + 1>;
  Row before_last{};
  Row last{};
  Row row{};
  for (std::size_t j = 0; j <= other.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= one.size(); ++i) {
    before_last = last;
    last = row;
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const int replace = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[other.size()];
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::vector<std::pair<int, const std::string*>> ranked;
  for (const std::string& candidate : candidates) {
    const bool part = word.size() >= 3 && candidate.find(word) != std::string::npos;
    const int distance = part ? 0 : edit_distance(word, candidate);
    const int limit = 1 + static_cast<int>(std::min(word.size(), candidate.size())) / 4;
    if (distance <= limit) ranked.emplace_back(distance, &candidate);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> best;
  for (const auto& [distance, candidate] : ranked) {
    if (best.size() < kSuggestions) best.push_back(*candidate);
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::vector<std::string> best = nearest(word, candidates);
  if (best.empty()) return {};
  if (best.size() == 1) return fmt::format("; did you mean {}?", best.front());
  const std::vector<std::string> front(best.begin(), best.end() - 1);
  return fmt::format("; did you mean {} or {}?", fmt::join(front, ", "), best.back());
}

}  // namespace osler::cli
