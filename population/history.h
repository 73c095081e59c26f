// What happened in a training: all that a log may tell, and the result on clean data.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "recipe.h"

namespace osler::population {

inline constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// One step of a training.
struct Step {
  double loss = kNothing;
  double metric = kNothing;
  double rate = kNothing;
  double gradient_norm = kNothing;
  std::vector<float> layer_gradients;  ///< Norm per layer; empty where it was not measured.
  std::vector<float> layer_weights;
};

/// One look at the validation set, as the log shows it.
struct Look {
  long step = 0;  ///< The number of steps taken before it.
  double loss = kNothing;
  double metric = kNothing;
};

/// Loss and metric on clean held-out data.
struct Result {
  double loss = kNothing;
  double metric = kNothing;
};

/// A training from its first to its last step.
struct History {
  std::vector<Step> steps;
  std::vector<Look> looks;
  std::vector<std::string> layers;  ///< Names, in the order of the per-layer norms.
  Result untrained;
  Result final;
  Result best;              ///< By loss, over all looks.
  double logged_final = 0;  ///< What the log's own validation said at the end.
  double logged_metric = 0;
  bool finite = true;
  long nonfinite_from = -1;  ///< The first step whose loss or weights were not finite.
};

/// Trains by the recipe. `layers` asks for norms of each layer.
History train(const Recipe& recipe, bool layers);

}  // namespace osler::population
