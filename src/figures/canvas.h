// Canvas: a few strokes, shapes and words on a page; the only place that talks to Cairo.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"
#include "osler/figures/figure.h"

namespace osler::figure {

/// Red, green, blue and opacity, 0 to 1.
struct Colour {
  double red = 0;
  double green = 0;
  double blue = 0;
  double opacity = 1;

  [[nodiscard]] Colour faded(double share) const { return {red, green, blue, opacity * share}; }
  friend bool operator==(const Colour&, const Colour&) = default;
};

/// A point of the page; y grows downwards.
struct Place {
  double x = 0;
  double y = 0;
};

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
};

struct Pen {
  enum class Dash { none, dashed, dotted };
  Colour colour;
  double width = 1;
  Dash dash = Dash::none;
};

/// How words look.
struct Type {
  double size = 11;
  Colour colour;
  bool bold = false;
};

enum class Align { left, centre, right };

/// A page being drawn. Words may be anything: what cannot be shown is made visible and harmless first.
class Canvas {
 public:
  /// A page of `width` by `height` units; `scale` pixels per unit in a PNG.
  [[nodiscard]] static Result<Canvas> open(FigureType type, double width, double height, double scale);
  Canvas(Canvas&&) noexcept;
  Canvas& operator=(Canvas&&) noexcept;
  ~Canvas();

  void fill(const Box& box, Colour colour, double radius = 0);
  void outline(const Box& box, const Pen& pen, double radius = 0);
  void line(Place from, Place to, const Pen& pen);
  void path(std::span<const Place> places, const Pen& pen);
  void polygon(std::span<const Place> places, Colour colour);
  void disc(Place centre, double radius, Colour colour);
  void ring(Place centre, double radius, const Pen& pen);
  void cross(Place centre, double radius, const Pen& pen);

  /// Everything until unclip() stays inside `box`.
  void clip(const Box& box);
  void unclip();

  /// Words on the line at `at.y`, beginning, centred or ending at `at.x`.
  void text(std::string_view words, Place at, const Type& type, Align align = Align::left);
  [[nodiscard]] double width_of(std::string_view words, const Type& type);
  /// `words`, or as much of them as `width` holds with an ellipsis in the middle.
  [[nodiscard]] std::string fitted(std::string_view words, double width, const Type& type);
  /// Lines of at most `width`, broken at spaces; with `most` > 0 no more than that, the last one shortened.
  [[nodiscard]] std::vector<std::string> wrapped(std::string_view words, double width, const Type& type, int most = 0);

  [[nodiscard]] double width() const;
  [[nodiscard]] double height() const;

  /// The next page of a PDF.
  void next_page();
  /// What an SVG says of itself to those who cannot see it.
  void describe(std::string_view title, std::string_view description);
  /// Ends the drawing; the bytes of the file.
  [[nodiscard]] Result<std::string> finish() &&;

 private:
  struct Page;
  explicit Canvas(std::unique_ptr<Page> page);

  std::unique_ptr<Page> page_;
};

}  // namespace osler::figure
