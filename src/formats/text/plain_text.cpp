// Colour codes, wide punctuation, boxes and bars.
#include "formats/text/plain_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace osler::text {
namespace {

constexpr char kEscape = '\x1b';

/// Whether some byte is beyond ASCII or an escape.
bool needs_work(std::string_view line) {
  const char* at = line.data();
  std::size_t left = line.size();
  std::uint64_t high = 0;
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    high |= word;
  }
  for (; left > 0; ++at, --left) high |= static_cast<unsigned char>(*at);
  if ((high & 0x8080808080808080U) != 0) return true;
  return std::memchr(line.data(), kEscape, line.size()) != nullptr;
}

/// The end of the escape sequence at `from`: CSI and OSC sequences, and two-byte ones.
std::size_t end_of_escape(std::string_view line, std::size_t from) {
  std::size_t at = from + 1;
  if (at >= line.size()) return at;
  if (line[at] == ']') {
    while (at < line.size() && line[at] != '\a' && line[at] != kEscape) ++at;
    return at < line.size() && line[at] == '\a' ? at + 1 : at;
  }
  if (line[at] != '[') return at + 1;
  ++at;
  while (at < line.size() && (line[at] < '@' || line[at] > '~')) ++at;
  return at < line.size() ? at + 1 : at;
}

/// The first byte that may need work: an escape, or the start of a sequence that is looked up below.
std::size_t next_special(std::string_view line, std::size_t from) {
  static constexpr auto kSpecial = [] {
    std::array<bool, 256> special{};
    for (const int byte : {0x1B, 0xC2, 0xE2, 0xE3, 0xE7, 0xEF}) special[static_cast<std::size_t>(byte)] = true;
    return special;
  }();
  while (from < line.size() && !kSpecial[static_cast<unsigned char>(line[from])]) ++from;
  return from;
}

constexpr std::uint32_t packed(unsigned first, unsigned second, unsigned third) {
  return first << 16 | second << 8 | third;
}

/// Block elements and heavy lines, of which progress bars are drawn.
bool is_bar_glyph(std::uint32_t three) {
  return (three >= packed(0xE2, 0x96, 0x80) && three <= packed(0xE2, 0x96, 0x9F)) ||
         three == packed(0xE2, 0x94, 0x81) || (three >= packed(0xE2, 0x95, 0xB8) && three <= packed(0xE2, 0x95, 0xBB));
}

/// What a three-byte sequence is replaced by; empty to keep it.
std::string_view counterpart(std::uint32_t three) {
  switch (three) {
    case packed(0xEF, 0xBC, 0x9A):  // full-width colon
      return ": ";
    case packed(0xEF, 0xBC, 0x8C):  // full-width comma
      return ", ";
    case packed(0xEF, 0xBC, 0x9B):  // full-width semicolon
      return "; ";
    case packed(0xEF, 0xBC, 0x88):  // full-width parentheses
      return " (";
    case packed(0xEF, 0xBC, 0x89):
      return ") ";
    case packed(0xEF, 0xBC, 0x9D):  // full-width equals sign
      return "=";
    case packed(0xE3, 0x80, 0x82):  // ideographic full stop
      return ". ";
    case packed(0xE2, 0x94, 0x82):  // box drawing, vertical
    case packed(0xE2, 0x94, 0x83):
    case packed(0xE2, 0x95, 0x91):
      return "|";
    case packed(0xE2, 0x80, 0xA2):  // bullet, between the parts of a rich progress bar
      return ",";
    case packed(0xE2, 0x80, 0x93):  // dashes
    case packed(0xE2, 0x80, 0x94):
    case packed(0xE2, 0x88, 0x92):  // minus sign
      return "-";
    case packed(0xE2, 0x80, 0x98):  // quotation marks
    case packed(0xE2, 0x80, 0x99):
      return "'";
    case packed(0xE2, 0x80, 0x9C):
    case packed(0xE2, 0x80, 0x9D):
      return "\"";
    case packed(0xE2, 0x86, 0x92):  // arrow
      return "->";
    default:
      return {};
  }
}

