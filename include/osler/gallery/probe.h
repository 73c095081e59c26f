// The probes of the gallery: active tests that can be run on the training of any recipe, by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"
#include "osler/run/experiment.h"

namespace osler::gallery {

/// A test, and what it asks.
struct Probe {
  std::string_view name;      ///< "lr-range", as it is asked for
  std::string_view question;  ///< "Which learning rates can it take?"
  bool trained = false;       ///< on: the trained network is looked at; off: the fresh one
  /// About how many passes forward it takes on the healthy digits, measured to the nearest ten; below ten it says 5.
  /// What an estimate of the time rests on.
  std::int64_t passes = 0;
  std::vector<std::string_view> experiments;  ///< the ids of what it writes to the run; empty: it chooses by itself
};

/// All probes, in the order in which one would try them.
[[nodiscard]] std::span<const Probe> probes();
/// A probe by its name, or by the id of an experiment of its. The error names those that are there.
[[nodiscard]] Result<const Probe*> find_probe(std::string_view name);

/// How far a probe is.
struct ProbeProgress {
  std::string_view name;
  std::int64_t passes = 0;    ///< forward, so far
  std::int64_t expected = 0;  ///< about how many it takes; a sick training may take more
  double seconds = 0;         ///< so far
};
/// About how many seconds are left; 0 when more passes were made than expected.
[[nodiscard]] double seconds_left(const ProbeProgress& progress);

/// What a probe found.
struct ProbeAnswer {
  std::string_view name;
  std::vector<Experiment> experiments;
  std::string words;  ///< what no experiment holds: how settling went
};

}  // namespace osler::gallery
