// Alignment: two runs on one axis.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "osler/diagnosis/compare.h"
#include "signal/curve.h"

namespace osler {

/// From a run's steps to the common axis; rising.
using ToAxis = std::function<double(double step)>;

/// How both runs get onto the axis.
struct Alignment {
  Axis axis = Axis::step;
  ToAxis a;
  ToAxis b;
};

/// The axis to compare on. Fails when a run does not have the one that is wanted.
[[nodiscard]] Result<Alignment> align(const Run& a, const RoleMap& roles_a, const Run& b, const RoleMap& roles_b,
                                      Axis wanted);

/// Both curves over one cell of the axis.
struct AxisCell {
  double from = 0;
  double to = 0;
  double a = 0;
  double b = 0;
  double error = 0;  ///< standard error of b - a
};

/// The cells of the range that both curves cover, as many as their points allow; empty when they do not overlap.
[[nodiscard]] std::vector<AxisCell> cells_of(const signal::Curve& a, const ToAxis& to_a, const signal::Curve& b,
                                             const ToAxis& to_b);

}  // namespace osler
