// A small plot of curves for a terminal, in Braille dots or plain ASCII.
#include "report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "report/curve.h"
#include "report/numbers.h"
#include "report/scale.h"
#include "report/utf8.h"

namespace osler::layout {
namespace {

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

double two_digits(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10, std::floor(std::log10(std::fabs(value))) - 1);
  return unit > 0 && std::isfinite(value / unit) ? std::round(value / unit) * unit : value;
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
    const bool told = i < plot.ends.size() && plot.ends[i] && std::isfinite(*plot.ends[i]);
    const double about = two_digits(told ? *plot.ends[i] : middle(*end));
    const std::string value = exact ? short_number(end->mean) : std::string(sheet.glyphs().about) + short_number(about);
    const std::string name =
        clip_middle(clean(sketch.series, sheet.unicode()), std::max(4, width - columns(value) - 1), sheet.unicode());
    labels.at(static_cast<std::size_t>(row)) = sheet.painted(name + " " + value, curve_ink(i));
  }
  return labels;
}

/// The names of the curves, and what crosses mean where there is room, in a line of their own.
std::string legend(const Plot& plot, const Sheet& sheet, int width, const std::string& crosses) {
  std::string line;
  const int share = width / static_cast<int>(plot.curves.size()) - 4;
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const std::string_view sample = sheet.unicode() ? (i == 0 ? "⠒⠒" : "⠒ ⠒") : (i == 0 ? "**" : "oo");
    const std::string name = clip_middle(clean(plot.curves[i]->series, sheet.unicode()), share - 2, sheet.unicode());
    if (i > 0) line += "  ";
    line += sheet.painted(std::string(sample) + " " + name, curve_ink(i));
  }
  const bool fits = !crosses.empty() && columns(line) + 2 + columns(crosses) <= width;
  return fits ? line + "  " + crosses : line;
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
  const bool at_start = plot.mark->step == extent.first_step;  // the mark says what the first label would
  const int behind = width - start - columns(flag) - columns(last);
  if ((at_start || start > columns(first)) && behind > 0) {
    const std::string lead = at_start ? before : first + before.substr(static_cast<std::size_t>(columns(first)));
    return {lead + painted + std::string(static_cast<std::size_t>(behind), ' ') + last};
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
  const bool beside = room >= 56;  // names beside the curves; on a narrow sheet in a line above them
  const int side = beside ? std::min(26, room / 3) : 0;
  const int width = std::max(8, beside ? room - side - 1 : room);
  const std::vector<std::string> names =
      beside ? end_labels(plot, scale, sheet, side) : std::vector<std::string>(labels.size());
  const std::string crosses = explain_crosses(plot, *extent, beside ? side : room, sheet);

  Dots dots(width, plot.rows, sheet.unicode());
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    draw_curve(dots, *plot.curves[i], *extent, scale, static_cast<std::uint8_t>(i + 1));
  }
  std::vector<std::string> lines;
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  const auto framed = [&](const std::string& label, std::string_view edge, const std::string& body,
                          const std::string& name) {
    lines.push_back(margin + sheet.painted(pad_left(label, gutter) + " " + std::string(edge), Ink::faint) + body +
                    (name.empty() ? "" : " " + name));
  };
  if (!beside) lines.push_back(margin + legend(plot, sheet, sheet.width() - indent, crosses));
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const std::string_view edge = labels[row].empty() ? sheet.glyphs().axis_up : sheet.glyphs().axis_tick;
    framed(labels[row], edge, row_text(dots, static_cast<int>(row), width, sheet), names[row]);
  }
  framed("", sheet.glyphs().axis_corner, axis_line(plot, *extent, width, sheet), beside ? crosses : "");
  for (const std::string& line : step_labels(plot, *extent, width, sheet)) framed("", " ", line, "");
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
