// Checking an answer to an exercise against the key in its solution.
#include "learn/answer.h"

#include <cctype>
#include <charconv>
#include <optional>

namespace osler::learn {
namespace {

constexpr std::string_view kOpen = "<!-- ";
constexpr std::string_view kClose = " -->";

std::optional<double> plain_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A number as people write it: 0.25, 1e-3, 25%, 1/4.
std::optional<double> number(std::string_view text) {
  if (text.ends_with('%')) {
    const auto share = plain_number(text.substr(0, text.size() - 1));
    return share ? std::optional(*share / 100) : std::nullopt;
  }
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return plain_number(text);
  const auto above = plain_number(text.substr(0, slash));
  const auto below = plain_number(text.substr(slash + 1));
  if (!above || !below || *below == 0) return std::nullopt;
  return *above / *below;
}

void read_answer(Key& key, std::string_view text) {
  constexpr std::string_view kBetween = "between ";
  constexpr std::string_view kAnd = " and ";
  const std::size_t middle = text.find(kAnd);
  if (text.starts_with(kBetween) && middle != std::string_view::npos) {
    const auto lowest = number(text.substr(kBetween.size(), middle - kBetween.size()));
    const auto highest = number(text.substr(middle + kAnd.size()));
    key.is_number = lowest && highest;
    key.lowest = lowest.value_or(0);
    key.highest = highest.value_or(0);
    return;
  }
  while (true) {
    const std::size_t bar = text.find(" | ");
    key.words.push_back(normalised(text.substr(0, bar)));
    if (bar == std::string_view::npos) return;
    text.remove_prefix(bar + 3);
  }
}

void read_comment(Key& key, std::string_view comment) {
  constexpr std::string_view kAnswer = "answer: ";
  constexpr std::string_view kNot = "not ";
  if (comment.starts_with(kAnswer)) return read_answer(key, comment.substr(kAnswer.size()));
  const std::size_t colon = comment.find(": ");
  if (!comment.starts_with(kNot) || colon == std::string_view::npos) return;
  key.wrong.push_back(
      {normalised(comment.substr(kNot.size(), colon - kNot.size())), std::string(comment.substr(colon + 2))});
}

std::string why_not(const Key& key, const std::string& answer) {
  for (const Key::Wrong& wrong : key.wrong) {
    if (wrong.answer == answer) return wrong.why;
  }
  return {};
}

}  // namespace

std::string normalised(std::string_view answer) {
  std::string out;
  for (const char sign : answer) {
    if (std::isspace(static_cast<unsigned char>(sign)) != 0 || sign == ',' || sign == ';') {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(sign)));
    }
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

Key key_of(const Exercise& exercise) {
  Key key;
  std::string_view rest = exercise.solution;
  for (std::size_t at = rest.find(kOpen); at != std::string_view::npos; at = rest.find(kOpen)) {
    rest.remove_prefix(at + kOpen.size());
    const std::size_t end = rest.find(kClose);
    if (end == std::string_view::npos) break;
    read_comment(key, rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return key;
}

Verdict check(const Key& key, std::string_view answer) {
  const std::string given = normalised(answer);
  if (key.is_number) {
    const auto value = number(given);
    if (!value) return {false, "The answer is a number: 0.25, 1e-3, 25% or 1/4."};
    if (*value >= key.lowest && *value <= key.highest) return {true, {}};
    const std::string why = why_not(key, given);
    if (!why.empty()) return {false, why};
    return {false, *value < key.lowest ? "It is more than that." : "It is less than that."};
  }
  for (const std::string& right : key.words) {
    if (given == right) return {true, {}};
  }
  return {false, why_not(key, given)};
}

}  // namespace osler::learn
