// Colour codes, wide punctuation, boxes and bars.
#include "formats/text/plain_text.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

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

/// Block elements and heavy lines, of which progress bars are drawn.
bool is_bar_glyph(std::string_view three) {
  const auto second = static_cast<unsigned char>(three[1]);
  const auto third = static_cast<unsigned char>(three[2]);
  if (three[0] != '\xE2') return false;
  return (second == 0x96 && third >= 0x80 && third <= 0x9F) || (second == 0x94 && third == 0x81) ||
         (second == 0x95 && third >= 0xB8 && third <= 0xBB);
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kCounterparts{{
    {"\xEF\xBC\x9A", ": "},  // full-width colon
    {"\xEF\xBC\x8C", ", "},  // full-width comma
    {"\xEF\xBC\x9B", "; "},  // full-width semicolon
    {"\xEF\xBC\x88", " ("},  // full-width parentheses
    {"\xEF\xBC\x89", ") "},
    {"\xEF\xBC\x9D", "="},   // full-width equals sign
    {"\xE3\x80\x82", ". "},  // ideographic full stop
    {"\xE2\x94\x82", "|"},   // box drawing, vertical
    {"\xE2\x94\x83", "|"},
    {"\xE2\x95\x91", "|"},
    {"\xE2\x80\xA2", ","},   // bullet, between the parts of a rich progress bar
    {"\xE2\x86\x92", "->"},  // arrow
}};

std::string_view counterpart(std::string_view three) {
  for (const auto& [from, to] : kCounterparts) {
    if (three == from) return to;
  }
  return {};
}

}  // namespace

std::string_view plain_text(std::string_view line, std::string& scratch) {
  if (!needs_work(line)) return line;
  scratch.clear();
  bool in_bar = false;
  for (std::size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (c == kEscape) {
      at = end_of_escape(line, at);
      continue;
    }
    if (static_cast<unsigned char>(c) >= 0x80 && at + 3 <= line.size()) {
      const std::string_view three = line.substr(at, 3);
      if (is_bar_glyph(three)) {
        if (!in_bar) scratch += "[=]";
        in_bar = true;
        at += 3;
        continue;
      }
      if (const std::string_view plain = counterpart(three); !plain.empty()) {
        scratch += plain;
        in_bar = false;
        at += 3;
        continue;
      }
    }
    if (c == '\xC2' && at + 1 < line.size() && line[at + 1] == '\xA0') {
      scratch += ' ';
      at += 2;
      continue;
    }
    in_bar = false;
    scratch += c;
    ++at;
  }
  return scratch;
}

}  // namespace osler::text
