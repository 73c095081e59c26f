// Clipping: how the gradient norms lie to the limit at which they are clipped.
#pragma once

#include <optional>
#include <string>

#include "diagnosis/patient.h"

namespace osler {

/// Gradient norms beside their clipping limit.
struct Clipping {
  std::string norm;        ///< the series of norms; empty where the log only counts clipped steps
  std::string counted_by;  ///< the series that tells which steps were clipped, or how many; empty where none does
  std::string limit_from;  ///< where the limit comes from, in words
  double limit = 0;        ///< NaN when it is not known
  bool after = false;      ///< the norms are logged after clipping, so how far they exceeded it is unknown
  double share = 0;        ///< of the steps that were clipped
  double median = 0;       ///< of the norms
  double highest = 0;      ///< norm
  double points = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
};

/// Nothing when the log has no norms, or no limit is known, and does not tell itself how often it clipped. A limit
/// comes from a series of its own, from the configuration, or from the norms themselves when most of them are equal to
/// the largest. Norms may be computed from those of the layers.
[[nodiscard]] std::optional<Clipping> clipping_of(const Patient& patient);

}  // namespace osler
