// HistogramShelf: the histograms of a run, thinned so that they stay few however long it grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "osler/run/event.h"

namespace osler {

/// How many histograms may be kept.
struct HistogramLimits {
  std::size_t per_series = 64;          ///< at least 2; when full, every second one goes
  std::size_t bins_in_all = 4'000'000;  ///< over all series, 16 bytes each; when full, each series keeps fewer
};

/// Histograms by series, in rising order of their steps, spread evenly over the run.
class HistogramShelf {
 public:
  explicit HistogramShelf(HistogramLimits limits = {}) : limits_(limits), per_series_(limits.per_series) {}

  /// Takes the next histogram. Those of its series at the same or a later step are void: training went back.
  void add(const Histogram& histogram);

  [[nodiscard]] const std::map<SeriesId, std::vector<Histogram>>& all() const { return kept_; }

 private:
  struct Pace {
    std::uint64_t every = 1;  // of so many that come, one is kept
    std::uint64_t came = 0;
  };
  void thin(SeriesId series);

  HistogramLimits limits_;
  std::size_t per_series_;
  std::size_t bins_ = 0;
  std::map<SeriesId, std::vector<Histogram>> kept_;
  std::map<SeriesId, Pace> paces_;
};

}  // namespace osler
