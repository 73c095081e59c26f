// Curves of a small plot: what they span, and how they are drawn in dots.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "osler/diagnosis/report.h"
#include "report/dots.h"
#include "report/scale.h"

namespace osler::layout {

/// The finite range of several curves, with the median size of their means.
struct Extent {
  double low = 0;
  double high = 0;
  double typical = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;         ///< where the axis ends
  std::int64_t last_finite_step = 0;  ///< where the curves end
  bool cut = false;                   ///< the axis ends before the run does
  std::int64_t run_end = 0;
};

/// What the curves span; nothing when they have less than two columns with finite values.
[[nodiscard]] std::optional<Extent> extent_of(const std::vector<const Sketch*>& curves);

/// Where on an axis of `size` places a step lies.
[[nodiscard]] int place_of(std::int64_t step, const Extent& extent, int size);

/// Whether a column has a finite value.
[[nodiscard]] bool drawable(const Sketch::Column& column);
/// The mean of a drawable column, kept inside its band even when it overflowed on the way.
[[nodiscard]] double middle(const Sketch::Column& column);

/// Draws a curve as its mean over a stippled band from lowest to highest. Curve 2 is dashed.
void draw_curve(Dots& dots, const Sketch& sketch, const Extent& extent, const Scale& scale, std::uint8_t curve);

}  // namespace osler::layout
