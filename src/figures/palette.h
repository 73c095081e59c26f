// The colours of figures: few, told apart by people with any colour vision, on a light or a dark page.
#pragma once

#include "figures/canvas.h"

namespace osler::figure {

/// The colours of one theme.
struct Palette {
  Colour page;
  Colour plot;   ///< the ground of a plot
  Colour ink;    ///< words that matter
  Colour faint;  ///< words and lines that help
  Colour grid;
  Colour context;  ///< curves in the background
  Colour critical;
  Colour warning;
  Colour note;
  Colour healthy;
  Colour nonfinite;  ///< a cell of a heat map that is NaN or infinite
  Colour zero;       ///< a cell that is exactly zero where the scale is logarithmic

  /// The colour of the curve with this number; they repeat after seven.
  [[nodiscard]] Colour curve(std::size_t number) const;
  [[nodiscard]] Colour tone(Pointer::Tone tone) const;

  bool dark = false;
};

[[nodiscard]] const Palette& palette(FigureTheme theme);

/// From dark blue over green to yellow, rising evenly in lightness; `share` 0 to 1.
[[nodiscard]] Colour heat(double share);
/// The colour of a layer at `depth` (0 input, 1 output), legible as a line on the theme's ground.
[[nodiscard]] Colour depth_colour(double depth, const Palette& colours);

}  // namespace osler::figure
