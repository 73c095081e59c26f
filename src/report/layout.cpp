// Text for a terminal: cleaning, measuring, wrapping, colouring, and the sheet that a report is written on.
#include "report/layout.h"

#include <algorithm>
#include <array>
#include <utility>

#include "report/utf8.h"

namespace osler::layout {
namespace {

constexpr char kEscape = '\x1b';
constexpr char kStickySpace = '\x1f';  // never in cleaned text, so free to mean a space that does not break
constexpr std::string_view kColourOff = "\x1b[0m";

constexpr Glyphs kUnicodeGlyphs = {
    .ellipsis = "…",
    .dot = "·",
    .arrow = "→",
    .bullet = "•",
    .times = "×",
    .about = "≈",
    .critical = "✗",
    .warning = "▲",
    .note = "●",
    .healthy = "✓",
    .unclear = "?",
    .bar_full = "█",
    .bar_rest = "░",
    .axis_up = "│",
    .axis_tick = "┤",
    .axis_corner = "└",
    .axis_line = "─",
    .mark = "▲",
    .rule = "─",
};
constexpr Glyphs kAsciiGlyphs = {
    .ellipsis = "...",
    .dot = "|",
    .arrow = "->",
    .bullet = "*",
    .times = "x",
    .about = "~",
    .critical = "x",
    .warning = "!",
    .note = "*",
    .healthy = "+",
    .unclear = "?",
    .bar_full = "#",
    .bar_rest = ".",
    .axis_up = "|",
    .axis_tick = "+",
    .axis_corner = "+",
    .axis_line = "-",
    .mark = "^",
    .rule = "-",
};

struct Spelling {
  char32_t sign;
  std::string_view ascii;
};
// What our own prose and common units use beyond ASCII.
constexpr std::array kSpellings = {
    Spelling{U'×', "x"},      Spelling{U'→', "->"},  Spelling{U'–', "-"},  Spelling{U'—', "-"},
    Spelling{U'…', "..."},    Spelling{U'≥', ">="},  Spelling{U'≤', "<="}, Spelling{U'≈', "~"},
    Spelling{U'±', "+-"},     Spelling{U'·', "|"},   Spelling{U'‘', "'"},  Spelling{U'’', "'"},
    Spelling{U'“', "\""},     Spelling{U'”', "\""},  Spelling{U'•', "*"},  Spelling{U'µ', "u"},
    Spelling{U'√', "sqrt"},   Spelling{U'∞', "inf"}, Spelling{U'−', "-"},  Spelling{U'²', "^2"},
    Spelling{U'\u00A0', " "},
};

bool is_space_like(char32_t value) {
  return value == '\n' || value == '\r' || value == '\t' || value == 0x2028 || value == 0x2029 || value == 0x85;
}

bool is_control(char32_t value) {
  return value < 0x20 || (value >= 0x7F && value < 0xA0);
}

// Characters that reorder, hide or join what stands beside them: a name could pretend to be another.
bool is_deceptive(char32_t value) {
  return (value >= 0x200B && value <= 0x200F) || (value >= 0x202A && value <= 0x202E) ||
         (value >= 0x2060 && value <= 0x206F) || value == 0xFEFF || value == 0x061C || value >= 0xE0000;
}

void append_control(std::string& out, char32_t value, bool unicode) {
  if (value >= 0x80) {
    out += unicode ? "�" : "?";
  } else if (unicode) {
    append_utf8(out, value == 0x7F ? 0x2421 : 0x2400 + value);  // Unicode's pictures of control characters
  } else {
    out += '^';
    out += static_cast<char>(value ^ 0x40);
  }
}

void append_as_ascii(std::string& out, char32_t value) {
  const auto* found = std::find_if(kSpellings.begin(), kSpellings.end(),
                                   [value](const Spelling& spelling) { return spelling.sign == value; });
  out += found != kSpellings.end() ? found->ascii : "?";
}

/// The length of the colour code at the front of `text`, 0 when there is none.
std::size_t colour_code(std::string_view text) {
  if (text.size() < 2 || text[0] != kEscape || text[1] != '[') return 0;
  const std::size_t end = text.find('m');
  return end == std::string_view::npos ? 0 : end + 1;
}

/// One step through a text: a colour code or a character.
struct Piece {
  std::string_view bytes;
  int cells = 0;
  bool code = false;
};
Piece first_piece(std::string_view text) {
  if (const std::size_t length = colour_code(text); length > 0) return {text.substr(0, length), 0, true};
  const CodePoint point = decode(text);
  return {text.substr(0, point.bytes), point.valid ? cells(point.value) : 1, false};
}

/// Builds lines word by word.
class Wrapper {
 public:
  explicit Wrapper(int width) : width_(std::max(width, 1)) {}

