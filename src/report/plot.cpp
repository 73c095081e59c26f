// A small plot of curves for a terminal, in Braille dots or plain ASCII.
#include "report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "report/numbers.h"
#include "report/scale.h"
#include "report/utf8.h"

namespace osler::layout {
namespace {

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

bool drawable(const Sketch::Column& column) {
  return std::isfinite(column.low) && std::isfinite(column.high);
}

/// The mean, kept inside the band even when it overflowed on the way.
double middle(const Sketch::Column& column) {
  return std::isfinite(column.mean) ? std::clamp(column.mean, column.low, column.high)
                                    : column.low / 2 + column.high / 2;
}

/// A run that went on long after its last finite value has most of its axis empty: then the axis ends soon after it.
void leave_out_long_end(Extent& extent) {
  const double whole = static_cast<double>(extent.last_step) - static_cast<double>(extent.first_step);
  const double finite = static_cast<double>(extent.last_finite_step) - static_cast<double>(extent.first_step);
  constexpr double kFiniteShare = 0.7;  // of the axis, after the cut
  if (!(finite > 0) || finite >= whole / 2) return;
  extent.last_step = extent.last_finite_step + static_cast<std::int64_t>(finite / kFiniteShare - finite);
  extent.cut = true;
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

/// Where on an axis of `size` places a step lies.
int place_of(std::int64_t step, const Extent& extent, int size) {
  const double range = static_cast<double>(extent.last_step) - static_cast<double>(extent.first_step);
  if (!(range > 0)) return 0;
  const double share = (static_cast<double>(step) - static_cast<double>(extent.first_step)) / range;
  return static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * (size - 1)));
}

/// Dots, several per cell, each owned by one curve.
class Dots {
 public:
  Dots(int cells_wide, int cells_high, bool unicode)
      : wide_(cells_wide),
        high_(cells_high),
        across_(unicode ? 2 : 1),
        down_(unicode ? 4 : 1),
        owner_(static_cast<std::size_t>(width() * height()), kNone) {}

  [[nodiscard]] int width() const { return wide_ * across_; }
  [[nodiscard]] int height() const { return high_ * down_; }

  /// `y` counts from the bottom. The later curve wins a dot.
  void set(int x, int y, std::uint8_t curve) { owner_[index(x, height() - 1 - y)] = curve; }

  /// Which curve a cell belongs to: that of most of its dots, the later one when equal.
  [[nodiscard]] std::uint8_t curve_at(int column, int row) const {
    std::array<int, 3> votes{};
    for_cell(column, row, [&](int, int, std::uint8_t curve) { ++votes.at(curve); });
    return votes[2] >= votes[1] && votes[2] > 0 ? 2 : votes[1] > 0 ? 1 : kNone;
  }

