// Telling program text, headings and tracebacks from log lines.
#include "formats/text/line_kind.h"

#include <algorithm>
#include <array>

#include "formats/numbers.h"
#include "formats/text/scan.h"

namespace osler::text {
namespace {

using namespace std::string_view_literals;

/// Longer lines are no headings.
constexpr std::size_t kLongestHeading = 120;
constexpr std::size_t kFewWords = 4;
/// A traceback ends with its exception; one that goes on for longer was something else.
constexpr int kLongestTraceback = 400;
constexpr std::size_t kLongestExceptionText = 200;

std::string_view without_indent(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{} : line.substr(first);
}

bool contains(std::string_view line, std::string_view part) {
  return line.find(part) != std::string_view::npos;
}

bool starts_with_any(std::string_view line, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return line.starts_with(word); });
}

/// "name(" directly after an equals sign or a point: a call.
bool has_call_after_assignment(std::string_view line) {
  for (std::size_t open = line.find('('); open != std::string_view::npos; open = line.find('(', open + 1)) {
    if (open == 0 || !is_word_character(line[open - 1])) continue;
    std::size_t start = open;
    while (start > 0 && (is_word_character(line[start - 1]) || line[start - 1] == '.')) --start;
    if (start >= 2 && line[start - 1] == ' ' && line[start - 2] == '=') return true;
  }
  return false;
}

}  // namespace

bool opens_code(std::string_view line) {
  if (starts_with_any(line, {"import "sv, "#include "sv, "#!/"sv, "using namespace "sv})) return true;
  if (line.starts_with("from ") && contains(line, " import ")) return true;
  return starts_with_any(line, {"def "sv, "class "sv, "async def "sv}) && (line.ends_with(':') || line.ends_with('('));
}

bool looks_like_code(std::string_view line) {
  const std::string_view body = without_indent(line);
  if (body.empty()) return false;
  const bool indented = body.size() < line.size();
  if (opens_code(body)) return true;
  if (starts_with_any(body, {"print("sv, "@"sv, "//"sv, "# "sv, "assert "sv, "raise "sv})) return true;
  if (indented && starts_with_any(body, {"return "sv, "yield "sv, "self."sv, "elif "sv, "def "sv, "class "sv}))
    return true;
  const bool block = starts_with_any(body, {"if "sv, "elif "sv, "for "sv, "while "sv, "with "sv, "def "sv, "class "sv,
                                            "except "sv, "else:"sv, "try:"sv});
  if (block && body.ends_with(':')) return true;
  if (contains(body, "self.") || contains(body, " += ") || contains(body, " == ") || contains(body, " lambda ")) {
    return true;
  }
  if (contains(body, ":.") && contains(body, "{")) return true;  // {loss:.4f}
  if (contains(body, " : int = ") || contains(body, " : float = ") || contains(body, ": int = ") ||
      contains(body, ": float = ")) {
    return true;
  }
  return has_call_after_assignment(body);
}

bool prepares_data(std::string_view line) {
  static constexpr std::array kPreparing = {
      "tokenizing"sv, "tokenising"sv, "loading"sv,   "preprocessing"sv, "downloading"sv, "extracting"sv,    "caching"sv,
      "unpacking"sv,  "processing"sv, "preparing"sv, "indexing"sv,      "scanning"sv,    "pre-processing"sv};
  // A date and a level may stand in front.
  std::size_t words = 0;
  for (std::size_t at = 0; at < line.size() && words < kFewWords;) {
    if (!is_word_character(line[at])) {
      ++at;
      continue;
    }
    const std::size_t end = end_of_word(line, at);
    const std::string_view word = line.substr(at, end - at);
    const bool known = std::any_of(kPreparing.begin(), kPreparing.end(), [&](std::string_view one) {
      return one.size() == word.size() && starts_with_folded(word, one);
    });
    if (known) return only_date_and_level(line.substr(0, at));
    ++words;
    at = end;
  }
  return false;
}

