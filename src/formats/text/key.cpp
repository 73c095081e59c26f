// Looking back from a number for its name.
#include "formats/text/key.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "formats/numbers.h"
#include "formats/text/scan.h"
#include "formats/text/vocabulary.h"

namespace osler::text {
namespace {

constexpr std::size_t kMostWords = 6;       // of a name before ':' or '='
constexpr std::size_t kMostLooseWords = 3;  // of a name that just stands before the number
constexpr std::size_t kLongestRemark = 40;  // "(higher is better)" between name and separator
constexpr std::size_t kLongestName = 100;
constexpr std::size_t kLongestCall = 1000;  // how far back the parenthesis of a call is looked for

bool is_space(char c) {
  return c == ' ' || c == '\t';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool has_letter(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
  });
}

void trim_right(std::string_view& text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
}

/// Takes separators, quotes and opening brackets off the end. False when the number is the target of an arrow.
bool strip_separators(std::string_view& text, Key& key) {
  while (!text.empty()) {
    const char c = text.back();
    if (text.ends_with("->")) return false;
    if (text.ends_with("..")) {
      key.dotted = key.separated = true;
      while (!text.empty() && (text.back() == '.' || is_space(text.back()))) text.remove_suffix(1);
    } else if (c == '"' || c == '\'') {
      if (key.separated) {
        key.quoted = true;
        return true;
      }
      text.remove_suffix(1);
    } else if (c == ':' || c == '=' || (c == '>' && text.ends_with("=>"))) {
      key.separated = true;
      text.remove_suffix(1);
    } else if (is_space(c) || c == '[' || c == '(' || c == '{' || c == '<' || c == '#' || c == '*' || c == '~') {
      key.in_list |= c == '[';
      text.remove_suffix(1);
    } else {
      return true;
    }
  }
  return true;
}

/// Whether the number that starts at `place` belongs to the word before it ("top 5").
bool follows_index_word(std::string_view text, std::size_t place) {
  if (text[place - 1] != ' ') return false;
  std::size_t start = place - 1;
  while (start > 0 && is_word_character(text[start - 1])) --start;
  return takes_index(text.substr(start, place - 1 - start));
}

/// "last 10", "last 100 episodes": a remark that says over how many values a mean was taken. "top 5" tells names apart.
bool names_a_window(std::string_view inside) {
  const std::size_t digit =
      static_cast<std::size_t>(std::find_if(inside.begin(), inside.end(), is_digit) - inside.begin());
  return digit > 1 && follows_index_word(inside, digit) && inside.find("top ") == std::string_view::npos;
}

/// Drops a remark in parentheses that stands between the name and its separator: "time per iteration (ms):".
bool strip_remark(std::string_view& text) {
  const std::size_t open = text.rfind('(');
  if (open == std::string_view::npos || text.size() - open > kLongestRemark) return false;
  const std::string_view inside = text.substr(open);
  if (std::any_of(inside.begin(), inside.end(), is_digit) && !names_a_window(inside)) return false;
  text.remove_suffix(text.size() - open);
  trim_right(text);
  return !text.empty();
}

/// "D(x)", "D(G(z))": what a network says, and no remark on a name.
std::string_view function_of_one_letter(std::string_view text) {
  constexpr std::size_t kLongest = 10;
  std::size_t depth = 0;
  for (std::size_t i = text.size(); i > 0 && text.size() - i < kLongest; --i) {
    depth += text[i - 1] == ')' ? 1 : 0;
    if (text[i - 1] != '(' || --depth > 0) continue;
    const bool letter = i > 1 && has_letter(text.substr(i - 2, 1)) && (i < 3 || !is_word_character(text[i - 3]));
    return letter ? text.substr(i - 2) : std::string_view{};
  }
  return {};
}

/// "[loss] 0.5", "|g_param|=1e5": the name within its own fences.
std::string_view fenced(std::string_view text, char open, bool keep_fence) {
  const std::size_t start = text.substr(0, text.size() - 1).rfind(open);
  if (start == std::string_view::npos || text.size() - start > kLongestRemark || text.size() - start < 3) return {};
  const std::string_view inside = text.substr(start + 1, text.size() - start - 2);
  if (inside.find_first_of(" \t|[]") != std::string_view::npos || !has_letter(inside)) return {};
  return keep_fence ? text.substr(start) : inside;
}

/// The words at the end of `text`, back to the nearest punctuation or gap.
std::string_view words_at_end(std::string_view text, std::size_t most, bool& too_many) {
  const auto part_of_word = [&](std::size_t i) {
    const char c = text[i];
    if (is_word_character(c)) return true;
    const bool joiner = c == '-' || c == '.' || c == '/' || c == '\'' || c == '+';
    return joiner && i > 0 && is_word_character(text[i - 1]) &&
           (i + 1 == text.size() || is_word_character(text[i + 1]));
  };
  std::size_t start = text.size();
  std::size_t words = 0;
  for (;;) {
    std::size_t word = start;
    while (word > 0 && part_of_word(word - 1)) --word;
    if (word == start) break;
    const std::string_view candidate = text.substr(word, start - word);
    const bool index = is_digit(candidate.front()) && word > 1 && follows_index_word(text, word);
    if (!index && (is_digit(candidate.front()) || !has_letter(candidate))) break;
    if (++words > most) {
      too_many = true;
      break;
    }
    start = word;
    if (word < 2 || text[word - 1] != ' ' || !part_of_word(word - 2)) return text.substr(start);
    start = word - 1;
  }
  std::string_view found = text.substr(start);
  while (!found.empty() && found.front() == ' ') found.remove_prefix(1);
  return found;
}

bool names_source_file(std::string_view name) {
  const std::size_t point = name.rfind('.');
  if (point == std::string_view::npos) return false;
  const std::string_view ending = name.substr(point + 1);
  for (const std::string_view known : {"py", "cpp", "cc", "c", "cu", "h", "hpp", "go", "rs", "js", "java", "jl"}) {
    if (ending == known) return true;
  }
  return false;
}

/// "10:27 PM : 0.98": the half of the day is no name.
bool is_half_of_day(std::string_view text, std::string_view name) {
  if (name.size() != 2 || !(starts_with_folded(name, "am") || starts_with_folded(name, "pm"))) return false;
  std::string_view before = text.substr(0, static_cast<std::size_t>(name.data() - text.data()));
  trim_right(before);
  return !before.empty() && is_digit(before.back());
}

std::string_view quoted_name(std::string_view text) {
  const char quote = text.back();
  text.remove_suffix(1);
  const std::size_t open = text.rfind(quote);
  return open == std::string_view::npos ? std::string_view{} : text.substr(open + 1);
}

/// Whether the words, and nothing but them, name a figure of merit: "C.E. Loss", "Accuracy".
bool names_figure(std::string_view name) {
  constexpr std::size_t kLongest = 40;
  if (name.empty() || name.size() > kLongest || name.find_first_of(":=<>\"'#") != std::string_view::npos) return false;
  if (std::count(name.begin(), name.end(), ' ') >= static_cast<std::ptrdiff_t>(kMostLooseWords)) return false;
  const KeyTraits traits = describe_key(name);
  return traits.metric && !traits.story && !traits.ignored && !traits.best;
}

/// "..lun Epoch" with a Chinese word in front: the key is what the lists know.
std::string_view without_foreign_words(std::string_view name) {
  const std::size_t space = name.rfind(' ');
  if (space == std::string_view::npos) return name;
  const auto foreign = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
  const auto last = std::find_if(name.rbegin(), name.rend(), foreign);
  if (last == name.rend()) return name;
  const std::size_t cut = name.find(' ', static_cast<std::size_t>(name.rend() - last));
  if (cut == std::string_view::npos) return name;
  const std::string_view rest = name.substr(cut + 1);
  const KeyTraits traits = describe_key(rest);
  return traits.metric || traits.signal || traits.epoch || traits.step != 0 ? rest : name;
}

/// "loss=None acc=0.5": a name begins behind the word that stands where a value was expected.
std::string_view without_absent_value(std::string_view line, std::string_view name) {
  const std::size_t space = name.find(' ');
  std::size_t before = static_cast<std::size_t>(name.data() - line.data());
  while (before > 0 && is_space(line[before - 1])) --before;
  const bool valued = before > 0 && (line[before - 1] == '=' || line[before - 1] == ':');
  if (!valued || space == std::string_view::npos) return name;
  const bool absent = read_cell(name.substr(0, space)).kind == CellKind::absent;
  return absent ? name.substr(name.find_first_not_of(' ', space)) : name;
}

/// "21 timesteps with reward 18": the unit of the number before is no part of the name.
std::string_view behind_with(std::string_view name) {
  constexpr std::string_view kWith = " with ";
  const std::size_t with = name.find(kWith);
  if (with == std::string_view::npos) return name;
  const std::string_view rest = name.substr(with + kWith.size());
  const KeyTraits unit = describe_key(name.substr(0, with));
  return (unit.epoch || unit.step != 0) && describe_key(rest).metric ? rest : name;
}

/// "Tokens / Sec: 1234": what is counted in each unit of time is part of the name.
std::string_view with_numerator(std::string_view text, std::string_view name) {
  static constexpr std::array<std::string_view, 12> kUnits = {"s",  "sec",  "secs", "second", "seconds",   "min",
                                                              "ms", "step", "iter", "batch",  "iteration", "epoch"};
  const auto is_name = [&](std::string_view unit) {
    return unit.size() == name.size() && starts_with_folded(name, unit);
  };
  if (std::none_of(kUnits.begin(), kUnits.end(), is_name)) return name;
  std::string_view before = text.substr(0, static_cast<std::size_t>(name.data() - text.data()));
  trim_right(before);
  if (before.empty() || before.back() != '/') return name;
  before.remove_suffix(1);
  trim_right(before);
  bool too_many = false;
  const std::string_view counted = words_at_end(before, 2, too_many);
  if (counted.empty() || too_many || counted.data() + counted.size() != before.data() + before.size()) return name;
  return {counted.data(), static_cast<std::size_t>(name.data() + name.size() - counted.data())};
}

/// "reward: [(0, '" in front of a number without the pair's index: which policy earned it.
std::string_view without_index(std::string_view text) {
  constexpr std::string_view kBehind = ", '";
  if (!text.ends_with(kBehind)) return text;
  const std::size_t open = text.find_last_not_of("0123456789", text.size() - kBehind.size() - 1);
  if (open == std::string_view::npos || text[open] != '(' || open + 1 + kBehind.size() == text.size()) return text;
  return text.substr(0, open);
}

}  // namespace

