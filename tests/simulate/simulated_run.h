// A simulated run: labelled series, and the families from which such runs are drawn.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "osler/run/run.h"
#include "simulate/random.h"
#include "simulate/truth.h"

namespace osler::simulate {

/// One recorded point.
struct Sample {
  std::int64_t step = 0;
  double value = 0;
};

/// One series under the name the log gives it.
struct Curve {
  std::string name;
  std::vector<Sample> samples;
};

/// A whole run with its label.
struct SimulatedRun {
  std::string family;
  std::uint64_t seed = 0;
  Truth truth;
  std::vector<Curve> curves;
};

/// The run as a reader would have made it.
[[nodiscard]] Run to_run(const SimulatedRun& run);

/// The run as CSV text: one row per step, empty cells where a series has no point.
[[nodiscard]] std::string to_csv(const SimulatedRun& run);

/// A kind of run: what is alike in all of its members, while everything else is drawn anew.
struct Family {
  std::string_view name;
  bool healthy = true;
  SimulatedRun (*draw)(Random& random);
};

/// All families, healthy and sick.
[[nodiscard]] std::span<const Family> families();

/// The member of a family with that seed; always the same.
[[nodiscard]] SimulatedRun draw(const Family& family, std::uint64_t seed);

}  // namespace osler::simulate
