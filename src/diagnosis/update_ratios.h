// Update ratios: the size of each layer's update against the size of its weights.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/patient.h"
#include "osler/diagnosis/report.h"

namespace osler {

/// The update-to-weight ratio of one layer over the run.
struct UpdateRatio {
  std::string layer;
  std::string series;
  double low = 0;  ///< lower quartile
  double median = 0;
  double high = 0;  ///< upper quartile
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
};

/// The ratios of all layers with at least `fewest` values, biases and the like left out. They are read from series of
/// ratios (also as decimal logarithms), or made from the norms of updates and weights.
[[nodiscard]] std::vector<UpdateRatio> update_ratios(const Patient& patient, double fewest);

/// Adds the layers to an observation, the first few with their ratios as evidence against `limit`.
void name_layers(const std::vector<UpdateRatio>& ratios, double limit, Observation& seen);

}  // namespace osler