Key key_before(std::string_view line, std::size_t from, std::size_t to) {
  Key key;
  std::string_view text = without_index(line.substr(from, to - from));
  if (!strip_separators(text, key) || text.empty()) return key;
  std::string_view name;
  if (key.quoted) {
    name = quoted_name(text);
  } else {
    if (text.back() == '%') text.remove_suffix(1);
    trim_right(text);
    for (const std::string_view verb : {" is", " was"}) {
      if (!text.ends_with(verb)) continue;
      key.separated = true;  // "loss on training batch is 0.5"
      text.remove_suffix(verb.size());
    }
    if (text.empty()) return key;
    const char last = text.back();
    const std::string_view function = last == ')' ? function_of_one_letter(text) : std::string_view{};
    if (function.empty() && last == ')' && !strip_remark(text)) return key;
    if (!function.empty()) {
      name = function;
    } else if (last == ']') {
      name = fenced(text, '[', false);
      const KeyTraits traits = describe_key(name);
      if (!traits.metric && !traits.signal && !traits.epoch && traits.step == 0 && !traits.bare_split) return key;
    } else if (last == '|') {
      name = key.separated ? fenced(text, '|', true) : std::string_view{};
    } else if (text.size() > 1 && text.back() == '.' && is_word_character(text[text.size() - 2])) {
      text.remove_suffix(1);  // "Ep. 2", "Up. 500"
      name = words_at_end(text, 1, key.sentence);
      if (name.size() > 4) name = {};
    } else {
      name = words_at_end(text, key.separated ? kMostWords : kMostLooseWords, key.sentence);
    }
  }
  if (!name.empty() && key.separated && !key.quoted) name = with_numerator(text, name);
  if (!name.empty()) name = behind_with(without_absent_value(line, name));
  name = without_foreign_words(core_of_key(name));
  if (name.empty() || name.size() > kLongestName || !has_letter(name) || names_source_file(name)) return key;
  if (is_half_of_day(line, name)) return key;
  key.text = name;
  key.begin = static_cast<std::size_t>(name.data() - line.data());
  return key;
}

