// The faults that can be planted, each under the cause by which Osler's catalogue knows it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "random.h"
#include "recipe.h"

namespace osler::population {

/// Where in a log a fault would show, apart from the curve itself; values can be joined.
enum Traces : unsigned {
  kCurveOnly = 0,
  kRate = 1U << 0U,        ///< In the logged rate.
  kConfig = 1U << 1U,      ///< In a logged setting.
  kNorm = 1U << 2U,        ///< In the gradient norm.
  kLayers = 1U << 3U,      ///< In the norms of the layers.
  kValidation = 1U << 4U,  ///< In the validation curve.
  kMetric = 1U << 5U,      ///< In loss and metric together.
};

/// What a planted fault changed.
struct Planted {
  std::string what;
  long since = 0;  ///< The first step at which it acts.
};

/// A fault.
struct Fault {
  std::string_view key;       ///< Tells apart faults of the same cause.
  std::string_view cause;     ///< The id in Osler's catalogue.
  std::string_view also;      ///< Causes that would be right as well, separated by spaces.
  std::string_view findings;  ///< What may rightly be found, separated by spaces.
  unsigned traces = kCurveOnly;
  bool misleads = false;  ///< The training is fine and its log is not.
  bool by_fact = false;   ///< Wrong even where it does no harm: such a run is never called healthy.
  double weight = 1;
  bool (*fits)(const Recipe& recipe) = nullptr;
  void (*prepare)(Recipe& recipe, Random& random) = nullptr;  ///< Makes a healthy recipe that the fault can harm.
  Planted (*plant)(Recipe& recipe, Random& random) = nullptr;
};

/// All faults.
std::vector<Fault> all_faults();
/// Those of rates, steps and schedules; of the network and its loss; of the data and of validation.
std::span<const Fault> faults_of_steps();
std::span<const Fault> faults_of_networks();
std::span<const Fault> faults_of_data();

}  // namespace osler::population
