// The loss along a line, or over a plane, through the weights.
#include <stdexcept>

#include "osler/torch/sharpness.h"
#include "probes/surface_verdict.h"
#include "torch/probes/probe.h"
#include "torch/probes/surface_directions.h"

namespace osler::torch {
namespace {

constexpr int kMostPoints = 201;

void require(const SurfaceOptions& options) {
  if (options.dimensions != 1 && options.dimensions != 2) {
    throw std::invalid_argument("loss-surface: there are 1 or 2 dimensions.");
  }
  if (options.points < 3 || options.points > kMostPoints || options.points % 2 == 0) {
    throw std::invalid_argument("loss-surface: an odd number of points from 3 to 201 is needed.");
  }
  if (!(options.span > 0)) throw std::invalid_argument("loss-surface: the span must be above 0.");
}

probes::SurfaceFacts measured(SurfaceLoss& surface, const SurfaceOptions& options, const Clock& clock) {
  DirectionSource source(options.seed);
  const at::Tensor across = source.direction(surface, DirectionScale::filter);
  const at::Tensor along =
      options.dimensions == 2 ? source.direction(surface, DirectionScale::filter) : at::zeros_like(across);
  const auto place = [&](int i) { return options.span * (2.0 * i / (options.points - 1) - 1); };
  probes::SurfaceFacts table{options.dimensions, options.span, surface.value()};
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

}  // namespace

Experiment loss_surface(const Training& training, const SurfaceOptions& options, const Limits& limits) {
  require(options);
  return run_probe("loss-surface", training, limits, [&](Experiment& experiment, Preserved&, const Clock& clock) {
    SurfaceLoss surface(training, options.batches, options.evaluation_mode);
    probes::write_surface(measured(surface, options, clock), experiment);
  });
}

}  // namespace osler::torch
