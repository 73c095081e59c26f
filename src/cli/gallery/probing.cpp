// What probes found, drawn for a terminal.
#include "cli/gallery/probing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cli/program.h"
#include "report/layout.h"
#include "report/numbers.h"
#include "report/plot.h"

namespace osler::cli {
namespace {

using gallery::ProbeAnswer;
using layout::Ink;
using layout::Sheet;
using Column = Experiment::Column;

constexpr int kIndent = 4;

Sketch sketch_of(const Column& column) {
  Sketch sketch;
  sketch.series = column.name;
  for (std::size_t i = 0; i < column.values.size(); ++i) {
    const double value = column.values[i];
    sketch.columns.push_back({static_cast<std::int64_t>(i), value, value, value, std::isfinite(value) ? 0U : 1U});
  }
  return sketch;
}

/// The second and third column over the first, which is in order.
void draw_curves(Sheet& sheet, const Experiment& experiment) {
  constexpr std::size_t kCurves = 2;
  const Column& across = experiment.columns.front();
  std::vector<Sketch> sketches;
  for (std::size_t i = 1; i < experiment.columns.size() && i <= kCurves; ++i) {
    sketches.push_back(sketch_of(experiment.columns[i]));
  }
  layout::Plot plot;
  for (const Sketch& sketch : sketches) plot.curves.push_back(&sketch);
  std::vector<std::string> lines = layout::draw(plot, sheet, kIndent);
  if (lines.empty()) return;
  lines.pop_back();  // its steps are only places in the table
  for (const std::string& line : lines) sheet.line(line);
  sheet.paragraph(std::string(2 * kIndent, ' '),
                  fmt::format("{} from {} to {}", across.name, layout::short_number(across.values.front()),
                              layout::short_number(across.values.back())));
}

/// The sorted distinct values of a column.
std::vector<double> places_of(const Column& column) {
  const std::set<double> all(column.values.begin(), column.values.end());
  return {all.begin(), all.end()};
}

/// A plane of losses from above, the lowest darkest; nothing when the columns are no plane.
bool draw_plane(Sheet& sheet, const Experiment& experiment) {
  if (experiment.columns.size() != 3) return false;
  const auto& [a, b, heights] = std::tie(experiment.columns[0], experiment.columns[1], experiment.columns[2]);
  const std::vector<double> across = places_of(a);
  const std::vector<double> up = places_of(b);
  if (across.size() < 3 || up.size() < 3 || across.size() * up.size() != heights.values.size()) return false;
  const std::string_view plain = " .:-=+*#%@";
  const std::vector<std::string_view> shades = {" ", "░", "▒", "▓", "█"};
  const auto levels = sheet.unicode() ? shades.size() : plain.size();
  double low = INFINITY;
  double high = -INFINITY;
  for (const double height : heights.values) {
    if (!std::isfinite(height)) continue;
    low = std::min(low, height);
    high = std::max(high, height);
  }
  const bool decades = low > 0;
  const auto fit = [&](double height) { return decades ? std::log(height) : height; };
  std::vector<std::string> rows(up.size() * across.size(), " ");
  for (std::size_t i = 0; i < heights.values.size(); ++i) {
    const auto column = std::lower_bound(across.begin(), across.end(), a.values[i]) - across.begin();
    const auto row = std::lower_bound(up.begin(), up.end(), b.values[i]) - up.begin();
    const double height = heights.values[i];
    const double share = std::isfinite(height) && high > low ? (fit(height) - fit(low)) / (fit(high) - fit(low)) : 1;
    const auto level = std::min(levels - 1, static_cast<std::size_t>(share * static_cast<double>(levels)));
    rows[static_cast<std::size_t>(row) * across.size() + static_cast<std::size_t>(column)] =
        sheet.unicode() ? std::string(shades[level]) : std::string(1, plain[level]);
  }
  for (std::size_t row = up.size(); row-- > 0;) {
    std::string line(kIndent, ' ');
    for (std::size_t column = 0; column < across.size(); ++column) {
      const std::string& cell = rows[row * across.size() + column];
      line += cell + cell;  // a character is about twice as high as it is wide
    }
    sheet.line(line);
  }
  sheet.paragraph(std::string(kIndent, ' '),
                  fmt::format("{} from {} (light) to {} (dense); the weights are in the middle", heights.name,
                              layout::short_number(low), layout::short_number(high)));
  return true;
}

void draw(Sheet& sheet, const Experiment& experiment) {
  constexpr std::size_t kFewest = 8;  // rows of a table that make a curve
  if (experiment.columns.size() < 2 || draw_plane(sheet, experiment)) return;
  const std::vector<double>& across = experiment.columns.front().values;
  const bool by_layer = experiment.checks.size() == across.size();  // a list, which is written below
  if (!by_layer && across.size() >= kFewest && std::is_sorted(across.begin(), across.end())) {
    draw_curves(sheet, experiment);
  }
}

}  // namespace

Result<std::vector<const gallery::Probe*>> probes_named(const std::vector<std::string>& names) {
  std::vector<const gallery::Probe*> all;
  for (const std::string& name : names) {
    const auto probe = gallery::find_probe(name);
    if (!probe) return Error{probe.error().code, probe.error().message, "--probe"};
    if (std::find(all.begin(), all.end(), *probe) == all.end()) all.push_back(*probe);
  }
  return all;
}

std::string probes_help() {
  std::string text = "Probes, for --probe:\n";
  for (const gallery::Probe& probe : gallery::probes()) text += fmt::format("  {:16}{}\n", probe.name, probe.question);
  return text;
}

std::string show_answers(const std::vector<ProbeAnswer>& answers, const TextOptions& options) {
  std::string text;
  for (const ProbeAnswer& answer : answers) {
    const auto probe = gallery::find_probe(answer.name);
    Sheet head(options);
    head.blank();
    head.paragraph("", head.painted(probe ? (*probe)->question : answer.name, Ink::strong) + "  " +
                           head.painted(answer.name, Ink::faint));
    text += "\n" + head.str() + answer.words;
    if (!answer.words.empty()) continue;
    for (const Experiment& experiment : answer.experiments) {
      Sheet figure(options);
      draw(figure, experiment);
      text += figure.str() + render_text(experiment, options);
    }
  }
  return text;
}

int exit_code_of(const std::vector<ProbeAnswer>& answers) {
  int code = kFine;
  for (const ProbeAnswer& answer : answers) {
    for (const Experiment& experiment : answer.experiments) {
      if (experiment.outcome == Experiment::Outcome::stopped) return kCannotJudge;
      if (experiment.outcome == Experiment::Outcome::failed) code = kSick;
    }
  }
  return code;
}

}  // namespace osler::cli