  /// The eight dots of a cell in Braille's bit order.
  [[nodiscard]] char32_t braille_at(int column, int row) const {
    constexpr std::array<std::array<unsigned, 4>, 2> kBits = {{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};
    char32_t sign = 0x2800;
    for_cell(column, row, [&](int x, int y, std::uint8_t curve) {
      if (curve != kNone) sign |= kBits.at(static_cast<std::size_t>(x)).at(static_cast<std::size_t>(y));
    });
    return sign;
  }

  static constexpr std::uint8_t kNone = 0;

 private:
  [[nodiscard]] std::size_t index(int x, int y) const { return static_cast<std::size_t>(y * width() + x); }

  template <typename Visit>
  void for_cell(int column, int row, Visit visit) const {
    for (int x = 0; x < across_; ++x) {
      for (int y = 0; y < down_; ++y) visit(x, y, owner_[index(column * across_ + x, row * down_ + y)]);
    }
  }

  int wide_;
  int high_;
  int across_;
  int down_;
  std::vector<std::uint8_t> owner_;
};

/// What one dot column shows of a curve.
struct Band {
  double low = 0;
  double high = 0;
  double sum = 0;  ///< of the heights of the means
  int columns = 0;
  bool gap = false;  ///< some column here had no finite value: the curve does not run through
};

void draw_curve(Dots& dots, const Sketch& sketch, const Extent& extent, const Scale& scale, std::uint8_t curve) {
  std::vector<Band> bands(static_cast<std::size_t>(dots.width()));
  for (const Sketch::Column& column : sketch.columns) {
    if (column.step > extent.last_step) break;
    Band& band = bands[static_cast<std::size_t>(place_of(column.step, extent, dots.width()))];
    if (!drawable(column)) {
      band.gap = true;
      continue;
    }
    band.low = band.columns == 0 ? column.low : std::min(band.low, column.low);
    band.high = band.columns == 0 ? column.high : std::max(band.high, column.high);
    band.sum += scale.height(middle(column));
    ++band.columns;
  }
  const auto level = [&](double height) { return static_cast<int>(std::lround(height * (dots.height() - 1))); };
  // The second curve is dashed, so that the two can be told apart without colour.
  const auto solid = [curve](int x) { return curve == 1 || x % 4 != 3; };

  int last_x = -1;
  double last_height = 0;
  for (int x = 0; x < dots.width(); ++x) {
    const Band& band = bands[static_cast<std::size_t>(x)];
    if (band.columns == 0) {
      if (band.gap) last_x = -1;
      continue;
    }
    const double height = band.sum / band.columns;
    const int low = level(scale.height(band.low));
    const int high = level(scale.height(band.high));
    const bool wide = high - low > 1;
    for (int y = low; y <= high; ++y) {  // stippled, so that the mean stands out; its ends always show
      if ((wide || solid(x)) && (y == low || y == high || (x + y) % 2 == 0)) dots.set(x, y, curve);
    }
    for (int between = last_x + 1; last_x >= 0 && between < x; ++between) {
      const double share = static_cast<double>(between - last_x) / (x - last_x);
      if (solid(between)) dots.set(between, level(last_height + share * (height - last_height)), curve);
    }
    const int from = last_x < 0 ? level(height) : level(last_height);
    const int to = level(height);
    if (last_x >= 0 && x == last_x + 1 && solid(x)) {  // a steep step between neighbours stays connected
      for (int y = std::min(from, to); y <= std::max(from, to); ++y) dots.set(x, y, curve);
    }
    if (solid(x)) dots.set(x, to, curve);
    last_x = x;
    last_height = height;
  }
}

/// The ticks in as few digits as tell them apart.
std::vector<std::string> tick_texts(const std::vector<double>& ticks) {
  std::vector<std::string> texts;
  for (int digits = 3; digits <= 9; ++digits) {
    texts.clear();
    for (const double tick : ticks) {
      const double size = std::fabs(tick);
      const bool whole = size >= 1000 && size < 1e7 && tick == std::round(tick);
      texts.push_back(whole ? short_number(tick) : fmt::format("{:.{}g}", tick == 0 ? 0.0 : tick, digits));
    }
    if (std::set<std::string>(texts.begin(), texts.end()).size() == texts.size()) break;
  }
  return texts;
}

/// One label per row at most, and never two neighbours: labels of the vertical axis.
std::vector<std::string> axis_labels(const Scale& scale, int rows) {
  std::vector<std::string> labels(static_cast<std::size_t>(rows));
  const std::vector<double> ticks = scale.ticks(rows / 2);
  const std::vector<std::string> texts = tick_texts(ticks);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const int row = rows - 1 - static_cast<int>(std::lround(scale.height(ticks[i]) * (rows - 1)));
    const auto taken = [&](int at) { return at >= 0 && at < rows && !labels[static_cast<std::size_t>(at)].empty(); };
    if (!taken(row) && !taken(row - 1) && !taken(row + 1)) labels[static_cast<std::size_t>(row)] = texts[i];
  }
  return labels;
}

const Sketch::Column* last_drawable(const Sketch& sketch) {
  const auto found = std::find_if(sketch.columns.rbegin(), sketch.columns.rend(), drawable);
  return found == sketch.columns.rend() ? nullptr : &*found;
}

Ink curve_ink(std::size_t curve) {
  return curve == 0 ? Ink::plain : Ink::second;
}

/// The names of the curves beside their ends, one per row.
std::vector<std::string> end_labels(const Plot& plot, const Scale& scale, const Sheet& sheet, int width) {
  const int rows = plot.rows;
  std::vector<std::string> labels(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const Sketch& sketch = *plot.curves[i];
    const Sketch::Column* end = last_drawable(sketch);
    if (end == nullptr) continue;
    int row = rows - 1 - static_cast<int>(std::lround(scale.height(middle(*end)) * (rows - 1)));
    if (!labels[static_cast<std::size_t>(row)].empty()) {
      const bool above = middle(*end) > middle(*last_drawable(*plot.curves[0]));
      row = (above && row > 0) || row + 1 >= rows ? row - 1 : row + 1;
    }
    // The last column may stand for many points: then its mean is a round figure, not the last value.
    const bool exact = end->low == end->high;
    const std::string value =
        exact ? short_number(end->mean) : fmt::format("{}{:.2g}", sheet.glyphs().about, middle(*end));
    const std::string name =
        clip_middle(clean(sketch.series, sheet.unicode()), std::max(4, width - columns(value) - 1), sheet.unicode());
    labels.at(static_cast<std::size_t>(row)) = sheet.painted(name + " " + value, curve_ink(i));
  }
  return labels;
}

/// The names of the curves in a line of their own, for sheets too narrow for labels beside the curves.
std::string legend(const Plot& plot, const Sheet& sheet, int width) {
  std::string line;
  const int share = width / static_cast<int>(plot.curves.size()) - 4;
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const std::string_view sample = sheet.unicode() ? (i == 0 ? "⠒⠒" : "⠒ ⠒") : (i == 0 ? "**" : "oo");
    const std::string name = clip_middle(clean(plot.curves[i]->series, sheet.unicode()), share - 2, sheet.unicode());
    if (i > 0) line += "  ";
    line += sheet.painted(std::string(sample) + " " + name, curve_ink(i));
  }
  return line;
}

