// Flatness: since when a curve no longer descends.
#pragma once

#include <cstddef>

#include "diagnosis/reading.h"

namespace osler {

/// The last stretch of a reading without progress.
struct Flatness {
  std::size_t since = 0;  ///< index of its first point
  double share = 0;       ///< its length as a share of the curve's steps
  double change = 0;      ///< how far the trend falls over it, in the reading's units; negative when it rises
  double of_gain = 0;     ///< the same as a share of all that was gained
};

/// Finds the longest end of the curve, in steps of a twentieth, over which the trend gains less than `matters` of what
/// the whole curve gained, or half a per cent of its level, and gives back no more than a seventh of that gain.
[[nodiscard]] Flatness flatness_of(const Reading& reading, double matters = 0.03);

}  // namespace osler