std::string_view name_between(std::string_view gap) {
  gap = trim(gap);
  if (gap.size() < 3 || (gap.front() != ',' && gap.front() != ';') || gap.back() != gap.front()) return {};
  const std::string_view name = trim(gap.substr(1, gap.size() - 2));
  return names_figure(name) ? name : std::string_view{};
}

std::string_view name_behind(std::string_view line, std::size_t from, std::size_t to) {
  std::string_view name = line.substr(from, to - from);
  name = trim(name.substr(0, name.find_first_of(",;|()[]{}")));
  return names_figure(name) ? name : std::string_view{};
}

std::string without_points(std::string_view name) {
  std::string joined;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto letter = [&](std::size_t at) { return std::isalpha(static_cast<unsigned char>(name[at])) != 0; };
    const bool initial = i > 0 && letter(i - 1) && (i < 2 || !letter(i - 2));
    if (name[i] != '.' || !initial) joined += name[i];
  }
  return joined;
}

bool in_call(std::string_view line, std::size_t place) {
  int depth = 0;
  const std::size_t stop = place > kLongestCall ? place - kLongestCall : 0;
  for (std::size_t i = place; i > stop; --i) {
    const char c = line[i - 1];
    if (c == ')') ++depth;
    if (c != '(') continue;
    if (depth > 0) {
      --depth;
    } else if (i > 1 && is_word_character(line[i - 2])) {
      return true;
    }
  }
  return false;
}

