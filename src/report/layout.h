// Text for a terminal: cleaning, measuring, wrapping, colouring, and the sheet that a report is written on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "osler/report/render.h"

namespace osler::layout {

/// What a piece of text is, which decides its colour. Few, so that colour keeps its meaning.
enum class Ink { plain, strong, faint, critical, warning, note, healthy, second };

/// `text` made safe to print in one line: control characters, escapes, bidirectional overrides and bytes that are not
/// UTF-8 become visible, harmless stand-ins; line ends and tabs become spaces. Without `unicode` the result is ASCII.
[[nodiscard]] std::string clean(std::string_view text, bool unicode);

/// How many cells a text takes. Our own colour codes take none.
[[nodiscard]] int columns(std::string_view text);

/// At most `width` cells of a text without colour codes, the cut shown by an ellipsis at the end or in the middle.
[[nodiscard]] std::string clip(std::string_view text, int width, bool unicode);
[[nodiscard]] std::string clip_middle(std::string_view text, int width, bool unicode);

/// A text in lines of at most `width` cells, broken at spaces, inside a word only when it is longer than a line.
/// A colour that is on at a break is closed and opened again.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, int width);

/// `text` with its spaces made unbreakable for wrap(); Sheet::line shows them as plain spaces.
[[nodiscard]] std::string together(std::string_view text);

/// `text` with spaces behind it (or, `pad_left`, before it) up to `width` cells.
[[nodiscard]] std::string pad(std::string_view text, int width);
[[nodiscard]] std::string pad_left(std::string_view text, int width);

/// `text` in a colour, or as it is without `colour`.
[[nodiscard]] std::string paint(std::string_view text, Ink ink, bool colour);

/// The characters a report is drawn with.
struct Glyphs {
  std::string_view ellipsis, dot, arrow, bullet, times, about;
  std::string_view critical, warning, note, healthy, unclear;         ///< signs before a verdict
  std::string_view bar_full, bar_rest;                                ///< a bar of a probability
  std::string_view axis_up, axis_tick, axis_corner, axis_line, mark;  ///< the frame of a plot
  std::string_view rule;                                              ///< a horizontal line
};
[[nodiscard]] const Glyphs& glyphs(bool unicode);

/// Lines of text under one set of options. Lines never end in a space, and two blank lines never follow each other.
class Sheet {
 public:
  explicit Sheet(const TextOptions& options);

  /// Foreign text, made safe; `ink` colours it.
  [[nodiscard]] std::string text(std::string_view foreign, Ink ink = Ink::plain) const;
  [[nodiscard]] std::string painted(std::string_view own, Ink ink) const;

  /// One line as it is. It must fit.
  void line(std::string_view text);
  void blank();
  /// Text wrapped to the width, `first` before its first line and as many spaces as `first` is wide before the rest.
  /// With `most` > 0, no more lines than that: the last one ends in an ellipsis.
  void paragraph(std::string_view first, std::string_view text, int most = 0);

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] bool unicode() const { return options_.unicode; }
  [[nodiscard]] const TextOptions& options() const { return options_; }
  [[nodiscard]] const Glyphs& glyphs() const { return layout::glyphs(options_.unicode); }
  [[nodiscard]] int lines() const { return static_cast<int>(lines_.size()); }
  [[nodiscard]] std::string str() const;

 private:
  TextOptions options_;
  int width_;
  std::vector<std::string> lines_;
};

/// A table: cells are foreign text already cleaned, the last column is wrapped, the others are as wide as their widest
/// cell (at most a third of the sheet).
void table(Sheet& sheet, std::string_view indent, const std::vector<std::vector<std::string>>& rows,
           const std::vector<std::string>& header = {});

/// The narrowest and the widest a report is laid out: longer lines are hard to read.
inline constexpr int kNarrowest = 40;
inline constexpr int kWidest = 120;

}  // namespace osler::layout
