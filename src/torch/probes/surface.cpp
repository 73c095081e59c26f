// The loss along a line, or over a plane, through the weights.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "osler/torch/sharpness.h"
#include "torch/probes/probe.h"
#include "torch/probes/surface_directions.h"

namespace osler::torch {
namespace {

using Outcome = Experiment::Outcome;

constexpr int kMostPoints = 201;
constexpr double kLower = 0.01;  // a place counts as lower when its loss is lower by this share

void require(const SurfaceOptions& options) {
  if (options.dimensions != 1 && options.dimensions != 2) {
    throw std::invalid_argument("loss-surface: there are 1 or 2 dimensions.");
  }
  if (options.points < 3 || options.points > kMostPoints || options.points % 2 == 0) {
    throw std::invalid_argument("loss-surface: an odd number of points from 3 to 201 is needed.");
  }
  if (!(options.span > 0)) throw std::invalid_argument("loss-surface: the span must be above 0.");
}

/// What was measured so far, a row for each point.
struct Table {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> loss;

  [[nodiscard]] std::size_t lowest() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < loss.size(); ++i) {
      if (loss[i] < loss[best] || std::isnan(loss[best])) best = i;
    }
    return best;
  }
};

Table measured(SurfaceLoss& surface, const SurfaceOptions& options, const Clock& clock) {
  DirectionSource source(options.seed);
  const at::Tensor across = source.direction(surface, DirectionScale::filter);
  const at::Tensor along =
      options.dimensions == 2 ? source.direction(surface, DirectionScale::filter) : at::zeros_like(across);
  const auto place = [&](int i) { return options.span * (2.0 * i / (options.points - 1) - 1); };
  Table table;
  for (int row = 0; row < (options.dimensions == 2 ? options.points : 1); ++row) {
    const double b = options.dimensions == 2 ? place(row) : 0;
    for (int column = 0; column < options.points; ++column) {
      clock.check();
      const double a = place(column);
      surface.move(across * a + along * b);
      table.a.push_back(a);
      table.b.push_back(b);
      table.loss.push_back(surface.value());
    }
  }
  return table;
}

void judge(double base, Table table, const SurfaceOptions& options, Experiment& experiment) {
  const std::size_t lowest = table.lowest();
  experiment.values = {
      {"loss", base, {}, {}}, {"lowest", table.loss[lowest], {}, {}}, {"lowest-a", table.a[lowest], {}, {}}};
  if (options.dimensions == 2) experiment.values.push_back({"lowest-b", table.b[lowest], {}, {}});
  const bool bottom = std::isfinite(base) && !(table.loss[lowest] < base - kLower * std::abs(base));
  experiment.outcome = bottom ? Outcome::passed : Outcome::undecided;
  if (!std::isfinite(base)) {
    experiment.verdict = "The loss at the weights is not finite.";
  } else if (bottom) {
    experiment.verdict =
        fmt::format("None of {} points within {:.3g} times the weights' own size lies lower than the weights, {:.4g}.",
                    table.loss.size(), options.span, base);
  } else {
    experiment.verdict = fmt::format(
        "The loss is {:.4g} at the weights and {:.4g} at a = {:.3g}, b = {:.3g}: the weights are not at the bottom of "
        "this section.",
        base, table.loss[lowest], table.a[lowest], table.b[lowest]);
  }
  experiment.columns.push_back({"a", std::move(table.a)});
  if (options.dimensions == 2) experiment.columns.push_back({"b", std::move(table.b)});
  experiment.columns.push_back({"loss", std::move(table.loss)});
}

}  // namespace

Experiment loss_surface(const Training& training, const SurfaceOptions& options, const Limits& limits) {
  require(options);
  return run_probe("loss-surface", training, limits, [&](Experiment& experiment, Preserved&, const Clock& clock) {
    SurfaceLoss surface(training, options.batches, options.evaluation_mode);
    const double base = surface.value();
    judge(base, measured(surface, options, clock), options, experiment);
  });
}

}  // namespace osler::torch
