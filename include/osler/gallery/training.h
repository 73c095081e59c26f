// One training by a recipe: how it is run and what comes of it, from the first step to the report.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "osler/base/result.h"
#include "osler/diagnosis/report.h"
#include "osler/gallery/probe.h"
#include "osler/gallery/recipe.h"

namespace osler::gallery {

/// How far a training is.
struct Progress {
  std::int64_t step = 0;
  std::int64_t steps = 0;
  double loss = 0;
};

/// How a training is run. The same seed and recipe give the same training.
struct TrainingOptions {
  std::uint64_t seed = 1;
  std::string name = "training";
  std::optional<std::int64_t> steps;  ///< fewer steps of the same training: schedules stay those of the recipe
  std::filesystem::path run_file;     ///< where the run is kept; empty: nowhere
  std::filesystem::path digits;       ///< the folder of the MNIST files; without them digits are drawn
  std::function<void(const Progress&)> on_progress;
  std::function<void(const std::string&)> on_line;  ///< live findings, a line each
  std::vector<const Probe*> probes;                 ///< run on the fresh or the trained network, as each asks
  std::function<void(const ProbeProgress&)> on_probe;
  std::stop_token stop = {};
  double most_seconds = 300;  ///< it is stopped after this
};

/// What came of a training. The true figures are those of the trained network on clean validation data in evaluation
/// mode with the right loss, whatever the recipe's own validation does.
struct TrainingResult {
  Report report;
  std::int64_t steps = 0;
  std::int64_t skipped = 0;  ///< steps that the monitor refused
  double seconds = 0;
  double true_loss = 0;
  std::optional<double> true_accuracy;
  std::string origin;                ///< where the first non-finite value came from, in a sentence
  std::vector<ProbeAnswer> answers;  ///< of the probes, in the order in which they were run
  bool stopped = false;              ///< before its last step
  bool drawn_digits = false;         ///< the MNIST files were not there
};

/// Trains by a recipe: osler::trainer::train, where LibTorch is there. Fails when the parts of the recipe do not fit
/// together or the run file cannot be written.
using Trainer = std::function<Result<TrainingResult>(const Recipe& recipe, const TrainingOptions& options)>;

}  // namespace osler::gallery
