// The layers of a run as a table: figures in columns, the gradient over time as a strip, what is wrong in colour.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "osler/report/layers.h"
#include "report/layout.h"
#include "report/numbers.h"
#include "report/text_sections.h"

namespace osler {
namespace {

using layout::Ink;
using layout::Sheet;

/// A column of figures.
struct Column {
  std::string_view heading;
  std::string_view figure;  ///< the name of its span
  std::optional<double> LayerRow::*value;
  bool share = false;
};
constexpr std::array kColumns = {Column{"gradient", "gradient_norm", &LayerRow::gradient_norm},
                                 Column{"weight", "weight_norm", &LayerRow::weight_norm},
                                 Column{"update/w", "update_ratio", &LayerRow::update_ratio},
                                 Column{"grad/w", "gradient_ratio", &LayerRow::gradient_ratio},
                                 Column{"dead", "dead_share", &LayerRow::dead_share, true},
                                 Column{"saturated", "saturated_share", &LayerRow::saturated_share, true}};

std::string figure_text(const std::optional<double>& value, bool share) {
  if (!value) return "";
  if (share && (*value <= 0 || *value >= 1)) return *value <= 0 ? "0 %" : "100 %";
  return share ? layout::percent(*value) : layout::short_number(*value);
}

bool shown(const LayerRow& row, bool verbose) {
  const bool small = row.kind == "bias" || row.kind == "normalisation" || row.kind == "scalar";
  return verbose || !small || row.status != "ok";
}

Ink ink_of(const LayerRow& row) {
  if (!row.severity) return row.status == "ok" ? Ink::healthy : Ink::note;
  return *row.severity == Severity::critical  ? Ink::critical
         : *row.severity == Severity::warning ? Ink::warning
                                              : Ink::note;
}

/// The smallest and largest gradient above zero among the rows, as logarithms: one scale for all strips.
struct Scale {
  double low = 0;
  double high = 0;
};
Scale scale_of(const std::vector<const LayerRow*>& rows) {
  Scale scale{HUGE_VAL, -HUGE_VAL};
  for (const LayerRow* row : rows) {
    for (const double value : row->gradient_course) {
      if (!(value > 0) || !std::isfinite(value)) continue;
      scale.low = std::min(scale.low, std::log10(value));
      scale.high = std::max(scale.high, std::log10(value));
    }
  }
  constexpr double kLeastDecades = 2;  // noise shall not look like a mountain range
  const double missing = kLeastDecades - (scale.high - scale.low);
  if (missing > 0) {
    scale.low -= missing / 2;
    scale.high += missing / 2;
  }
  return scale;
}

/// The gradient over the run in `cells` characters, the higher the larger; a dot is exactly zero.
std::string strip_of(const LayerRow& row, const Scale& scale, std::size_t cells, bool unicode) {
  static constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array<std::string_view, 8> kPlain = {"_", ":", "-", "=", "+", "*", "%", "#"};
  const auto& signs = unicode ? kBlocks : kPlain;
  std::string strip;
  const std::size_t parts = row.gradient_course.size();
  for (std::size_t cell = 0; cell < cells && parts > 0; ++cell) {
    const double value = row.gradient_course[cell * parts / cells];
    if (std::isnan(value)) {
      strip += ' ';
    } else if (value == 0) {
      strip += unicode ? "·" : ".";
    } else if (!std::isfinite(value)) {
      strip += unicode ? "×" : "x";
    } else {
      const double share = (std::log10(value) - scale.low) / (scale.high - scale.low);
      strip += signs[static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * (signs.size() - 1)))];
    }
  }
  return strip;
}

/// The table laid out for one sheet.
class Layout {
 public:
  Layout(Sheet& sheet, const LayerTable& table, std::vector<const LayerRow*> rows)
      : sheet_(sheet), table_(table), rows_(std::move(rows)), scale_(scale_of(rows_)) {
    for (const Column& column : kColumns) {
      const auto has = [&](const LayerRow* row) { return (row->*column.value).has_value(); };
      if (std::any_of(rows_.begin(), rows_.end(), has)) columns_.push_back(&column);
    }
    fit();
  }

  void write() {
    std::string head = layout::pad("layer", name_width_);
    for (std::size_t i = 0; i < columns_.size(); ++i) head += "  " + layout::pad_left(columns_[i]->heading, widths_[i]);
    if (strip_ > 0) head += "  " + layout::pad("over time", static_cast<int>(strip_));
    sheet_.line("  " + sheet_.painted(head + "  status", Ink::faint));
    for (const LayerRow* row : rows_) write_row(*row);
    write_spans();
  }

 private:
  static constexpr int kStatusWidth = 12;
  static constexpr int kLeastName = 12;

