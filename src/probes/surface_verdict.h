// What the losses around the weights say: sharpness, and sections through the loss surface.
#pragma once

#include <vector>

#include "osler/run/experiment.h"

namespace osler::probes {

/// The relative rises of the loss when the weights are moved.
struct SharpnessFacts {
  double radius = 0;                ///< how far each tensor was moved, as a share of its norm
  double threshold = 0;             ///< the rise from which a minimum counts as sharp
  std::vector<double> plain = {};   ///< in random directions
  std::vector<double> filter = {};  ///< in filter-normalised ones
  std::vector<double> worst = {};   ///< the highest of each search by ascent; may be empty
};

/// Adds values, columns, outcome and verdict.
void write_sharpness(const SharpnessFacts& facts, Experiment& experiment);

/// The losses of a section, a row for each point.
struct SurfaceFacts {
  int dimensions = 2;
  double span = 1;  ///< how far the section goes, in units of the weights' own size
  double base = 0;  ///< the loss at the weights
  std::vector<double> a = {};
  std::vector<double> b = {};
  std::vector<double> loss = {};
};

/// Writes values, columns, outcome and verdict.
void write_surface(SurfaceFacts facts, Experiment& experiment);

}  // namespace osler::probes