std::string cell_text(const Dots& dots, int column, int row, const Sheet& sheet, std::string& run, Ink& run_ink) {
  const std::uint8_t curve = dots.curve_at(column, row);
  const Ink ink = curve == 2 ? Ink::second : Ink::plain;
  std::string sign;
  if (curve == Dots::kNone) {
    sign = " ";
  } else if (sheet.unicode()) {
    append_utf8(sign, dots.braille_at(column, row));
  } else {
    sign = curve == 2 ? "o" : "*";
  }
  std::string done;
  if (curve != Dots::kNone && ink != run_ink) {  // one colour code per run of cells, not per cell
    done = sheet.painted(run, run_ink);
    run.clear();
    run_ink = ink;
  }
  run += sign;
  return done;
}

std::string row_text(const Dots& dots, int row, int width, const Sheet& sheet) {
  std::string line;
  std::string run;
  Ink run_ink = Ink::plain;
  for (int column = 0; column < width; ++column) line += cell_text(dots, column, row, sheet, run, run_ink);
  return line + sheet.painted(run, run_ink);
}

/// The step axis, with a cross wherever a curve has values that are not finite.
std::string axis_line(const Plot& plot, const Extent& extent, int width, const Sheet& sheet) {
  std::vector<bool> broken(static_cast<std::size_t>(width), false);
  for (const Sketch* curve : plot.curves) {
    int last = -1;  // where the column before lies, when it had no finite value
    for (const Sketch::Column& column : curve->columns) {
      const int at = place_of(column.step, extent, width);
      if (column.nonfinite > 0) std::fill(broken.begin() + (last < 0 ? at : last), broken.begin() + at + 1, true);
      last = drawable(column) ? -1 : at;
      if (column.step > extent.last_step) break;
    }
  }
  std::string line;
  for (std::size_t from = 0; from < broken.size();) {
    std::size_t to = from;
    std::string stretch;
    for (; to < broken.size() && broken[to] == broken[from]; ++to) {
      stretch += broken[from] ? sheet.glyphs().times : sheet.glyphs().axis_line;
    }
    line += sheet.painted(stretch, broken[from] ? Ink::critical : Ink::faint);
    from = to;
  }
  return line;
}

/// What the crosses mean, and up to where they go when the axis ends before them; empty when there are none.
std::string explain_crosses(const Plot& plot, const Extent& extent, int width, const Sheet& sheet) {
  const bool any = std::any_of(plot.curves.begin(), plot.curves.end(), [](const Sketch* curve) {
    return std::any_of(curve->columns.begin(), curve->columns.end(),
                       [](const Sketch::Column& column) { return column.nonfinite > 0; });
  });
  if (!any) return {};
  const std::string end = extent.cut ? " to " + grouped(extent.run_end) : "";
  const std::string text = fmt::format("{} NaN or Inf{}", sheet.glyphs().times, end);
  return sheet.painted(clip(text, width, sheet.unicode()), Ink::critical);
}

