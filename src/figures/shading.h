// Shading: values as colours, and the bar that explains them.
#pragma once

#include <span>
#include <vector>

#include "figures/drawing.h"

namespace osler::figure {

/// From values to shades, and back to their colours.
class Shading {
 public:
  Shading(std::span<const double> cells, bool log, const Palette& colours);

  /// Finer steps cannot be told apart, and coarser ones let neighbours be drawn as one.
  static constexpr int kShades = 64;
  static constexpr int kNothing = -1;
  static constexpr int kZero = -2;
  static constexpr int kNonfinite = -3;
  /// A shade from 0 to kShades - 1, or one of the special ones.
  [[nodiscard]] int shade(double cell) const;
  [[nodiscard]] Colour colour(int shade) const;
  /// The value at a share of the scale.
  [[nodiscard]] double value(double share) const;
  [[nodiscard]] std::vector<Tick> ticks(int most) const;

 private:
  bool log_;
  const Palette& colours_;
  double low_ = 0;
  double high_ = 1;
};

/// Draws the bar right of the plot.
void draw_colour_bar(const Plot& plot, std::span<const double> cells, const Shading& shading);

}  // namespace osler::figure
