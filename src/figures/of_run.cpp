// The figures of a run: curves, gradients, heat map, overview.
#include <fmt/format.h>

#include <algorithm>

#include "figures/subject.h"
#include "osler/figures/figure.h"

namespace osler {
namespace {

using figure::Family;
using figure::Lines;
using figure::Panel;
using figure::Subject;

constexpr std::size_t kMostPanels = 8;

bool has_lines(const Panel& panel) {
  const auto* lines = std::get_if<Lines>(&panel.content);
  if (lines == nullptr) return true;
  return std::any_of(lines->lines.begin(), lines->lines.end(),
                     [](const figure::Line& l) { return !l.buckets.empty(); });
}

void add_if_any(Figure& figure, Panel panel, double height) {
  if (!has_lines(panel)) return;
  panel.height = height;
  figure.panels.push_back(std::move(panel));
}

Error missing(const Run& run, std::string what) {
  return {ErrorCode::not_found, std::move(what), run.name};
}

/// The series asked for: those of one family share a panel.
void add_asked(Figure& figure, const Subject& subject) {
  std::vector<std::pair<std::string, std::vector<const Series*>>> groups;
  for (const std::string& name : subject.wish().series) {
    const Series* series = subject.run().find(name);
    const std::string heading = figure::heading_of(subject.role_of(*series));
    const std::string key = heading.empty() ? name : heading;
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&key](const auto& group) { return group.first == key; });
    if (same == groups.end()) {
      groups.push_back({key, {series}});
    } else if (std::find(same->second.begin(), same->second.end(), series) == same->second.end()) {
      same->second.push_back(series);
    }
  }
  for (auto& [heading, series] : groups) {
    if (figure.panels.size() < kMostPanels) figure.panels.push_back(series_panel(subject, series, heading));
  }
}

}  // namespace

Result<Figure> curves_figure(const Run& run, const Report& report, const FigureWish& wish) {
  auto subject = Subject::of(run, report, wish);
  if (!subject) return subject.error();
  Figure figure = subject->blank(run.name);
  if (!wish.series.empty()) {
    add_asked(figure, *subject);
  } else {
    for (const Family family : {Family::loss, Family::reward, Family::accuracy, Family::metric}) {
      if (figure.panels.empty()) add_if_any(figure, family_panel(*subject, family), 1.6);
    }
  }
  if (figure.panels.empty()) return missing(run, "the run has no loss; name the series to draw");
  if (figure.panels.size() == 1) figure.panels.front().height = 1.6;
  return figure;
}

Result<Figure> gradients_figure(const Run& run, const Report& report, const FigureWish& wish) {
  auto subject = Subject::of(run, report, wish);
  if (!subject) return subject.error();
  Figure figure = subject->blank(run.name);
  add_if_any(figure, layer_panel(*subject, Role::layer_gradient), 1.6);
  add_if_any(figure, family_panel(*subject, Family::gradient), figure.panels.empty() ? 1.6 : 0.8);
  if (figure.panels.empty()) return missing(run, "the run has no gradient norm, neither of layers nor in all");
  for (Panel& panel : figure.panels) {
    auto& lines = std::get<Lines>(panel.content);
    if (lines.scale == Lines::Scale::automatic) lines.scale = Lines::Scale::log;
    for (figure::Level& level : panel.levels) level.always = lines.scale == Lines::Scale::log;
  }
  return figure;
}

Result<Figure> heatmap_figure(const Run& run, const Report& report, const FigureWish& wish) {
  auto subject = Subject::of(run, report, wish);
  if (!subject) return subject.error();
  Figure figure = subject->blank(run.name);
  for (const Role role : {Role::layer_gradient, Role::layer_weight, Role::layer_update, Role::layer_activation}) {
    if (!subject->layers(role).empty()) figure.panels.push_back(layer_map(*subject, role));
  }
  if (figure.panels.empty()) return missing(run, "the run has no statistics per layer to draw");
  return figure;
}

Result<Figure> overview_figure(const Run& run, const Report& report, const FigureWish& wish) {
  auto subject = Subject::of(run, report, wish);
  if (!subject) return subject.error();
  Figure figure = subject->blank(run.name);
  add_if_any(figure, family_panel(*subject, Family::loss), 1.1);
  add_if_any(figure, family_panel(*subject, Family::reward), 0.8);
  const Panel accuracy = family_panel(*subject, Family::accuracy);
  add_if_any(figure, has_lines(accuracy) ? accuracy : family_panel(*subject, Family::metric), 0.6);
  add_if_any(figure, family_panel(*subject, Family::gradient), 0.6);
  add_if_any(figure, family_panel(*subject, Family::rate), 0.5);
  for (const Role role : {Role::layer_gradient, Role::layer_weight, Role::layer_update, Role::layer_activation}) {
    if (subject->layers(role).size() > 1) figure.panels.push_back(layer_map(*subject, role));
  }
  if (figure.panels.empty()) return missing(run, "the run has nothing that an overview shows; name the series to draw");
  return figure;
}

}  // namespace osler