std::optional<int> announced_part(std::string_view line) {
  static constexpr std::array kParts = {"stage"sv, "fold"sv, "layer"sv, "phase"sv, "rbm"sv};
  constexpr std::size_t kMostDigits = 3;
  if (line.size() > kLongestHeading) return std::nullopt;
  bool named = false;
  std::size_t words = 0;
  for (std::size_t at = 0; at < line.size() && words <= kFewWords;) {
    if (!is_word_character(line[at])) {
      ++at;
      continue;
    }
    const std::size_t end = end_of_word(line, at);
    const std::string_view word = line.substr(at, end - at);
    const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
    const bool number = digits > 0 && digits <= kMostDigits && (digits == word.size() || word[digits] == '/');
    if (named && number) return std::stoi(std::string(word.substr(0, digits)));
    named = std::any_of(kParts.begin(), kParts.end(), [&](std::string_view one) {
      return one.size() == word.size() && starts_with_folded(word, one);
    });
    words += only_date_and_level(word) ? 0 : 1;
    at = end;
  }
  return std::nullopt;
}

CocoLine coco_line(std::string_view line) {
  const bool precision = contains(line, "Average Precision");
  if (!contains(line, "@[") || !contains(line, "IoU=") || (!precision && !contains(line, "Average Recall"))) return {};
  const std::string_view area = without_indent(line.substr(std::min(line.find("area=") + 5, line.size())));
  if (!precision || !area.starts_with("all") || !contains(line, "maxDets=100")) return {true, {}};
  if (contains(line, "IoU=0.50:0.95")) return {true, "AP"};
  return {true, contains(line, "IoU=0.75") ? "AP75" : contains(line, "IoU=0.50") ? "AP50" : std::string_view{}};
}

bool only_date_and_level(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word_character(text[at])) {
      ++at;
      continue;
    }
    const std::size_t end = end_of_word(text, at);
    const std::string_view word = text.substr(at, end - at);
    const bool level = word == "INFO" || word == "DEBUG" || word == "WARNING";
    if (!level && (word.front() < '0' || word.front() > '9')) return false;
    at = end;
  }
  return true;
}

Split announced_split(std::string_view line) {
  if (line.size() > kLongestHeading) return Split::none;
  Split found = Split::none;
  std::size_t words = 0;
  std::size_t words_before = 0;
  for (std::size_t at = 0; at < line.size();) {
    if (!is_word_character(line[at])) {
      ++at;
      continue;
    }
    const std::size_t end = end_of_word(line, at);
    if (found == Split::none) {
      found = split_of(line.substr(at, end - at));
      words_before = words;
    }
    ++words;
    at = end;
  }
  if (found == Split::none) return found;
  // A sentence that merely mentions a split announces nothing.
  const std::string_view body = without_indent(line);
  const bool decorated = body.starts_with("**") || body.starts_with("--") || body.starts_with("==") ||
                         body.starts_with("##") || line.ends_with("..") || line.ends_with(':');
  return decorated || words_before == 0 || words <= kFewWords ? found : Split::none;
}

std::optional<std::string> TracebackWatch::line(std::string_view line) {
  if (line.starts_with("[rank")) {  // torchrun puts the process in front of each line
    const std::size_t end = line.find("]: ");
    if (end != std::string_view::npos) line.remove_prefix(end + 3);
  }
  if (line.empty()) return std::nullopt;
  if (contains(line, "Traceback (most recent call last)")) {
    inside_ = true;
    lines_ = 0;
    return std::nullopt;
  }
  if (!inside_) return std::nullopt;
  if (++lines_ > kLongestTraceback) inside_ = false;
  if (line.front() == ' ' || line.front() == '\t') return std::nullopt;
  // "RuntimeError: CUDA out of memory", "torch.cuda.OutOfMemoryError: ...", "KeyboardInterrupt"
  const std::size_t end = end_of_word(line, 0);
  const std::string_view name = line.substr(0, end);
  const bool exception = name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Interrupt") ||
                         name.ends_with("Exit") || name.ends_with("Warning") || name.ends_with("Iteration");
  if (!exception || (end < line.size() && line[end] != ':')) return std::nullopt;
  inside_ = false;
  return std::string(line.substr(0, kLongestExceptionText));
}

bool behind_evaluation_at(std::string_view line, std::size_t begin) {
  std::string_view before = line.substr(0, begin);
  while (before.ends_with(' ')) before.remove_suffix(1);
  if (!before.ends_with(" @")) return false;
  before = trim(before.substr(0, before.size() - 2));
  std::size_t word = before.size();
  while (word > 0 && is_word_character(before[word - 1])) --word;
  return split_of(before.substr(word)) != Split::none;
}

}  // namespace osler::text
