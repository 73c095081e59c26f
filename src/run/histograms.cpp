// Thinning histograms: every second one goes, and from then on only every second one comes.
#include "osler/run/histograms.h"

#include <algorithm>

namespace osler {
namespace {

constexpr std::size_t kFewest = 2;

}  // namespace

void HistogramShelf::add(const Histogram& histogram) {
  Pace& pace = paces_[histogram.series];
  auto& own = kept_[histogram.series];
  while (!own.empty() && own.back().step >= histogram.step) {
    bins_ -= own.back().limits.size();
    own.pop_back();
  }
  if (pace.came++ % pace.every != 0) return;
  bins_ += histogram.limits.size();
  own.push_back(histogram);
  while (own.size() > std::max(per_series_, kFewest)) thin(histogram.series);
  while (bins_ > limits_.bins_in_all && per_series_ > kFewest) {
    per_series_ /= 2;
    for (auto& [series, histograms] : kept_) {
      while (histograms.size() > std::max(per_series_, kFewest)) thin(series);
    }
  }
  if (bins_ > limits_.bins_in_all) {  // so many series that two of each are too many: later ones have no place
    bins_ -= own.back().limits.size();
    own.pop_back();
  }
}

void HistogramShelf::thin(SeriesId series) {
  auto& own = kept_[series];
  std::vector<Histogram> rest;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i % 2 == 0) {
      rest.push_back(std::move(own[i]));
    } else {
      bins_ -= own[i].limits.size();
    }
  }
  own = std::move(rest);
  paces_[series].every *= 2;
}

}  // namespace osler
