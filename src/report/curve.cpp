// Curves of a small plot: what they span, and how they are drawn in dots.
#include "report/curve.h"

#include <algorithm>
#include <cmath>

namespace osler::layout {
namespace {

/// A run that went on long after its last finite value has most of its axis empty: then the axis ends soon after it.
void leave_out_long_end(Extent& extent) {
  const double whole = static_cast<double>(extent.last_step) - static_cast<double>(extent.first_step);
  const double finite = static_cast<double>(extent.last_finite_step) - static_cast<double>(extent.first_step);
  constexpr double kFiniteShare = 0.7;  // of the axis, after the cut
  if (!(finite > 0) || finite >= whole / 2) return;
  extent.last_step = extent.last_finite_step + static_cast<std::int64_t>(finite / kFiniteShare - finite);
  extent.cut = true;
}

/// What one dot column shows of a curve.
struct Band {
  double low = 0;
  double high = 0;
  double sum = 0;  ///< of the heights of the means
  int columns = 0;
  bool gap = false;  ///< some column here had no finite value: the curve does not run through
};

std::vector<Band> bands_of(const Sketch& sketch, const Extent& extent, const Scale& scale, int width) {
  std::vector<Band> bands(static_cast<std::size_t>(width));
  for (const Sketch::Column& column : sketch.columns) {
    if (column.step > extent.last_step) break;
    Band& band = bands[static_cast<std::size_t>(place_of(column.step, extent, width))];
    if (!drawable(column)) {
      band.gap = true;
      continue;
    }
    band.low = band.columns == 0 ? column.low : std::min(band.low, column.low);
    band.high = band.columns == 0 ? column.high : std::max(band.high, column.high);
    band.sum += scale.height(middle(column));
    ++band.columns;
  }
  return bands;
}

/// Draws one curve from left to right.
class Pen {
 public:
  Pen(Dots& dots, std::uint8_t curve) : dots_(dots), curve_(curve) {}

  /// The band of one column, stippled so that the mean stands out. A wide one, a spike, is never part of a dash's gap.
  void band(int x, double low_height, double high_height) {
    const int low = level(low_height);
    const int high = level(high_height);
    if (high - low <= 1 && !solid(x)) return;
    for (int y = low; y <= high; ++y) {
      if (y == low || y == high || (x + y) % 2 == 0) dots_.set(x, y, curve_);
    }
  }

  /// A line from where the pen is to (x, height), without gaps however steep; a dot where the pen was lifted before.
  void line_to(int x, double height) {
    const int from = at_ < 0 ? x - 1 : at_;
    const double start = at_ < 0 ? height : height_;
    int y = level(start);
    for (int step = from + 1; step <= x; ++step) {
      const int next = level(start + (height - start) * (step - from) / (x - from));
      const auto [low, high] = std::minmax(y, next);
      for (int dot = low; dot <= high && solid(step); ++dot) dots_.set(step, dot, curve_);
      y = next;
    }
    at_ = x;
    height_ = height;
  }

  void lift() { at_ = -1; }

 private:
  [[nodiscard]] int level(double height) const { return static_cast<int>(std::lround(height * (dots_.height() - 1))); }
  // The second curve is dashed, so that the two can be told apart without colour.
  [[nodiscard]] bool solid(int x) const { return curve_ == 1 || x % 4 != 3; }

  Dots& dots_;
  std::uint8_t curve_;
  int at_ = -1;
  double height_ = 0;
};

}  // namespace

bool drawable(const Sketch::Column& column) {
  return std::isfinite(column.low) && std::isfinite(column.high);
}

double middle(const Sketch::Column& column) {
  return std::isfinite(column.mean) ? std::clamp(column.mean, column.low, column.high)
                                    : column.low / 2 + column.high / 2;
}

std::optional<Extent> extent_of(const std::vector<const Sketch*>& curves) {
  Extent extent;
  std::vector<double> sizes;
  bool any_step = false;
  for (const Sketch* curve : curves) {
    for (const Sketch::Column& column : curve->columns) {
      extent.first_step = any_step ? std::min(extent.first_step, column.step) : column.step;
      extent.last_step = any_step ? std::max(extent.last_step, column.step) : column.step;
      any_step = true;
      if (!drawable(column)) continue;
      extent.last_finite_step = sizes.empty() ? column.step : std::max(extent.last_finite_step, column.step);
      extent.low = sizes.empty() ? column.low : std::min(extent.low, column.low);
      extent.high = sizes.empty() ? column.high : std::max(extent.high, column.high);
      sizes.push_back(std::fabs(middle(column)));
    }
  }
  if (sizes.size() < 2) return std::nullopt;  // a single point is no curve
  const auto median = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), median, sizes.end());
  extent.typical = *median;
  extent.run_end = extent.last_step;
  leave_out_long_end(extent);
  return extent;
}

int place_of(std::int64_t step, const Extent& extent, int size) {
  const double range = static_cast<double>(extent.last_step) - static_cast<double>(extent.first_step);
  if (!(range > 0)) return 0;
  const double share = (static_cast<double>(step) - static_cast<double>(extent.first_step)) / range;
  return static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * (size - 1)));
}

void draw_curve(Dots& dots, const Sketch& sketch, const Extent& extent, const Scale& scale, std::uint8_t curve) {
  const std::vector<Band> bands = bands_of(sketch, extent, scale, dots.width());
  Pen pen(dots, curve);
  for (int x = 0; x < dots.width(); ++x) {
    const Band& band = bands[static_cast<std::size_t>(x)];
    if (band.columns > 0) {
      pen.band(x, scale.height(band.low), scale.height(band.high));
      pen.line_to(x, band.sum / band.columns);
    } else if (band.gap) {
      pen.lift();
    }
  }
}

}  // namespace osler::layout
