// Cases of what active experiments found.
#include <cmath>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

using Random = simulate::Random;
using Outcome = Experiment::Outcome;

const std::vector<std::string> kFlat = {"loss-plateau"};

/// A run that learns, with an experiment at its end.
Table with(Random& random, Experiment experiment) {
  Table table(random, 60, 10);
  table.add(
      "loss", [](double x) { return 0.4 + 1.9 * std::exp(-4.0 * x); }, 0.02);
  experiment.step = 600;
  return table.tell(std::move(experiment));
}

Table sharpness(Random& random, double ratio, double error) {
  Experiment experiment;
  experiment.probe = "sharpness";
  experiment.outcome = ratio - error > 0.1   ? Outcome::failed
                       : ratio + error < 0.1 ? Outcome::passed
                                             : Outcome::undecided;
  experiment.verdict = "Measured.";
  experiment.values = {{"loss", 0.4, {}, {}},
                       {"ratio", ratio, ratio - error, ratio + error},
                       {"worst-ratio", 6 * ratio, 5 * ratio, 6 * ratio}};
  return with(random, std::move(experiment));
}

Table curvature(Random& random, double gain, double lowest, double stability, Outcome outcome) {
  Experiment experiment;
  experiment.probe = "curvature";
  experiment.outcome = outcome;
  experiment.verdict = "Measured.";
  experiment.values = {{"loss", 0.4, {}, {}},
                       {"gradient-gain", gain, {}, {}},
                       {"top-eigenvalue", 8, 7.98, 8.02},
                       {"lowest-eigenvalue", lowest, lowest - 0.01, lowest + 0.01},
                       {"stability-ratio", stability, {}, {}}};
  return with(random, std::move(experiment));
}

Table one_batch(Random& random, Outcome outcome, double loss) {
  Experiment experiment;
  experiment.probe = "overfit-one-batch";
  experiment.outcome = outcome;
  experiment.verdict = "Measured.";
  experiment.values = {{"first-loss", 2.3, {}, {}}, {"last-loss", loss, {}, {}}};
  return with(random, std::move(experiment));
}

}  // namespace

Recipes probe_recipes() {
  return {
      probed(sick(
          "sharp-minimum", "steep", "A 5 % perturbation raises the loss by half.",
          [](Random& r) { return sharpness(r, 0.5, 0.05); }, {"sharp-minimum", "batch-too-large"}, kFlat)),
      probed(healthy(
          "sharp-minimum", "flat", "A 5 % perturbation raises the loss by a hundredth.",
          [](Random& r) { return sharpness(r, 0.01, 0.002); }, kFlat)),
      probed(borderline(
          "sharp-minimum", "tenth", "About a tenth, with an interval on both sides of it.",
          [](Random& r) { return sharpness(r, 0.11, 0.04); }, kFlat)),

      probed(sick(
          "saddle-point", "way-down", "No gradient to speak of and an eigenvalue of minus a quarter of the largest.",
          [](Random& r) { return curvature(r, 1e-5, -2, 0.2, Outcome::failed); }, {"saddle-point"}, kFlat)),
      probed(healthy(
          "saddle-point", "minimum", "No gradient to speak of, and all directions bend up.",
          [](Random& r) { return curvature(r, 1e-5, -0.02, 0.2, Outcome::passed); }, kFlat)),
      probed(borderline(
          "saddle-point", "hardly", "An eigenvalue of minus a twentieth of the largest.",
          [](Random& r) { return curvature(r, 9e-4, -0.42, 0.2, Outcome::failed); }, kFlat)),

      probed(at_least(sick(
                          "edge-of-stability", "at-the-edge", "The largest curvature is all that the steps bear.",
                          [](Random& r) { return curvature(r, 0.05, -0.1, 1.05, Outcome::passed); }, {}, kFlat),
                      Severity::note)),
      probed(healthy(
          "edge-of-stability", "far-from-it", "A tenth of what the steps bear.",
          [](Random& r) { return curvature(r, 0.05, -0.1, 0.1, Outcome::passed); }, kFlat)),
      probed(borderline(
          "edge-of-stability", "near-it", "Four fifths of what the steps bear.",
          [](Random& r) { return curvature(r, 0.05, -0.1, 0.8, Outcome::passed); }, kFlat)),

      probed(sick(
          "cannot-overfit-one-batch", "not-memorised", "One batch is where it was after all steps.",
          [](Random& r) { return one_batch(r, Outcome::failed, 2.29); }, {}, kFlat)),
      probed(healthy(
          "cannot-overfit-one-batch", "memorised", "One batch is known by heart.",
          [](Random& r) { return one_batch(r, Outcome::passed, 0.001); }, kFlat)),
      probed(borderline(
          "cannot-overfit-one-batch", "left-open", "The probe could not decide.",
          [](Random& r) { return one_batch(r, Outcome::undecided, 0.3); }, kFlat)),
  };
}

}  // namespace osler::cases