std::string_view rate_after(std::string_view line, std::size_t digits_end, std::size_t unit_end) {
  const auto is_rate = [](std::string_view word) {
    const std::size_t slash = word.find('/');
    return slash != std::string_view::npos && slash > 0 && slash + 1 < word.size();
  };
  const std::string_view unit = line.substr(digits_end, unit_end - digits_end);
  if (is_rate(unit)) return unit;
  if (!unit.empty() || unit_end + 1 >= line.size() || line[unit_end] != ' ') return {};
  if (!has_letter(line.substr(unit_end + 1, 1))) return {};
  const std::string_view word = line.substr(unit_end + 1, end_of_word(line, unit_end + 1) - unit_end - 1);
  return is_rate(word) && word.size() < 24 && std::none_of(word.begin(), word.end(), is_digit) ? word
                                                                                               : std::string_view{};
}

std::string label_before(std::string_view line, std::size_t first_number, std::size_t key) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos || colon >= key || first_number < colon) return {};
  if (trim(line.substr(colon + 1, first_number - colon - 1)).empty()) return {};
  std::size_t begin = 0;
  if (const std::size_t close = line.rfind(']', colon); close != std::string_view::npos) begin = close + 1;
  const std::string_view label = trim(line.substr(begin, colon - begin));
  const auto plain = [](char c) { return is_word_character(c) || c == ' '; };
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (label.size() < 2 || label.size() > 30 || !std::all_of(label.begin(), label.end(), plain)) return {};
  if (!letter(label.front()) || label.starts_with("INFO") || label.starts_with("WARN") || label.starts_with("DEBUG")) {
    return {};
  }
  return std::string(label) + "/";
}

}  // namespace osler::text