/// "第12轮" is "epoch 12", written without blanks: the end of it, with its English appended to `plain`, or `at`.
std::size_t replace_ordinal(std::string_view line, std::size_t at, std::string& plain) {
  struct Unit {
    std::string_view word;
    std::string_view english;
  };
  static constexpr std::array kUnits = {Unit{"轮", "epoch"}, Unit{"輪", "epoch"},     Unit{"エポック", "epoch"},
                                        Unit{"步", "step"},  Unit{"次迭代", "step"},  Unit{"ステップ", "step"},
                                        Unit{"批", "batch"}, Unit{"回合", "episode"}, Unit{"エピソード", "episode"}};
  constexpr std::string_view kOrdinal = "第";
  const auto past = [&](std::size_t from, std::string_view glyphs) {
    return std::min(line.find_first_not_of(glyphs, from), line.size());
  };
  const std::size_t digits = past(at + kOrdinal.size(), " ");
  const std::size_t end = past(digits, "0123456789");
  const std::size_t word = past(end, " ");
  if (digits == end) return at;
  for (const Unit& unit : kUnits) {
    if (!line.substr(word).starts_with(unit.word)) continue;
    plain.append(unit.english).append(" ").append(line.substr(digits, end - digits)).append(" ");
    return word + unit.word.size();
  }
  return at;
}

/// Replaces what starts at `at`, appending to `plain`; returns where to go on, or `at` when it stays as it is.
std::size_t replace_at(std::string_view line, std::size_t at, std::string& plain) {
  if (line[at] == kEscape) return end_of_escape(line, at);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(line[i])); };
  if (byte(at) == 0xC2) {
    const unsigned second = at + 1 < line.size() ? byte(at + 1) : 0;
    if (second == 0xA0) plain += ' ';  // a space that does not break
    if (second == 0xB1) plain += '|';  // plus or minus: what follows is no value of its own
    return second == 0xA0 || second == 0xB1 ? at + 2 : at;
  }
  if (at + 3 > line.size()) return at;
  const std::uint32_t three = packed(byte(at), byte(at + 1), byte(at + 2));
  if (three == packed(0xE7, 0xAC, 0xAC)) return replace_ordinal(line, at, plain);
  if (is_bar_glyph(three)) {
    if (!plain.ends_with("[=]")) plain += "[=]";
    return at + 3;
  }
  const std::string_view found = counterpart(three);
  plain += found;
  return found.empty() ? at : at + 3;
}

/// Names of what frameworks wrap numbers in, each with its parenthesis.
constexpr std::array<std::string_view, 7> kWrappers = {"tensor(",  "Tensor(",  "Array(",   "float32(",
                                                       "float64(", "float16(", "bfloat16("};

bool starts_number(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '.' || c == 'n' || c == 'i';
}

/// The parenthesis that closes the one before `from`, or npos; what stands between angle brackets is skipped.
std::size_t closing(std::string_view line, std::size_t from) {
  int depth = 1;
  for (std::size_t at = from; at < line.size() && at < from + 300; ++at) {
    if (line[at] == '(') ++depth;
    if (line[at] == ')' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

/// A wrapped number: where its wrapper begins, where the number does, and where the wrapper ends.
struct Wrapped {
  std::size_t begin = std::string_view::npos;
  std::size_t number = 0;
  std::size_t end = 0;
};

Wrapped next_wrapped(std::string_view line, std::size_t from) {
  Wrapped first;
  for (const std::string_view wrapper : kWrappers) {
    for (std::size_t at = line.find(wrapper, from); at != std::string_view::npos; at = line.find(wrapper, at + 1)) {
      const std::size_t number = at + wrapper.size();
      const std::size_t end = closing(line, number);
      if (number >= line.size() || !starts_number(line[number]) || end == std::string_view::npos) continue;
      std::size_t begin = at;
      while (begin > from && (line[begin - 1] == '.' || (line[begin - 1] >= 'a' && line[begin - 1] <= 'z'))) --begin;
      if (begin < first.begin) first = {begin, number, end};
      break;
    }
  }
  return first;
}

}  // namespace

std::string_view bare_numbers(std::string_view line, std::string& scratch) {
  Wrapped wrapped = next_wrapped(line, 0);
  if (wrapped.begin == std::string_view::npos) return line;
  scratch.clear();
  std::size_t from = 0;
  for (; wrapped.begin != std::string_view::npos; wrapped = next_wrapped(line, from)) {
    scratch.append(line, from, wrapped.begin - from);
    const std::size_t comma = std::min(line.find(',', wrapped.number), wrapped.end);
    scratch.append(line, wrapped.number, comma - wrapped.number);
    from = wrapped.end + 1;
  }
  scratch.append(line, from, line.size() - from);
  return scratch;
}

std::string_view plain_text(std::string_view line, std::string& scratch) {
  if (!needs_work(line)) return line;
  scratch.clear();
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t special = next_special(line, at);
    scratch.append(line, at, special - at);
    if (special == line.size()) break;
    at = replace_at(line, special, scratch);
    if (at == special) scratch += line[at++];
  }
  return scratch;
}

}  // namespace osler::text
