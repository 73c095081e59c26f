// Figures: what to draw, as plain data; a renderer to PNG, SVG and PDF; the figures of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "osler/base/result.h"
#include "osler/diagnosis/report.h"
#include "osler/run/experiment.h"
#include "osler/run/role.h"
#include "osler/run/run.h"

namespace osler {

namespace figure {

/// A curve over the steps. Every bucket shows its mean as a line and its lowest and highest value as a band, so no
/// spike is lost however many points there are; steps with non-finite values get a cross.
struct Line {
  std::string name;
  std::vector<Bucket> buckets;
  std::optional<double> depth;  ///< 0 to 1: coloured by its place in the network instead of by its number
  bool faint = false;           ///< context, drawn in grey behind the others and without a name
  bool dashed = false;
};

/// Curves over a common value axis.
struct Lines {
  enum class Scale { automatic, linear, log };
  std::vector<Line> lines;
  Scale scale = Scale::automatic;
};

/// A value per layer and stretch of steps, as colour on a logarithmic or linear scale.
struct HeatMap {
  std::vector<std::string> rows;    ///< from top to bottom
  std::vector<std::int64_t> edges;  ///< the steps between which the columns lie: one more than columns
  std::vector<double> cells;        ///< row by row; NaN where nothing was recorded, infinite where not finite
  bool log = false;
};

/// Distributions one above the other, the first step at the back.
struct Ridge {
  struct Row {
    std::int64_t step = 0;
    std::vector<double> edges;   ///< rising, finite; one more than masses
    std::vector<double> masses;  ///< how many values lie between two edges
  };
  std::vector<Row> rows;
};

/// Curves over something other than steps: a learning rate, a distance.
struct Chart {
  struct Curve {
    std::string name;
    std::vector<double> x;
    std::vector<double> y;
    bool faint = false;  ///< context: drawn thin in grey, and the axis need not reach to it
  };
  /// An upright line at a place that means something, with the interval it may lie in.
  struct Sign {
    double x = 0;
    std::optional<double> low;
    std::optional<double> high;
    std::string label;
    bool strong = false;  ///< the one the chart is about
  };
  std::vector<Curve> curves;
  std::vector<Sign> signs;
  std::string x_label;
  bool log_x = false;
  Lines::Scale scale = Lines::Scale::automatic;
  std::optional<double> ceiling;  ///< what is higher is cut off, so that it does not flatten the rest
};

/// A height over a plane, as colours with lines of equal height.
struct Contour {
  std::vector<double> x;      ///< rising, at least two
  std::vector<double> y;      ///< rising, at least two
  std::vector<double> cells;  ///< row by row: y outside, x inside
  bool log = false;
  std::string label;  ///< what the axes are
};

/// A value for each of a few named things, from top to bottom.
struct Bars {
  std::vector<std::string> names;
  std::vector<double> values;
  std::vector<double> errors;  ///< of each value, or empty
};

/// A horizontal line at a value that means something.
struct Level {
  double value = 0;
  std::string label;
  bool always = false;  ///< the axis reaches to it; otherwise a logarithmic axis shows it where the values come near
};

/// One plot. Its heading stands above it, so that no text has to be turned on its side.
struct Panel {
  std::string heading;
  std::variant<Lines, HeatMap, Ridge, Chart, Contour, Bars> content;
  std::vector<Level> levels;
  double height = 1;  ///< its share of the figure's height
};

/// A place or stretch on the step axis worth pointing at, drawn through every panel.
struct Pointer {
  enum class Tone { critical, warning, note, plain };
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::vector<std::int64_t> places;  ///< single steps of the evidence, each marked
  std::string label;
  Tone tone = Tone::plain;
  bool shaded = false;  ///< the ground of its stretch is tinted; for the one that a figure is about
};

}  // namespace figure

/// A whole figure: panels one above the other over the same steps.
struct Figure {
  std::string title;
  std::string subtitle;
  std::vector<figure::Panel> panels;
  std::vector<figure::Pointer> pointers;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
};

enum class FigureType { png, svg, pdf };
/// The type that the ending of a file's name asks for.
[[nodiscard]] std::optional<FigureType> figure_type_of(std::string_view file_name);

enum class FigureTheme { light, dark };

/// How a figure is drawn.
struct FigureStyle {
  FigureTheme theme = FigureTheme::light;
  int width = 960;   ///< in pixels before `scale`, in points for PDF; 320 to 8000
  int height = 0;    ///< 0: what the panels need
  double scale = 2;  ///< pixels per unit in a PNG, 0.5 to 4
};

/// The figure as the bytes of a file. Fails when the style is out of its bounds or Cairo refuses.
[[nodiscard]] Result<std::string> render(const Figure& figure, FigureType type, const FigureStyle& style = {});

/// What a user may ask of a figure.
struct FigureWish {
  std::vector<std::string> series;  ///< names of series; empty: what suits the kind
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
  figure::Lines::Scale scale = figure::Lines::Scale::automatic;
  std::vector<RoleOverride> roles;  ///< as for the diagnosis
};

// The figures of a run. Each marks the findings of `report` (which must be of the same run) and the run's restarts, and
// fails with what is missing when the run has nothing of the kind.

/// Losses, or the series asked for.
[[nodiscard]] Result<Figure> curves_figure(const Run& run, const Report& report, const FigureWish& wish = {});
/// The gradient norm of each layer, or the total, with the lines below and above which it vanishes and explodes.
[[nodiscard]] Result<Figure> gradients_figure(const Run& run, const Report& report, const FigureWish& wish = {});
/// Layers by time: gradients, weights, updates and activations, a panel for each that was recorded.
[[nodiscard]] Result<Figure> heatmap_figure(const Run& run, const Report& report, const FigureWish& wish = {});
/// How the distribution of a tensor's values moves over time.
[[nodiscard]] Result<Figure> ridge_figure(const Run& run, const Report& report, const FigureWish& wish = {});
/// Losses, quality, gradient norm, learning rate, layers: what there is, one above the other.
[[nodiscard]] Result<Figure> overview_figure(const Run& run, const Report& report, const FigureWish& wish = {});
/// One finding of the report with its evidence: the series it rests on, its steps, its threshold.
[[nodiscard]] Result<Figure> finding_figure(const Run& run, const Report& report, std::string_view finding,
                                            const FigureWish& wish = {});

/// What a probe measured, the way it is best seen: rates against loss, a surface, layers. Fails for a probe whose
/// result is a list of checks, which is better read.
[[nodiscard]] Result<Figure> experiment_figure(const Experiment& experiment);

/// The diagnosis as a document of one or two A4 pages with its figures: PDF, or its first page as PNG or SVG.
[[nodiscard]] Result<std::string> render_report(const Run& run, const Report& report, FigureType type,
                                                FigureTheme theme = FigureTheme::light);

}  // namespace osler
