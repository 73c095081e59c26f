// Layer sizes: how large each layer's gradient is, and which layers lie far apart from all others of their kind.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/layer_kind.h"
#include "diagnosis/patient.h"

namespace osler {

/// The size of one layer's gradient over the run.
struct LayerSize {
  std::string layer;
  std::string series;
  LayerKind kind = LayerKind::weight;
  signal::Curve curve;
  double now = 0;     ///< median of the last tenth
  double before = 0;  ///< median of the first quarter
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
};
/// The layers that have a gradient, in the order of the network: norms, or else another statistic of size when every
/// layer has it. Layers with fewer than `fewest` finite values or with none above zero of late are left out; of a run
/// that ended in NaN the last finite values count.
[[nodiscard]] std::vector<LayerSize> gradient_sizes(const Patient& patient, double fewest);

/// What it takes to lie apart.
struct ApartRule {
  double gap = 1;      ///< factor between the layer and the nearest of the others
  double ratio = 1;    ///< factor between the layer and the middle of the others
  double spreads = 0;  ///< distance in robust deviations of the others' logarithms
  double share = 0;    ///< the largest part of its kind that may lie apart together
  double fewest = 0;   ///< others of its kind needed; where there are fewer weights are compared with all weights
};
/// A layer far from the others.
struct ApartLayer {
  const LayerSize* size = nullptr;
  double others = 0;            ///< the middle of the others
  std::size_t how_many = 0;     ///< others
  double ratio = 0;             ///< factor from the middle of the others, always above 1
  std::int64_t first_step = 0;  ///< since when
};
/// The layers far above (or below) the others of their kind and network, the farthest first. Points into `sizes`.
[[nodiscard]] std::vector<ApartLayer> layers_above(const std::vector<LayerSize>& sizes, const ApartRule& rule);
[[nodiscard]] std::vector<ApartLayer> layers_below(const std::vector<LayerSize>& sizes, const ApartRule& rule);

/// Why no layer can be compared with others: too few layers; empty when some can.
[[nodiscard]] std::string why_incomparable(const std::vector<LayerSize>& sizes, const ApartRule& rule);

}  // namespace osler
