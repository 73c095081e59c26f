// Options of experiments by what may be spent on them.
#include "torch/probes/settle_tests.h"

#include <algorithm>

#include "osler/torch/checkup.h"
#include "osler/torch/curvature.h"
#include "osler/torch/fresh_start.h"
#include "osler/torch/initialisation.h"
#include "osler/torch/lr_range.h"
#include "osler/torch/noise_scale.h"
#include "osler/torch/overfit.h"
#include "osler/torch/sharpness.h"

namespace osler::torch {
namespace {

Experiment range(const Training& training, std::int64_t passes, const Limits& limits) {
  LrRangeOptions options;
  options.repeats = passes >= 240 ? 3 : passes >= 120 ? 2 : 1;
  options.steps =
      static_cast<std::size_t>(std::clamp<std::int64_t>(passes / static_cast<std::int64_t>(options.repeats), 40, 100));
  return lr_range_test(training, options, limits);
}

/// One attempt when the batch is memorised, which may take its time; about eight when the reason has to be found.
Experiment overfit(const Training& training, std::int64_t passes, const Limits& limits) {
  OverfitOptions options;
  options.steps = static_cast<std::size_t>(std::clamp<std::int64_t>(passes / 8, 60, 500));
  options.patience = 7;
  return overfit_one_batch(training, options, limits);
}

/// A forward pass counts as a third of a step.
Experiment sharp(const Training& training, std::int64_t passes, const Limits& limits) {
  SharpnessOptions options;
  options.batches = passes >= 120 ? 4 : 2;
  options.repeats = passes >= 120 ? 20 : 10;
  options.ascents = passes >= 120 ? 2 : 0;
  return sharpness(training, options, limits);
}

Experiment curve(const Training& training, std::int64_t passes, const Limits& limits) {
  CurvatureOptions options;
  options.trace_samples = 0;
  options.products_per_layer = 0;
  options.most_products = static_cast<int>(std::clamp<std::int64_t>(passes / (4 * options.batches), 6, 40));
  return curvature(training, options, limits);
}

Experiment noise(const Training& training, std::int64_t passes, const Limits& limits) {
  NoiseScaleOptions options;
  options.most = static_cast<int>(std::clamp<std::int64_t>(passes, 8, 48));
  options.batches = std::min(options.batches, options.most);
  return gradient_noise_scale(training, options, limits);
}

Experiment signal(const Training& training, std::int64_t, const Limits& limits) {
  return signal_propagation(training, limits);
}

/// All points of the list; the memorising of one batch among them is left to the experiment of its own.
Experiment list(const Training& training, std::int64_t passes, const Limits& limits) {
  CheckupOptions options;
  options.batches = 4;
  options.overfit.steps = static_cast<std::size_t>(std::clamp<std::int64_t>(passes / 15, 5, 50));
  return checkup(training, options, limits);
}

/// Three to six short trainings; few need more than three.
Experiment fresh(const Training& training, std::int64_t passes, const Limits& limits) {
  FreshStartOptions options;
  options.steps = static_cast<std::size_t>(std::clamp<std::int64_t>((passes - 6) / 6, 40, 150));
  return fresh_start(training, options, limits);
}

struct Settling {
  std::string_view probe;
  Experiment (*run)(const Training& training, std::int64_t passes, const Limits& limits);
};

constexpr Settling kTests[] = {
    {"lr-range-test", range},        {"overfit-one-batch", overfit}, {"sharpness", sharp}, {"curvature", curve},
    {"gradient-noise-scale", noise}, {"signal-propagation", signal}, {"checkup", list},    {"fresh-start", fresh},
};

}  // namespace

Experiment run_settling_test(std::string_view probe, const Training& training, std::int64_t passes,
                             const Limits& limits) {
  for (const Settling& test : kTests) {
    if (test.probe == probe) return test.run(training, passes, limits);
  }
  Experiment unknown;
  unknown.probe = std::string(probe);
  unknown.verdict = "There is no such probe.";
  return unknown;
}

}  // namespace osler::torch