  void take(const Piece& piece) {
    if (piece.code) {
      word_ += piece.bytes;
      word_colour_ = piece.bytes == kColourOff ? std::string_view{} : piece.bytes;
    } else if (piece.bytes == " ") {
      end_word();
      ++spaces_;
    } else {
      if (word_cells_ + piece.cells > width_) {  // longer than any line: break it here
        end_word();
        end_line();
      }
      word_ += piece.bytes;
      word_cells_ += piece.cells;
    }
  }

  std::vector<std::string> finish() {
    end_word();
    if (!line_.empty() || lines_.empty()) end_line();
    return std::move(lines_);
  }

 private:
  void end_word() {
    if (word_.empty()) return;
    if (line_cells_ > 0 && line_cells_ + spaces_ + word_cells_ > width_) end_line();
    if (line_cells_ > 0) {
      line_.append(static_cast<std::size_t>(spaces_), ' ');
      line_cells_ += spaces_;
    }
    line_ += word_;
    line_cells_ += word_cells_;
    colour_ = word_colour_;
    word_.clear();
    word_cells_ = 0;
    spaces_ = 0;
  }

  void end_line() {
    if (!colour_.empty()) line_ += kColourOff;
    lines_.push_back(std::move(line_));
    line_ = std::string(colour_);
    line_cells_ = 0;
    spaces_ = 0;
  }

  int width_;
  std::vector<std::string> lines_;
  std::string line_;
  std::string word_;
  int line_cells_ = 0;
  int word_cells_ = 0;
  int spaces_ = 0;
  std::string_view colour_;       // on at the end of line_
  std::string_view word_colour_;  // on at the end of word_
};

std::string front(std::string_view text, int width) {
  std::string out;
  int used = 0;
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    if (used + piece.cells > width) break;
    out += piece.bytes;
    used += piece.cells;
    text.remove_prefix(piece.bytes.size());
  }
  return out;
}

std::string back(std::string_view text, int width) {
  int excess = columns(text) - width;
  while (!text.empty() && excess > 0) {
    const Piece piece = first_piece(text);
    excess -= piece.cells;
    text.remove_prefix(piece.bytes.size());
  }
  return std::string(text);
}

}  // namespace

std::string clean(std::string_view text, bool unicode) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (!point.valid) {
      out += unicode ? "�" : "?";
    } else if (is_space_like(point.value)) {
      out += ' ';
    } else if (is_control(point.value)) {
      append_control(out, point.value, unicode);
    } else if (is_deceptive(point.value)) {
      out += unicode ? "�" : "?";
    } else if (point.value < 0x80 || unicode) {
      out += text.substr(0, point.bytes);
    } else {
      append_as_ascii(out, point.value);
    }
    text.remove_prefix(point.bytes);
  }
  return out;
}

int columns(std::string_view text) {
  int total = 0;
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    total += piece.cells;
    text.remove_prefix(piece.bytes.size());
  }
  return total;
}

std::string clip(std::string_view text, int width, bool unicode) {
  if (columns(text) <= width) return std::string(text);
  const std::string_view ellipsis = glyphs(unicode).ellipsis;
  std::string out = front(text, std::max(0, width - columns(ellipsis)));
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return front(out + std::string(ellipsis), width);
}

std::string clip_middle(std::string_view text, int width, bool unicode) {
  if (columns(text) <= width) return std::string(text);
  const std::string_view ellipsis = glyphs(unicode).ellipsis;
  const int room = width - columns(ellipsis);
  if (room < 2) return front(text, width);
  // The end of a path tells runs apart better than its beginning.
  const int head = room / 3;
  return front(text, head) + std::string(ellipsis) + back(text, room - head);
}