/// The first and last step below the axis, and the mark between them or in a line of its own above them.
std::vector<std::string> step_labels(const Plot& plot, const Extent& extent, int width, const Sheet& sheet) {
  const std::string first = grouped(extent.first_step);
  const std::string last = grouped(extent.last_step);
  const int gap = width - columns(first) - columns(last);
  std::string ends = gap > 0 ? first + std::string(static_cast<std::size_t>(gap), ' ') + last : first;
  if (!plot.mark) return {ends};

  const int at = place_of(plot.mark->step, extent, width);
  const std::string_view sign = sheet.glyphs().mark;
  const std::string label = clip(plot.mark->label, width - 2, sheet.unicode());
  const int length = columns(label) + 2;
  const bool to_the_right = at + length <= width;
  const int start = to_the_right ? at : std::max(0, at + 1 - length);
  const std::string flag =
      to_the_right ? std::string(sign) + " " + label : pad_left(label + " ", at - start) + std::string(sign);
  const std::string before(static_cast<std::size_t>(start), ' ');
  const std::string painted = sheet.painted(flag, plot.mark->ink);
  const int behind = width - start - columns(flag) - columns(last);
  if (start > columns(first) && behind > 0) {
    return {first + before.substr(static_cast<std::size_t>(columns(first))) + painted +
            std::string(static_cast<std::size_t>(behind), ' ') + last};
  }
  return {before + painted, ends};
}

}  // namespace

std::vector<std::string> draw(const Plot& plot, const Sheet& sheet, int indent) {
  std::optional<Extent> extent = extent_of(plot.curves);
  if (!extent || plot.rows < 2) return {};
  if (!extent->cut) extent->last_step = std::max(extent->last_step, plot.last_step);
  const Scale scale(extent->low, extent->high, extent->typical);
  const std::vector<std::string> labels = axis_labels(scale, plot.rows);
  int gutter = 0;
  for (const std::string& label : labels) gutter = std::max(gutter, columns(label));

  const int room = sheet.width() - indent - gutter - 2;
  const bool beside = room >= 56;
  const int side = beside ? std::min(26, room / 3) : 0;
  const int width = std::max(8, beside ? room - side - 1 : room);
  Dots dots(width, plot.rows, sheet.unicode());
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    draw_curve(dots, *plot.curves[i], *extent, scale, static_cast<std::uint8_t>(i + 1));
  }

  std::vector<std::string> lines;
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  const std::string inset = margin + std::string(static_cast<std::size_t>(gutter + 2), ' ');
  const std::string crosses = explain_crosses(plot, *extent, beside ? side : room, sheet);
  if (!beside) {
    const std::string names = legend(plot, sheet, sheet.width() - indent);
    const bool fits = columns(names) + 2 + columns(crosses) <= sheet.width() - indent;
    lines.push_back(margin + names + (fits && !crosses.empty() ? "  " + crosses : ""));
  }
  const std::vector<std::string> ends =
      beside ? end_labels(plot, scale, sheet, side) : std::vector<std::string>(static_cast<std::size_t>(plot.rows));
  for (int row = 0; row < plot.rows; ++row) {
    const std::string& label = labels[static_cast<std::size_t>(row)];
    const std::string frame =
        pad_left(label, gutter) + " " + std::string(label.empty() ? sheet.glyphs().axis_up : sheet.glyphs().axis_tick);
    const std::string& end = ends[static_cast<std::size_t>(row)];
    lines.push_back(margin + sheet.painted(frame, Ink::faint) + row_text(dots, row, width, sheet) +
                    (end.empty() ? "" : " " + end));
  }
  lines.push_back(margin + std::string(static_cast<std::size_t>(gutter + 1), ' ') +
                  sheet.painted(sheet.glyphs().axis_corner, Ink::faint) + axis_line(plot, *extent, width, sheet) +
                  (beside && !crosses.empty() ? " " + crosses : ""));
  for (const std::string& line : step_labels(plot, *extent, width, sheet)) lines.push_back(inset + line);
  return lines;
}

std::string sparkline(const Sketch& sketch, int width, bool unicode) {
  constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<std::string_view, 8> kAscii = {"_", ".", ":", "-", "=", "+", "*", "#"};
  const std::optional<Extent> extent = extent_of({&sketch});
  if (!extent || width < 1) return {};
  const Scale scale(extent->low, extent->high, extent->typical);
  constexpr double kEmpty = -2;
  constexpr double kBroken = -1;  // no finite value
  std::vector<double> heights(static_cast<std::size_t>(width), kEmpty);
  for (const Sketch::Column& column : sketch.columns) {
    if (column.step > extent->last_step) break;
    double& height = heights[static_cast<std::size_t>(place_of(column.step, *extent, width))];
    height = std::max(height, drawable(column) ? scale.height(column.high) : kBroken);
  }
  std::string line;
  for (const double height : heights) {
    const auto level = static_cast<std::size_t>(std::lround(std::max(height, 0.0) * 7));
    line += height == kEmpty ? " " : height == kBroken ? glyphs(unicode).times : (unicode ? kBlocks : kAscii)[level];
  }
  return line;
}

}  // namespace osler::layout
