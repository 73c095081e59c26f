// The figure of one finding: the series it rests on, its steps, the numbers it was held against.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "figures/subject.h"
#include "osler/figures/figure.h"
#include "report/numbers.h"

namespace osler {
namespace {

using figure::Family;
using figure::Lines;
using figure::Panel;
using figure::Subject;

constexpr std::size_t kMostPanels = 3;

/// The series of the evidence that the run has, each once.
std::vector<const Series*> evident(const Subject& subject, const Observation& finding) {
  std::vector<const Series*> series;
  for (const Evidence& evidence : finding.evidence) {
    const Series* found = subject.run().find(evidence.series);
    if (found != nullptr && std::find(series.begin(), series.end(), found) == series.end()) series.push_back(found);
  }
  return series;
}

/// Whether `observed` is a value of the series itself, and not a share, a ratio or a count made from it: only then is
/// its threshold a height in the plot.
bool is_value(const std::vector<Bucket>& buckets, const Evidence& evidence) {
  constexpr double kSame = 1e-3;
  std::vector<double> means;
  bool found = false;
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  const auto same = [&](double value) { return std::fabs(value - evidence.observed) <= kSame * std::fabs(value); };
  for (const Bucket& bucket : buckets) {
    if (bucket.count == 0 || bucket.last_step < evidence.first_step || bucket.first_step > evidence.last_step) continue;
    found = found || same(bucket.min) || same(bucket.max);
    low = std::min(low, bucket.min);
    high = std::max(high, bucket.max);
    means.push_back(bucket.mean);
  }
  if (!(low < high)) return false;  // a constant may equal a share by chance
  const auto middle = means.begin() + static_cast<std::ptrdiff_t>(means.size() / 2);
  std::nth_element(means.begin(), middle, means.end());
  return found || same(*middle);
}

/// The line that decided: of the leading evidence, where it is a height in this panel.
void add_threshold(Panel& panel, const Subject& subject, const Observation& finding) {
  const auto* lines = std::get_if<Lines>(&panel.content);
  if (lines == nullptr || finding.evidence.empty()) return;
  const Evidence& evidence = finding.evidence.front();
  if (!std::isfinite(evidence.threshold) || evidence.first_step == evidence.last_step) return;
  const Series* series = subject.run().find(evidence.series);
  if (series == nullptr || !is_value(subject.shown(*series), evidence)) return;
  const auto same = std::find_if(panel.levels.begin(), panel.levels.end(),
                                 [&](const figure::Level& level) { return level.value == evidence.threshold; });
  if (same != panel.levels.end()) {
    same->always = true;
    return;
  }
  // In front of the usual lines: where words would collide, its own stand.
  panel.levels.insert(panel.levels.begin(),
                      {evidence.threshold, "compared with " + layout::short_number(evidence.threshold), true});
}

class Composer {
 public:
  Composer(const Subject& subject, const Observation& finding, Figure& figure)
      : subject_(subject), finding_(finding), figure_(figure) {}

  /// What the evidence names comes first, what helps to read it behind.
  void compose() {
    const std::vector<const Series*> series = evident(subject_, finding_);
    for (const Series* one : series) add_evidence(*one, series);
    for (const Family family : {Family::loss, Family::gradient, Family::rate}) add_context(family);
  }

 private:
  void add_evidence(const Series& series, const std::vector<const Series*>& all) {
    const Role role = subject_.role_of(series);
    const Family family = figure::family_of(role);
    if (figure_.panels.size() >= kMostPanels) return;
    if (family == Family::alone) {
      const std::string heading = figure::heading_of(role);
      add(figure::series_panel(subject_, {&series}, heading.empty() ? series.name() : heading));
      return;
    }
    const int key = family == Family::layer ? 100 + static_cast<int>(role) : static_cast<int>(family);
    if (!seen_.insert(key).second) return;
    if (family == Family::layer) {
      add(layer_panel(role, all));
      return;
    }
    std::vector<const Series*> same;
    for (const Series* other : all) {
      if (figure::family_of(subject_.role_of(*other)) == family) same.push_back(other);
    }
    add(figure::family_panel(subject_, family, same));
  }

  Panel layer_panel(Role role, const std::vector<const Series*>& all) {
    std::set<std::string> sick(finding_.layers.begin(), finding_.layers.end());
    for (const Layer& layer : subject_.layers(role)) {
      const Series* drawn = figure::shown_statistic(layer, role);
      if (std::find(all.begin(), all.end(), drawn) != all.end()) sick.insert(layer.name);
    }
    return figure::layer_panel(subject_, role, sick);
  }

  void add_context(Family family) {
    if (figure_.panels.size() >= kMostPanels || !seen_.insert(static_cast<int>(family)).second) return;
    Panel panel = figure::family_panel(subject_, family);
    const auto& lines = std::get<Lines>(panel.content);
    const auto says_little = [family](const figure::Line& line) {
      const auto flat = [&](const Bucket& b) { return b.min == line.buckets.front().min && b.max == b.min; };
      if (line.buckets.empty()) return true;
      return family == Family::rate && std::all_of(line.buckets.begin(), line.buckets.end(), flat);
    };
    if (std::all_of(lines.lines.begin(), lines.lines.end(), says_little)) return;
    panel.height = figure_.panels.empty() ? 1.4 : 0.6;
    figure_.panels.push_back(std::move(panel));
  }

  void add(Panel panel) {
    if (figure_.panels.empty()) add_threshold(panel, subject_, finding_);
    panel.height = figure_.panels.empty() ? 1.3 : 0.8;
    figure_.panels.push_back(std::move(panel));
  }

  const Subject& subject_;
  const Observation& finding_;
  Figure& figure_;
  std::set<int> seen_;
};

}  // namespace

Result<Figure> finding_figure(const Run& run, const Report& report, std::string_view finding, const FigureWish& wish) {
  const auto found = std::find_if(report.findings.begin(), report.findings.end(),
                                  [finding](const Observation& one) { return one.finding == finding; });
  if (found == report.findings.end()) {
    return Error{ErrorCode::not_found, fmt::format("the diagnosis has no finding '{}'", finding), run.name};
  }
  auto subject = Subject::of(run, report, wish);
  if (!subject) return subject.error();
  const Finding* known = find_finding(finding);
  Figure figure = subject->blank(known != nullptr ? std::string(known->title) : found->finding);
  figure.subtitle = found->summary.empty() ? report.headline : found->summary;
  std::erase_if(figure.pointers,
                [](const figure::Pointer& pointer) { return pointer.tone != figure::Pointer::Tone::plain; });
  figure::Pointer pointer = figure::pointer_to(*found);
  pointer.shaded = pointer.places.empty();
  figure.pointers.insert(figure.pointers.begin(), std::move(pointer));
  Composer(*subject, *found, figure).compose();
  if (figure.panels.empty()) return Error{ErrorCode::not_found, "the run has no series to show it in", run.name};
  return figure;
}

}  // namespace osler
