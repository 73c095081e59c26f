// Waiting: what was recorded and is not written yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "osler/recorder/sink.h"
#include "osler/run/event.h"
#include "osler/run/layer_info.h"

namespace osler::recording {

/// A report on its way to the sinks.
struct WaitingReport {
  std::int64_t step = 0;
  double wall_time = kNoTime;
  std::string json;
};

/// Records in the order they came, by kind.
struct Waiting {
  std::vector<std::string> new_names;  ///< of series made since the last batch, in the order of their ids
  std::vector<std::pair<std::string, std::string>> config;
  std::optional<std::vector<LayerInfo>> layers;
  std::vector<Mark> marks;
  std::vector<Histogram> histograms;
  std::vector<Event> events;
  std::vector<WaitingReport> reports;

  bool restarts = false;  ///< begins with a restart: not to be joined with what came before

  /// Appends what came later.
  void append(Waiting later);
};

/// Of each four successive finite values of a series keeps the lowest and the highest. Returns how many went.
std::size_t thin_events(std::vector<Event>& events);
/// Keeps every second histogram of each series, the newest among them. Returns how many went.
std::size_t thin_histograms(std::vector<Histogram>& histograms);

}  // namespace osler::recording
