// The figures of experiments: one for each probe whose result is better seen than read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "osler/figures/figure.h"
#include "report/numbers.h"

namespace osler {
namespace {

using figure::Bars;
using figure::Chart;
using figure::Contour;
using figure::Panel;

const std::vector<double>* column(const Experiment& experiment, std::string_view name) {
  const Experiment::Column* found = experiment.column(name);
  return found == nullptr || found->values.empty() ? nullptr : &found->values;
}

const Experiment::Value* value(const Experiment& experiment, std::string_view name) {
  const auto found = std::find_if(experiment.values.begin(), experiment.values.end(),
                                  [&](const Experiment::Value& each) { return each.name == name; });
  return found == experiment.values.end() ? nullptr : &*found;
}

/// A sign at a value of the experiment, where it has it.
void add_sign(const Experiment& experiment, std::string_view name, std::string_view label, bool strong, Chart& chart) {
  const Experiment::Value* at = value(experiment, name);
  if (at == nullptr || !std::isfinite(at->value)) return;
  chart.signs.push_back(
      {at->value, at->low, at->high, fmt::format("{} {}", label, layout::short_number(at->value)), strong});
}

std::vector<Panel> rates(const Experiment& experiment) {
  const auto* rate = column(experiment, "learning-rate");
  const auto* loss = column(experiment, "loss");
  const auto* smoothed = column(experiment, "smoothed");
  if (rate == nullptr || loss == nullptr) return {};
  Chart chart;
  chart.x_label = "learning rate";
  chart.log_x = true;
  chart.curves.push_back({"loss", *rate, *loss, smoothed != nullptr});
  if (smoothed != nullptr) chart.curves.push_back({"smoothed", *rate, *smoothed, false});
  // Where it diverges the curve leaves the picture, or nothing else would be seen.
  const std::vector<double>& shown = chart.curves.back().y;
  double lowest = HUGE_VAL;
  for (const double height : shown) {
    if (std::isfinite(height)) lowest = std::min(lowest, height);
  }
  if (std::isfinite(lowest) && lowest < shown.front()) {
    chart.ceiling = shown.front() + (shown.front() - lowest) / 2;
  }
  add_sign(experiment, "suggestion", "suggested", true, chart);
  add_sign(experiment, "present", "present", false, chart);
  add_sign(experiment, "divergence", "diverges", false, chart);
  return {{"Loss by learning rate", std::move(chart), {}, 1.6}};
}

/// The finite values, each once, in rising order.
std::vector<double> distinct(const std::vector<double>& values) {
  std::set<double> sorted;
  for (const double value : values) {
    if (std::isfinite(value)) sorted.insert(value);
  }
  return {sorted.begin(), sorted.end()};
}

/// Losses over a plane can span decades: what explodes at the rim must not hide the valley.
bool spans_decades(const std::vector<double>& losses) {
  double low = HUGE_VAL;
  double high = 0;
  for (const double loss : losses) {
    if (!std::isfinite(loss)) continue;
    low = std::min(low, loss);
    high = std::max(high, loss);
  }
  return low > 0 && high > 10 * low;
}

Panel section(std::string heading, std::string label, std::vector<double> places, std::vector<double> losses) {
  Chart chart;
  chart.x_label = std::move(label);
  chart.curves.push_back({"loss", std::move(places), std::move(losses), false});
  chart.signs.push_back({0, {}, {}, "weights", false});
  return {std::move(heading), std::move(chart), {}, 1};
}

std::vector<Panel> surface(const Experiment& experiment) {
  const auto* a = column(experiment, "a");
  const auto* b = column(experiment, "b");
  const auto* loss = column(experiment, "loss");
  if (a == nullptr || loss == nullptr || a->size() != loss->size()) return {};
  if (b == nullptr) return {section("Loss along a random direction", "distance, in sizes of the weights", *a, *loss)};
  const std::vector<double> across = distinct(*a);
  const std::vector<double> up = distinct(*b);
  if (across.size() < 2 || up.size() < 2 || across.size() * up.size() != loss->size()) return {};
  std::vector<Panel> panels;
  panels.push_back({"Loss over two random directions, in sizes of the weights",
                    Contour{across, up, *loss, spans_decades(*loss), "first direction; the second goes up"},
                    {},
                    2.2});
  const auto middle = static_cast<std::ptrdiff_t>(up.size() / 2 * across.size());
  panels.push_back(
      section("Loss along the first of them", "first direction", across,
              {loss->begin() + middle, loss->begin() + middle + static_cast<std::ptrdiff_t>(across.size())}));
  return panels;
}

/// A bar for each layer that the checks name.
void add_bars(const Experiment& experiment, std::string_view values, std::string_view errors, std::string heading,
              std::vector<Panel>& panels) {
  const auto* heights = column(experiment, values);
  if (heights == nullptr || heights->size() != experiment.checks.size()) return;
  Bars bars;
  for (const Experiment::Check& check : experiment.checks) bars.names.push_back(check.id);
  bars.values = *heights;
  if (const auto* spread = column(experiment, errors)) bars.errors = *spread;
  const bool any =
      std::any_of(bars.values.begin(), bars.values.end(), [](double height) { return std::isfinite(height); });
  if (!any) return;
  const double height = std::clamp(static_cast<double>(bars.names.size()) * 0.11, 0.4, 3.0);
  panels.push_back({std::move(heading), std::move(bars), {}, height});
}

std::vector<Panel> layers(const Experiment& experiment) {
  std::vector<Panel> panels;
  add_bars(experiment, "layer-top-eigenvalue", "", "Largest eigenvalue of each layer's block", panels);
  add_bars(experiment, "layer-trace", "layer-trace-error", "Trace of each layer's block, with its standard error",
           panels);
  return panels;
}

std::vector<Panel> updates(const Experiment& experiment) {
  std::vector<Panel> panels;
  add_bars(experiment, "update-ratio", "", "Change of each weight in one step, relative to its norm", panels);
  add_bars(experiment, "learning-rate", "", "Learning rate at which it would be the target", panels);
  return panels;
}

std::vector<Panel> memorising(const Experiment& experiment) {
  const auto* step = column(experiment, "step");
  const auto* loss = column(experiment, "loss");
  if (step == nullptr || loss == nullptr) return {};
  Chart chart;
  chart.x_label = "step on the one batch";
  chart.curves.push_back({"loss", *step, *loss, false});
  Panel panel{"Loss of one batch", std::move(chart), {}, 1.4};
  if (const auto target = experiment.value("target")) panel.levels.push_back({*target, "memorised", true});
  return {std::move(panel)};
}

std::vector<Panel> fresh_starts(const Experiment& experiment) {
  const auto* step = column(experiment, "step");
  const Experiment::Value* first = value(experiment, "first-loss");
  if (step == nullptr) return {};
  Chart chart;
  chart.x_label = "step from fresh weights";
  for (const Experiment::Column& each : experiment.columns) {
    if (each.name.rfind("loss-", 0) != 0) continue;
    std::string words = each.name.substr(std::string_view("loss-").size());
    std::replace(words.begin(), words.end(), '-', ' ');
    chart.curves.push_back({std::move(words), *step, each.values, false});
  }
  if (chart.curves.empty()) return {};
  // What diverges leaves the picture, or nothing else would be seen.
  if (first != nullptr && std::isfinite(first->value) && first->value > 0) chart.ceiling = 1.5 * first->value;
  Panel panel{"Loss of short trainings from fresh weights, by learning rate", std::move(chart), {}, 1.6};
  if (const auto now = experiment.value("now"); now && std::isfinite(*now)) {
    panel.levels.push_back({*now, "the training now", true});
  }
  return {std::move(panel)};
}

struct Drawn {
  std::string_view probe;
  std::string_view title;
  std::vector<Panel> (*panels)(const Experiment&);
};
constexpr std::array kDrawn = {Drawn{"lr-range-test", "LR range test", rates},
                               Drawn{"loss-surface", "Loss surface", surface},
                               Drawn{"curvature", "Curvature by layer", layers},
                               Drawn{"update-ratios", "Updates by weight", updates},
                               Drawn{"overfit-one-batch", "Overfitting one batch", memorising},
                               Drawn{"fresh-start", "A fresh start", fresh_starts}};

}  // namespace

Result<Figure> experiment_figure(const Experiment& experiment) {
  const auto* const drawn =
      std::find_if(kDrawn.begin(), kDrawn.end(), [&](const Drawn& each) { return each.probe == experiment.probe; });
  if (drawn == kDrawn.end()) {
    return Error{ErrorCode::unsupported,
                 fmt::format("the result of '{}' is a list, not a picture; the report has it", experiment.probe), ""};
  }
  Figure figure;
  figure.title = std::string(drawn->title);
  figure.subtitle = experiment.verdict;
  figure.panels = drawn->panels(experiment);
  if (figure.panels.empty()) {
    return Error{ErrorCode::not_found,
                 fmt::format("the experiment '{}' holds nothing to draw: {}", experiment.probe, experiment.verdict),
                 ""};
  }
  return figure;
}

}  // namespace osler