std::vector<std::string> wrap(std::string_view text, int width) {
  Wrapper wrapper(width);
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    wrapper.take(piece);
    text.remove_prefix(piece.bytes.size());
  }
  return wrapper.finish();
}

std::string together(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), ' ', kStickySpace);
  return out;
}

std::string pad(std::string_view text, int width) {
  return std::string(text) + std::string(static_cast<std::size_t>(std::max(0, width - columns(text))), ' ');
}

std::string pad_left(std::string_view text, int width) {
  return std::string(static_cast<std::size_t>(std::max(0, width - columns(text))), ' ') + std::string(text);
}

std::string paint(std::string_view text, Ink ink, bool colour) {
  if (!colour || ink == Ink::plain || text.empty()) return std::string(text);
  constexpr std::array<std::string_view, 8> kCodes = {"", "1", "2", "1;31", "33", "36", "32", "36"};
  std::string out = "\x1b[";
  out += kCodes[static_cast<std::size_t>(ink)];
  out += 'm';
  out += text;
  out += kColourOff;
  return out;
}

const Glyphs& glyphs(bool unicode) {
  return unicode ? kUnicodeGlyphs : kAsciiGlyphs;
}

Sheet::Sheet(const TextOptions& options) : options_(options), width_(std::clamp(options.width, kNarrowest, kWidest)) {}

std::string Sheet::text(std::string_view foreign, Ink ink) const {
  return painted(clean(foreign, unicode()), ink);
}

std::string Sheet::painted(std::string_view own, Ink ink) const {
  return paint(own, ink, options_.colour);
}

void Sheet::line(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  std::string& line = lines_.emplace_back(text);
  std::replace(line.begin(), line.end(), kStickySpace, ' ');
}

void Sheet::blank() {
  if (!lines_.empty() && !lines_.back().empty()) lines_.emplace_back();
}

void Sheet::paragraph(std::string_view first, std::string_view text, int most) {
  const int indent = columns(first);
  std::vector<std::string> wrapped = wrap(text, width_ - indent);
  if (most > 0 && wrapped.size() > static_cast<std::size_t>(most)) {
    wrapped.resize(static_cast<std::size_t>(most));
    const std::string_view ellipsis = glyphs().ellipsis;
    // A cut line may end in an open colour; the ellipsis closes it.
    wrapped.back() = front(wrapped.back(), width_ - indent - columns(ellipsis)) + std::string(ellipsis) +
                     (options_.colour ? std::string(kColourOff) : std::string());
  }
  std::string lead(first);
  for (const std::string& part : wrapped) {
    line(lead + part);
    lead.assign(static_cast<std::size_t>(indent), ' ');
  }
}

std::string Sheet::str() const {
  std::string out;
  for (const std::string& line : lines_) {
    out += line;
    out += '\n';
  }
  return out;
}

void table(Sheet& sheet, std::string_view indent, const std::vector<std::vector<std::string>>& rows,
           const std::vector<std::string>& header) {
  std::vector<int> widths;
  const auto measure = [&](const std::vector<std::string>& row) {
    if (widths.size() < row.size()) widths.resize(row.size(), 0);
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      widths[i] = std::max(widths[i], std::min(columns(row[i]), sheet.width() / 3));
    }
  };
  measure(header);
  for (const auto& row : rows) measure(row);
  const auto put = [&](const std::vector<std::string>& row, Ink ink) {
    std::string lead(indent);
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      lead += sheet.painted(pad(clip_middle(row[i], widths[i], sheet.unicode()), widths[i]), ink);
      lead += "  ";
    }
    if (row.empty()) return;
    if (columns(lead) + 16 <= sheet.width()) {
      sheet.paragraph(lead, sheet.painted(row.back(), ink));
    } else {  // no room beside: the last column goes below
      sheet.line(clip(lead, sheet.width(), sheet.unicode()));
      sheet.paragraph(std::string(indent) + "    ", sheet.painted(row.back(), ink));
    }
  };
  if (!header.empty()) put(header, Ink::faint);
  for (const auto& row : rows) put(row, Ink::plain);
}

}  // namespace osler::layout
