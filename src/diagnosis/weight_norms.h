// Weight norms: how the size of each layer's weights changed over the run.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/patient.h"

namespace osler {

/// The size of one layer's weights over the run.
struct WeightNorm {
  std::string layer;
  std::string series;
  double early = 0;       ///< median of the first tenth
  double late = 0;        ///< median of the last tenth
  double last_third = 1;  ///< factor by which it changed over the last third of the run
  bool ends_nonfinite = false;
  signal::Trend trend;  ///< of the logarithm of the size over the second half
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
};

/// The layers whose weight norms (or else deviations) were logged at least `fewest` times, and the usual early size.
struct WeightNorms {
  std::vector<WeightNorm> layers;
  double usual = 0;  ///< median of the early sizes: what starts at zero is measured against this
};
[[nodiscard]] WeightNorms weight_norms(const Patient& patient, double fewest);

}  // namespace osler
