// Histogram ridges: how the distribution of a tensor's values moves over time.
#include <algorithm>
#include <cmath>

#include "figures/subject.h"
#include "osler/figures/figure.h"
#include "report/numbers.h"

namespace osler {
namespace {

using figure::Panel;
using figure::Ridge;
using figure::Subject;

constexpr std::size_t kMostRows = 24;
constexpr std::size_t kMostPanels = 4;

/// The bins with finite edges: a log may close its first and last bin at infinity or at the largest double.
Ridge::Row row_of(const Histogram& histogram) {
  Ridge::Row row;
  row.step = histogram.step;
  if (!std::isfinite(histogram.min) || !std::isfinite(histogram.max)) return row;
  row.edges.push_back(histogram.min);
  double held = 0;
  for (std::size_t i = 0; i < std::min(histogram.limits.size(), histogram.counts.size()); ++i) {
    const double limit = std::min(histogram.limits[i], histogram.max);
    held += histogram.counts[i];
    if (!(limit > row.edges.back())) continue;  // of no width: it counts to the next one
    row.edges.push_back(limit);
    row.masses.push_back(held);
    held = 0;
  }
  if (!row.masses.empty()) row.masses.back() += held;
  return row;
}

Ridge ridge_of(const std::vector<Histogram>& histograms, const Subject& subject) {
  std::vector<const Histogram*> shown;
  for (const Histogram& histogram : histograms) {
    const bool inside = histogram.step >= subject.first_step() && histogram.step <= subject.last_step();
    if (inside) shown.push_back(&histogram);
  }
  Ridge ridge;
  const std::size_t rows = std::min(kMostRows, shown.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t which = rows > 1 ? i * (shown.size() - 1) / (rows - 1) : 0;
    Ridge::Row row = row_of(*shown[which]);
    if (!row.masses.empty()) ridge.rows.push_back(std::move(row));
  }
  return ridge;
}

/// The series asked for, or some from the first to the last.
std::vector<SeriesId> chosen(const Run& run, const FigureWish& wish) {
  std::vector<SeriesId> ids;
  for (const auto& [id, histograms] : run.histograms()) {
    if (histograms.empty() || id >= run.all_series().size()) continue;
    const std::string& name = run.all_series()[id].name();
    const bool asked = std::find(wish.series.begin(), wish.series.end(), name) != wish.series.end();
    if (wish.series.empty() || asked) ids.push_back(id);
  }
  if (ids.size() <= kMostPanels) return ids;
  std::vector<SeriesId> some;
  for (std::size_t i = 0; i < kMostPanels; ++i) some.push_back(ids[i * (ids.size() - 1) / (kMostPanels - 1)]);
  return some;
}

}  // namespace

Result<Figure> ridge_figure(const Run& run, const Report& report, const FigureWish& wish) {
  auto subject = Subject::of(run, report, wish);
  if (!subject) return subject.error();
  Figure figure = subject->blank(run.name);
  const std::vector<SeriesId> ids = chosen(run, wish);
  for (const SeriesId id : ids) {
    Panel panel;
    Ridge ridge = ridge_of(run.histograms().at(id), *subject);
    if (ridge.rows.empty()) continue;
    panel.heading = run.all_series()[id].name() + ", steps from top to bottom";
    panel.height = ids.size() > 2 ? 1.0 : 1.5;
    panel.content = std::move(ridge);
    figure.panels.push_back(std::move(panel));
  }
  if (!figure.panels.empty()) return figure;
  if (!wish.series.empty()) return Error{ErrorCode::not_found, "none of these series has histograms", run.name};
  return Error{ErrorCode::not_found, "the run has no histograms; TensorBoard logs and run files may have", run.name};
}

}  // namespace osler
