// From values to colours.
#include "figures/shading.h"

#include <algorithm>
#include <cmath>

namespace osler::figure {
namespace {

constexpr double kBarWidth = 10;
constexpr int kShades = Shading::kShades;

}  // namespace

Shading::Shading(std::span<const double> cells, bool log, const Palette& colours) : log_(log), colours_(colours) {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const double cell : cells) {
    if (!std::isfinite(cell) || (log_ && cell <= 0)) continue;
    low = std::min(low, cell);
    high = std::max(high, cell);
  }
  if (!(low <= high)) low = high = 1;
  low_ = log_ ? std::log10(low) : low;
  high_ = log_ ? std::log10(high) : high;
  // Noise is not blown up to the whole range of colours.
  const double least = log_ ? 1 : std::max(1e-12, 0.2 * std::max(std::fabs(low_), std::fabs(high_)));
  if (high_ - low_ < least) {
    const double middle = (low_ + high_) / 2;
    low_ = middle - least / 2;
    high_ = middle + least / 2;
  }
}

int Shading::shade(double cell) const {
  if (std::isnan(cell)) return kNothing;
  if (std::isinf(cell)) return kNonfinite;
  if (log_ && cell <= 0) return kZero;
  const double share = ((log_ ? std::log10(cell) : cell) - low_) / (high_ - low_);
  return std::clamp(static_cast<int>(share * kShades), 0, kShades - 1);
}

Colour Shading::colour(int shade) const {
  if (shade == kZero) return colours_.zero;
  if (shade == kNonfinite) return colours_.nonfinite;
  return heat((shade + 0.5) / kShades);
}

double Shading::value(double share) const {
  const double place = low_ + share * (high_ - low_);
  return log_ ? std::pow(10, place) : place;
}

std::vector<Tick> Shading::ticks(int most) const {
  std::vector<Tick> ticks;
  if (!log_) {
    for (const RoundValue& round : round_values(low_, high_, most)) {
      ticks.push_back({(round.value - low_) / (high_ - low_), round.label});
    }
    return ticks;
  }
  const int first = static_cast<int>(std::ceil(low_ - 1e-9));
  const int last = static_cast<int>(std::floor(high_ + 1e-9));
  if (last - first < 1) {  // hardly a decade: round values do better than powers of ten
    for (const RoundValue& round : round_values(std::pow(10, low_), std::pow(10, high_), most)) {
      if (round.value > 0) ticks.push_back({(std::log10(round.value) - low_) / (high_ - low_), round.label});
    }
    return ticks;
  }
  const int stride = (last - first) / std::max(1, most) + 1;
  for (int decade = first; decade <= last; decade += stride) {
    ticks.push_back({(decade - low_) / (high_ - low_), decade_label(decade, first >= -3 && last <= 4)});
  }
  return ticks;
}

void draw_colour_bar(const Plot& plot, std::span<const double> cells, const Shading& shading) {
  const double x = plot.area.right() + 12;
  const Type type{kSmallSize, plot.colours.faint, false};
  std::vector<int> special;
  for (const int shade : {Shading::kZero, Shading::kNonfinite}) {
    if (std::any_of(cells.begin(), cells.end(), [&](double cell) { return shading.shade(cell) == shade; })) {
      special.push_back(shade);
    }
  }
  const double top = plot.area.y;
  const double height = std::max(20.0, plot.area.height - 15 * static_cast<double>(special.size()));
  for (int i = 0; i < kShades; ++i) {
    const double y = top + height * (1 - static_cast<double>(i + 1) / kShades);
    plot.canvas.fill({x, y, kBarWidth, height / kShades + 0.3}, shading.colour(i));
  }
  double last = HUGE_VAL;
  for (const Tick& tick : shading.ticks(std::max(2, static_cast<int>(height / 30)))) {
    const double y = top + height * (1 - tick.share);
    if (tick.share < 0 || tick.share > 1 || std::fabs(last - y) < kSmallSize) continue;
    last = y;
    plot.canvas.line({x + kBarWidth, y}, {x + kBarWidth + 3, y}, {plot.colours.faint, 1, Pen::Dash::none});
    plot.canvas.text(tick.label, {x + kBarWidth + 6, std::clamp(y + kSmallSize * 0.36, top + 7, top + height)}, type);
  }
  double y = top + height + 5;
  for (const int shade : special) {
    plot.canvas.fill({x, y, kBarWidth, 10}, shading.colour(shade));
    plot.canvas.outline({x, y, kBarWidth, 10}, {plot.colours.faint, 0.5, Pen::Dash::none});
    plot.canvas.text(shade == Shading::kZero ? "zero" : "NaN, Inf", {x + kBarWidth + 6, y + 8.5}, type);
    y += 15;
  }
}

}  // namespace osler::figure
