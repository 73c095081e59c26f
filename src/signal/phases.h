// Phases: a curve cut at its change points into straight pieces, each named by what it does.
#pragma once

#include <cstdint>
#include <vector>

#include "signal/curve.h"

namespace osler::signal {

/// What a piece of a curve does.
enum class Motion { descent, flat, rise };

/// One straight piece of a curve, in the curve's own order.
struct Phase {
  std::size_t first = 0;  ///< index of its first point
  std::size_t last = 0;   ///< one past its last point
  double begin = 0;       ///< fitted value at its first point
  double end = 0;         ///< fitted value at its last point
  double jump = 0;        ///< `begin` minus the previous phase's `end`; 0 for the first
  Motion motion = Motion::flat;
};

/// Cuts a curve into phases: the partition into straight lines over log(step) that minimises the residual sum of
/// squares plus a penalty per piece (optimal partitioning, Jackson et al. 2005, with a BIC-like penalty of
/// `penalty` sigma^2 ln n per piece). A piece shorter than `shortest` points does not exist. A piece moves when its
/// change exceeds both `significant` standard errors and `sizeable` times the curve's whole range.
struct PhaseOptions {
  double penalty = 6;
  std::size_t shortest = 4;
  double significant = 4;
  double sizeable = 0.03;
};
[[nodiscard]] std::vector<Phase> phases_of(const Curve& curve, const PhaseOptions& options = {});

}  // namespace osler::signal
