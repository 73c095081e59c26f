// Finds where a record ends and the next one of the same line begins.
#include "formats/text/records.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace osler::text {
namespace {

constexpr std::array<std::string_view, 9> kCounters = {"epoch",   "round", "step",   "iteration", "iter",
                                                       "episode", "batch", "update", "generation"};

bool letter(char character) {
  return std::isalpha(static_cast<unsigned char>(character)) != 0;
}

/// The word of letters at the start of a line, if it counts something.
std::string_view leading_counter(std::string_view line) {
  constexpr std::size_t kLongest = 16;
  std::size_t end = 0;
  while (end < line.size() && end <= kLongest && letter(line[end])) ++end;
  std::string word(line.substr(0, end));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kCounters.begin(), kCounters.end(), word) == kCounters.end() ? std::string_view()
                                                                                : line.substr(0, end);
}

/// The whole number after the word at `at`, as in "Round 3" or "epoch: 3".
std::optional<std::int64_t> count_after(std::string_view line, std::size_t at) {
  at = line.find_first_not_of(" :=#[(", at);
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(line.data() + at, line.data() + line.size(), count);
  if (error != std::errc() || (end != line.data() + line.size() && *end == '.')) return std::nullopt;
  return count;
}

/// Where the word next counts further than `from`; the end of the line where it does not.
std::size_t next_record(std::string_view line, std::string_view word, std::int64_t& from) {
  for (std::size_t at = line.find(word, word.size()); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const bool whole = !letter(line[at - 1]) && (at + word.size() == line.size() || !letter(line[at + word.size()]));
    const auto count = whole ? count_after(line, at + word.size()) : std::nullopt;
    if (!count || *count <= from) continue;
    from = *count;
    return at;
  }
  return line.size();
}

}  // namespace

std::string_view take_record(std::string_view& line, bool& several) {
  const std::string_view word = leading_counter(line);
  const auto first = word.empty() ? std::nullopt : count_after(line, word.size());
  std::size_t end = line.size();
  if (first) {
    std::int64_t count = *first;
    end = next_record(line, word, count);
    // Twice may be a remark, as in "epoch 3: best so far, epoch 4 follows"; three times is a list.
    if (!several && end < line.size()) {
      const std::string_view rest = line.substr(end);
      several = next_record(rest, word, count) < rest.size();
    }
    if (!several) end = line.size();
  }
  const std::string_view record = line.substr(0, end);
  line.remove_prefix(end);
  return record;
}

}  // namespace osler::text
