// A small plot of curves for a terminal, in Braille dots or plain ASCII.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "osler/diagnosis/report.h"
#include "report/layout.h"

namespace osler::layout {

/// A place on the step axis worth pointing at.
struct PlotMark {
  std::int64_t step = 0;
  std::string label;
  Ink ink = Ink::plain;
};

/// What to draw: one or two curves over a common step axis.
struct Plot {
  std::vector<const Sketch*> curves;  ///< the second is drawn dashed; not owned
  std::optional<PlotMark> mark;
  int rows = 7;
  std::int64_t last_step = 0;  ///< where the axis ends at least: the last column may cover steps after its own
  /// Where each curve is said to end. Where that is not said, or not finite, its last column tells.
  std::vector<std::optional<double>> ends = {};
};

/// The lines of the plot, none wider than the sheet less `indent`. Each column shows its lowest and highest value, so
/// that no spike is lost; steps with non-finite values are crosses on the step axis. Empty when nothing can be drawn.
[[nodiscard]] std::vector<std::string> draw(const Plot& plot, const Sheet& sheet, int indent);

/// A curve in one line of `width` cells: the highest value under each, on a logarithmic scale when it spans decades; a
/// cross where no value is finite.
[[nodiscard]] std::string sparkline(const Sketch& sketch, int width, bool unicode);

}  // namespace osler::layout