  /// Names are cut, then the strip shrinks, then the last columns go, until the status fits behind.
  void fit() {
    for (const Column* column : columns_) {
      int width = layout::columns(column->heading);
      for (const LayerRow* row : rows_)
        width = std::max(width, layout::columns(figure_text(row->*(column->value), column->share)));
      widths_.push_back(width);
    }
    const bool strips = std::any_of(rows_.begin(), rows_.end(), [](const LayerRow* row) {
      return std::any_of(row->gradient_course.begin(), row->gradient_course.end(),
                         [](double value) { return !std::isnan(value); });
    });
    strip_ = strips ? 24 : 0;
    int longest = 7;
    for (const LayerRow* row : rows_) longest = std::max(longest, layout::columns(layout::clean(row->layer, true)));
    while (room() < std::min(longest, 28) && strip_ > 12) strip_ -= 6;
    while (room() < kLeastName && strip_ > 0) strip_ -= 12;
    while (room() < kLeastName && columns_.size() > 1) {
      columns_.pop_back();
      widths_.pop_back();
    }
    name_width_ = std::min(longest, std::max(room(), kLeastName));
  }
  /// What is left for the name.
  [[nodiscard]] int room() const {
    int used = 2 + 2 + kStatusWidth;
    for (const int width : widths_) used += 2 + width;
    if (strip_ > 0) used += 2 + static_cast<int>(strip_);
    return sheet_.width() - used;
  }

  void write_row(const LayerRow& row) {
    const Ink ink = ink_of(row);
    const bool well = row.status == "ok";
    const std::string name = layout::pad(
        layout::clip_middle(layout::clean(row.layer, sheet_.unicode()), name_width_, sheet_.unicode()), name_width_);
    std::string line = "  " + (well ? name : sheet_.painted(name, ink));
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string figure = figure_text(row.*(columns_[i]->value), columns_[i]->share);
      line += "  " + layout::pad_left(figure.empty() ? "-" : figure, widths_[i]);
    }
    if (strip_ > 0) {
      const std::string strip = strip_of(row, scale_, strip_, sheet_.unicode());
      line += "  " + sheet_.painted(layout::pad(strip, static_cast<int>(strip_)), well ? Ink::faint : ink);
    }
    line += "  " + sheet_.painted(layout::clean(row.status, sheet_.unicode()), ink);
    sheet_.line(line);
    if (!row.why.empty()) sheet_.paragraph("      ", sheet_.text(row.why, Ink::faint), 2);
  }

  void write_spans() {
    struct Line {
      std::string_view word;
      double LayerSpan::*value;
    };
    for (const Line& line : {Line{"lowest", &LayerSpan::lowest}, Line{"median", &LayerSpan::median},
                             Line{"highest", &LayerSpan::highest}}) {
      std::string text = layout::pad(line.word, name_width_);
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const auto span = std::find_if(table_.spans.begin(), table_.spans.end(),
                                       [&](const LayerSpan& one) { return one.figure == columns_[i]->figure; });
        const std::string figure =
            span == table_.spans.end() ? "-" : figure_text((*span).*(line.value), columns_[i]->share);
        text += "  " + layout::pad_left(figure, widths_[i]);
      }
      sheet_.line("  " + sheet_.painted(text, Ink::strong));
    }
  }

  Sheet& sheet_;
  const LayerTable& table_;
  std::vector<const LayerRow*> rows_;
  Scale scale_;
  std::vector<const Column*> columns_;
  std::vector<int> widths_;
  std::size_t strip_ = 0;
  int name_width_ = kLeastName;
};

}  // namespace

std::string render_layers(const Report& report, const TextOptions& options) {
  Sheet sheet(options);
  if (!report.layers || report.layers->rows.empty()) {
    sheet.paragraph("", sheet.painted("Layers", Ink::strong) +
                            "  the log has no statistics of layers. Log the norm of each layer's gradient as "
                            "grad_norm/LAYER, or let a monitor record the run.");
    return sheet.str();
  }
  const LayerTable& table = *report.layers;
  std::vector<const LayerRow*> rows;
  for (const LayerRow& row : table.rows) {
    if (shown(row, options.verbose)) rows.push_back(&row);
  }
  const std::size_t hidden = table.rows.size() - rows.size();
  const auto sick =
      std::count_if(table.rows.begin(), table.rows.end(), [](const LayerRow& row) { return row.status != "ok"; });
  sheet.paragraph("", sheet.painted("Layers", Ink::strong) + "  " +
                          fmt::format("{} from input to output, {}", layout::counted(table.rows.size(), "layer"),
                                      sick == 0 ? std::string("all ok")
                                                : fmt::format("{} not ok", layout::grouped(std::int64_t{sick}))));
  Layout(sheet, table, std::move(rows)).write();
  if (hidden > 0) {
    sheet.paragraph("  ", sheet.painted(fmt::format("{} (biases, normalisations) that are ok are not shown: --verbose",
                                                    layout::counted(hidden, "layer")),
                                        Ink::faint));
  }
  sheet.paragraph("  ", sheet.painted("osler plot RUN --kind heatmap draws every layer over time.", Ink::faint));
  return sheet.str();
}

}  // namespace osler
