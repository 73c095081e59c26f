// The table: probe, what it found, cause, weight, words.
#include "diagnosis/experiments.h"

#include <algorithm>
#include <cmath>

namespace osler {
namespace {

using Outcome = Experiment::Outcome;

// Outcomes.

bool passed(const Experiment& experiment, std::string_view) {
  return experiment.outcome == Outcome::passed;
}
bool failed(const Experiment& experiment, std::string_view) {
  return experiment.outcome == Outcome::failed;
}
bool refused(const Experiment& experiment, std::string_view) {
  return experiment.outcome == Outcome::undecided;
}

const Experiment::Check* check_called(const Experiment& experiment, std::string_view id) {
  const auto found = std::find_if(experiment.checks.begin(), experiment.checks.end(),
                                  [&](const Experiment::Check& check) { return check.id == id; });
  return found == experiment.checks.end() ? nullptr : &*found;
}
bool check_failed(const Experiment& experiment, std::string_view id) {
  const Experiment::Check* check = check_called(experiment, id);
  return check != nullptr && check->outcome == Outcome::failed;
}
bool check_passed(const Experiment& experiment, std::string_view id) {
  const Experiment::Check* check = check_called(experiment, id);
  return check != nullptr && check->outcome == Outcome::passed;
}

// Learning rates: the present one against the one suggested. A factor of three either way is what methods of reading
// the curve differ by.
constexpr double kNear = 3;
constexpr double kFar = 10;

double rate_factor(const Experiment& experiment) {
  const auto present = experiment.value("present");
  const auto suggestion = experiment.value("suggestion");
  const bool answered = experiment.outcome == Outcome::passed || experiment.outcome == Outcome::failed;
  if (!answered || !present || !suggestion || !(*present > 0) || !(*suggestion > 0)) return std::nan("");
  return *present / *suggestion;
}
bool far_above(const Experiment& experiment, std::string_view) {
  return rate_factor(experiment) >= kFar;
}
bool above(const Experiment& experiment, std::string_view) {
  const double factor = rate_factor(experiment);
  return factor > kNear && factor < kFar;
}
bool near(const Experiment& experiment, std::string_view) {
  const double factor = rate_factor(experiment);
  return factor <= kNear && factor >= 1 / kNear;
}
bool below(const Experiment& experiment, std::string_view) {
  const double factor = rate_factor(experiment);
  return factor < 1 / kNear && factor > 1 / kFar;
}
bool far_below(const Experiment& experiment, std::string_view) {
  return rate_factor(experiment) <= 1 / kFar;
}
bool beyond_divergence(const Experiment& experiment, std::string_view) {
  const auto present = experiment.value("present");
  const auto divergence = experiment.value("divergence");
  return present && divergence && *present >= *divergence;
}

// Curvature. A slope is a place where a step along the gradient would gain this share of the loss.
constexpr double kSlope = 0.01;

bool on_slope(const Experiment& experiment, std::string_view) {
  return passed(experiment, {}) && experiment.value("gradient-gain").value_or(0) > kSlope;
}
bool at_rest(const Experiment& experiment, std::string_view) {
  return passed(experiment, {}) && experiment.value("gradient-gain").value_or(1) <= kSlope / 10;
}
bool beyond_stability(const Experiment& experiment, std::string_view) {
  return experiment.value("stability-ratio").value_or(0) > 1.2;
}
bool far_from_edge(const Experiment& experiment, std::string_view) {
  return experiment.value("stability-ratio").value_or(1) < 0.02;
}

// Batches.

bool noise_beyond_measure(const Experiment& experiment, std::string_view) {
  return refused(experiment, {}) && !experiment.value("noise-scale") &&
         experiment.value("gradient-noise").value_or(0) > 0;
}

bool batch_wasteful(const Experiment& experiment, std::string_view) {
  const auto scale = experiment.value("noise-scale");
  const auto size = experiment.value("batch-size");
  return passed(experiment, {}) && scale && size && *size > 20 * *scale;
}

// A fresh start: which rate got furthest, and whether that is further than the training has come.

bool lower_rate_better(const Experiment& experiment, std::string_view) {
  return failed(experiment, {}) && experiment.value("best-factor").value_or(1) < 1;
}
bool higher_rate_better(const Experiment& experiment, std::string_view) {
  return failed(experiment, {}) && experiment.value("best-factor").value_or(1) > 1;
}
bool regularisation_hinders(const Experiment& experiment, std::string_view) {
  return experiment.value("regularisation-hinders").value_or(0) > 0;
}
bool regularisation_harmless(const Experiment& experiment, std::string_view) {
  return experiment.value("regularisation-hinders").value_or(1) == 0;
}
bool overtakes(const Experiment& experiment, std::string_view) {
  return experiment.value("overtakes").value_or(0) > 0;
}
bool passed_without_gain(const Experiment& experiment, std::string_view) {
  return passed(experiment, {}) && !overtakes(experiment, {});
}
bool none_learns(const Experiment& experiment, std::string_view) {
  return refused(experiment, {}) && experiment.value("loss-present").has_value();
}

// A signal on its way through the layers.

/// Weights that have been trained no longer tell how they began.
bool starts_well(const Experiment& experiment, std::string_view) {
  return experiment.step == 0 && passed(experiment, {});
}
bool starts_badly(const Experiment& experiment, std::string_view) {
  return experiment.step == 0 && failed(experiment, {});
}
bool check_starts_well(const Experiment& experiment, std::string_view id) {
  return experiment.step == 0 && check_passed(experiment, id);
}
bool check_starts_badly(const Experiment& experiment, std::string_view id) {
  return experiment.step == 0 && check_failed(experiment, id);
}

bool signal_fades(const Experiment& experiment, std::string_view name) {
  return failed(experiment, {}) && experiment.value(name).value_or(1) < 1;
}
bool signal_grows(const Experiment& experiment, std::string_view name) {
  return failed(experiment, {}) && experiment.value(name).value_or(1) > 1;
}

constexpr std::string_view kBelowTheRun = "a short training from fresh weights gets below the whole run";

constexpr ExperimentRow kRows[] = {
    {"lr-range-test", far_above, "", "lr-too-high", 3.5, "the LR range test suggests a tenth of the rate or less"},
    {"lr-range-test", far_above, "", "lr-too-low", -4.0, "the LR range test suggests a tenth of the rate or less"},
    {"lr-range-test", far_above, "", "lr-decayed-too-fast", -2.5, "the LR range test suggests an even lower rate"},
    {"lr-range-test", far_above, "", "warmup-missing", 0.8, "the rate is far above what the weights bear now"},
    {"lr-range-test", above, "", "lr-too-high", 1.5, "the LR range test suggests a lower rate"},
    {"lr-range-test", above, "", "lr-too-low", -2.5, "the LR range test suggests a lower rate"},
    {"lr-range-test", near, "", "lr-too-high", -2.0, "the rate is what the LR range test suggests"},
    {"lr-range-test", near, "", "lr-too-low", -2.5, "the rate is what the LR range test suggests"},
    {"lr-range-test", near, "", "lr-decayed-too-fast", -1.5, "the rate is what the LR range test suggests"},
    {"lr-range-test", below, "", "lr-too-low", 1.2, "the LR range test suggests a higher rate"},
    {"lr-range-test", below, "", "lr-too-high", -2.0, "the LR range test suggests a higher rate"},
    {"lr-range-test", below, "", "lr-decayed-too-fast", 1.0, "the LR range test suggests a higher rate"},
    {"lr-range-test", far_below, "", "lr-too-low", 3.5, "the LR range test suggests ten times the rate or more"},
    {"lr-range-test", far_below, "", "lr-too-high", -3.5, "the LR range test suggests ten times the rate or more"},
    {"lr-range-test", far_below, "", "lr-decayed-too-fast", 2.5,
     "the LR range test still finds a way down at ten times the rate"},
    {"lr-range-test", far_below, "", "model-too-small", -1.0, "a higher rate still lowers the loss"},
    {"lr-range-test", far_below, "", "converged", -1.5, "a higher rate still lowers the loss"},
    {"lr-range-test", beyond_divergence, "", "lr-too-high", 1.5, "the loss diverges at the present rate"},
    {"lr-range-test", refused, "", "lr-too-low", -1.5, "no rate lowered the loss in the LR range test"},
    {"lr-range-test", refused, "", "lr-decayed-too-fast", -1.5, "no rate lowered the loss in the LR range test"},

    {"overfit-one-batch", passed, "", "model-too-small", -1.5, "one batch is memorised"},
    {"overfit-one-batch", passed, "", "wrong-loss-function", -2.5,
     "one batch is memorised: the loss measures the task"},
    {"overfit-one-batch", passed, "", "disconnected-graph", -3.0, "one batch is memorised: gradients arrive"},
    {"overfit-one-batch", passed, "", "frozen-parameters", -2.0, "one batch is memorised: weights move"},
    {"overfit-one-batch", passed, "", "missing-zero-grad", -0.5, "one batch is memorised"},
    {"overfit-one-batch", passed, "", "dead-units", -1.5, "one batch is memorised: enough units work"},
    {"overfit-one-batch", passed, "", "saturation", -1.5, "one batch is memorised: enough units work"},
    {"overfit-one-batch", passed, "", "vanishing-signal", -2.0, "one batch is memorised: the signal arrives"},
    {"overfit-one-batch", passed, "", "bad-initialization", -1.5, "one batch is memorised from these weights"},
    {"overfit-one-batch", passed, "", "lr-too-low", -0.8, "one batch is memorised at the present rate"},
    {"overfit-one-batch", passed, "", "lr-too-high", -0.8, "one batch is memorised at the present rate"},
    {"overfit-one-batch", passed, "", "too-much-regularization", -1.5, "one batch is memorised all the same"},
    {"overfit-one-batch", passed, "", "wrong-labels", 0.8, "the model can learn: what it is given to learn is suspect"},
    {"overfit-one-batch", passed, "", "label-noise", 0.6, "the model can learn: what it is given to learn is suspect"},
    {"overfit-one-batch", failed, "", "converged", -2.5, "not even one batch is memorised"},
    {"overfit-one-batch", failed, "", "too-little-data", -1.5, "not even one batch is memorised"},
    {"overfit-one-batch", failed, "", "label-noise", -1.0, "noisy labels of one batch can be memorised"},

    {"overfit-one-batch", check_failed, "inputs", "corrupt-data", 3.5, "the inputs of the one batch are at fault"},
    {"overfit-one-batch", check_failed, "labels", "wrong-labels", 4.0, "the labels of the one batch are at fault"},
    {"overfit-one-batch", check_failed, "loss", "wrong-loss-function", 4.0, "the loss does not fall for any output"},
    {"overfit-one-batch", check_failed, "frozen", "frozen-parameters", 4.0, "weights that should learn do not move"},
    {"overfit-one-batch", check_failed, "gradient", "disconnected-graph", 3.5, "no gradient arrives at some layers"},
    {"overfit-one-batch", check_failed, "gradient", "vanishing-signal", 1.0, "no gradient arrives at some layers"},
    {"overfit-one-batch", check_failed, "dead-units", "dead-units", 4.0, "units that never fire keep it from learning"},
    {"overfit-one-batch", check_failed, "mode", "eval-mode-left-on", 3.5, "in the other mode the batch is memorised"},
    {"overfit-one-batch", check_failed, "dropout", "too-much-regularization", 4.0,
     "without dropout the batch is memorised"},
    {"overfit-one-batch", check_failed, "learning-rate-too-low", "lr-too-low", 4.0,
     "at a higher rate the batch is memorised"},
    {"overfit-one-batch", check_failed, "learning-rate-too-high", "lr-too-high", 4.0,
     "at a lower rate the batch is memorised"},
    {"overfit-one-batch", check_failed, "optimizer", "too-much-regularization", 1.5,
     "with a plain optimizer the batch is memorised"},
    {"overfit-one-batch", check_failed, "capacity", "model-too-small", 3.0,
     "nothing else keeps the batch from being memorised"},
    {"overfit-one-batch", check_passed, "loss", "wrong-loss-function", -1.5,
     "outputs that fit the batch lower the loss"},
    {"overfit-one-batch", check_passed, "frozen", "frozen-parameters", -2.0, "every weight is in the optimizer"},
    {"overfit-one-batch", check_passed, "gradient", "disconnected-graph", -2.0, "every weight receives a gradient"},
    {"overfit-one-batch", check_passed, "dead-units", "dead-units", -2.0, "the units of every layer fire"},
    {"overfit-one-batch", check_passed, "learning-rate-too-low", "lr-too-low", -2.0,
     "a higher rate does not memorise the batch either"},
    {"overfit-one-batch", check_passed, "learning-rate-too-high", "lr-too-high", -2.0,
     "a lower rate does not memorise the batch either"},

    {"curvature", on_slope, "", "converged", -2.5, "the gradient still leads down"},
    {"curvature", on_slope, "", "lr-decayed-too-fast", 1.0, "the gradient still leads down, the steps do not follow"},
    {"curvature", on_slope, "", "lr-too-low", 0.8, "the gradient still leads down, the steps do not follow"},
    {"curvature", at_rest, "", "converged", 2.5, "gradient and curvature are those of a minimum"},
    {"curvature", at_rest, "", "lr-decayed-too-fast", -2.0, "the weights are at a minimum, where no rate helps"},
    {"curvature", at_rest, "", "lr-too-low", -1.5, "the weights are at a minimum, where no rate helps"},
    {"curvature", at_rest, "", "model-too-small", 0.8, "training has come to the bottom of what this model can do"},
    {"curvature", beyond_stability, "", "lr-too-high", 2.0, "the curvature is beyond what steps of this length bear"},
    {"curvature", beyond_stability, "", "converged", -3.0, "steps of this length cannot come to rest here"},
    {"curvature", far_from_edge, "", "lr-too-high", -2.0, "the curvature is far below what steps of this length bear"},
    {"curvature", far_from_edge, "", "lr-too-low", 0.8, "the curvature would bear far longer steps"},

    {"gradient-noise-scale", failed, "", "batch-too-small", 3.0, "the noise scale is far above the batch size"},
    {"gradient-noise-scale", failed, "", "lr-too-high", -0.5, "the batches are noisy enough to explain swings"},
    {"gradient-noise-scale", noise_beyond_measure, "", "batch-too-small", 1.0,
     "batches have so little in common that the noise scale is beyond measure"},
    {"gradient-noise-scale", passed, "", "batch-too-small", -2.5, "the batches are large enough for their noise"},
    {"gradient-noise-scale", batch_wasteful, "", "batch-too-large", 1.5, "the batch is far above the noise scale"},

    {"fresh-start", lower_rate_better, "", "lr-too-high", 4.5,
     "from fresh weights a tenth of the rate gets clearly further"},
    {"fresh-start", lower_rate_better, "", "warmup-missing", 1.0,
     "from fresh weights the rate is too much from the first step"},
    {"fresh-start", lower_rate_better, "", "dead-units", -3.0,
     "from fresh weights a tenth of the rate learns: units died of the rate"},
    {"fresh-start", lower_rate_better, "", "saturation", -2.5,
     "from fresh weights a tenth of the rate learns: units were driven there by the rate"},
    {"fresh-start", lower_rate_better, "", "lr-too-low", -4.0, "from fresh weights a lower rate does better"},
    {"fresh-start", lower_rate_better, "", "wrong-labels", -3.0, "at a lower rate the same labels are learned"},
    {"fresh-start", lower_rate_better, "", "bad-initialization", -1.5,
     "from fresh weights it is the rate that decides"},
    {"fresh-start", lower_rate_better, "", "batch-too-small", -0.5, "at a lower rate these batches are enough"},
    {"fresh-start", lower_rate_better, "", "bad-batches", -1.5, "at a lower rate the same batches do no harm"},
    {"fresh-start", lower_rate_better, "", "corrupt-data", -1.5, "at a lower rate the same data do no harm"},
    {"fresh-start", lower_rate_better, "", "exploding-signal", -2.0,
     "from fresh weights a tenth of the rate learns: the signal grew under the steps"},
    {"fresh-start", higher_rate_better, "", "lr-too-low", 3.5,
     "from fresh weights a higher rate gets further in the same steps"},
    {"fresh-start", higher_rate_better, "", "lr-too-high", -4.0,
     "from fresh weights a higher rate gets further in the same steps"},
    {"fresh-start", overtakes, "", "lr-too-high", 1.0, kBelowTheRun},
    {"fresh-start", overtakes, "", "converged", -4.0, kBelowTheRun},
    {"fresh-start", overtakes, "", "model-too-small", -3.0, kBelowTheRun},
    {"fresh-start", overtakes, "", "too-little-data", -2.0, kBelowTheRun},
    {"fresh-start", overtakes, "", "label-noise", -2.0, kBelowTheRun},
    {"fresh-start", overtakes, "", "wrong-labels", -2.5, "from fresh weights the labels are learned"},
    {"fresh-start", passed, "", "lr-too-low", -2.5, "from fresh weights the rate does as well as any"},
    {"fresh-start", passed, "", "wrong-labels", -2.0, "from fresh weights the labels are learned"},
    {"fresh-start", passed, "", "bad-initialization", 1.0, "from fresh weights the same training learns"},
    {"fresh-start", passed_without_gain, "", "lr-too-high", -2.0, "from fresh weights the rate does as well as any"},
    {"fresh-start", regularisation_hinders, "", "too-much-regularization", 3.5,
     "from fresh weights more is learned without weight decay and dropout"},
    {"fresh-start", regularisation_harmless, "", "too-much-regularization", -2.0,
     "without weight decay and dropout no more is learned"},
    {"fresh-start", none_learns, "", "lr-too-high", -2.0, "from fresh weights a lower rate learns nothing either"},
    {"fresh-start", none_learns, "", "wrong-labels", 1.0, "from fresh weights no rate learns anything"},

    {"initialisation-check", starts_badly, "", "bad-initialization", 2.5,
     "the weights of a layer are not what its fan-in asks for"},
    {"initialisation-check", starts_well, "", "bad-initialization", -2.5, "every layer's weights have a fitting size"},
    {"signal-propagation", signal_fades, "forward-factor", "vanishing-signal", 2.0,
     "random inputs fade from layer to layer"},
    {"signal-propagation", signal_fades, "backward-factor", "vanishing-signal", 2.0,
     "a signal sent backward fades from layer to layer"},
    {"signal-propagation", signal_grows, "forward-factor", "exploding-signal", 2.0,
     "random inputs grow from layer to layer"},
    {"signal-propagation", signal_grows, "backward-factor", "exploding-signal", 2.0,
     "a signal sent backward grows from layer to layer"},
    {"signal-propagation", failed, "", "missing-normalization", 1.0,
     "the signal does not keep its size from layer to layer"},
    {"signal-propagation", failed, "", "bad-initialization", 0.8,
     "the signal does not keep its size from layer to layer"},
    {"signal-propagation", passed, "", "vanishing-signal", -2.5, "random inputs pass through all layers unweakened"},
    {"signal-propagation", passed, "", "exploding-signal", -2.5,
     "random inputs pass through all layers without growing"},
    {"signal-propagation", passed, "", "missing-normalization", -1.5, "the signal keeps its size without more layers"},
    {"signal-propagation", passed, "", "bad-initialization", -0.8, "the signal keeps its size through all layers"},

    {"checkup", check_failed, "output-shape", "wrong-loss-function", 2.0,
     "the output does not have the shape that the loss expects"},
    {"checkup", check_starts_badly, "first-loss", "bad-initialization", 1.0,
     "the first loss is not that of a fresh model"},
    {"checkup", check_failed, "inputs-finite", "corrupt-data", 4.0, "inputs are not finite"},
    {"checkup", check_passed, "inputs-finite", "corrupt-data", -1.0, "all inputs drawn are finite"},
    {"checkup", check_failed, "normalisation", "data-not-normalized", 3.5, "the inputs are not normalised"},
    {"checkup", check_passed, "normalisation", "data-not-normalized", -3.0, "the inputs are normalised"},
    {"checkup", check_failed, "labels", "wrong-labels", 3.0, "labels are invalid or all the same"},
    {"checkup", check_failed, "batches-shuffled", "no-shuffling", 3.5, "batches come in an order"},
    {"checkup", check_passed, "batches-shuffled", "no-shuffling", -2.5, "batches are mixed"},
    {"checkup", check_failed, "disjoint-splits", "data-leak", 4.0, "validation samples are in the training set too"},
    {"checkup", check_passed, "disjoint-splits", "data-leak", -2.5,
     "no validation sample drawn is in the training set"},
    {"checkup", check_failed, "validation-not-augmented", "validation-pipeline-bug", 3.0,
     "validation samples change when loaded twice"},
    {"checkup", check_failed, "train-mode", "eval-mode-left-on", 4.0,
     "the model is in evaluation mode while it trains"},
    {"checkup", check_passed, "train-mode", "eval-mode-left-on", -3.0, "the model is in training mode"},
    {"checkup", check_failed, "scheduler-in-checkpoint", "scheduler-state-lost", 3.0,
     "the schedule does not survive a checkpoint"},
    {"checkup", check_passed, "scheduler-in-checkpoint", "scheduler-state-lost", -2.0,
     "the schedule survives a checkpoint"},
    {"checkup", check_failed, "zero-input", "disconnected-graph", 1.5,
     "inputs of zero do as well: the model does not use its inputs"},
    {"checkup", check_failed, "every-parameter-learns", "disconnected-graph", 2.5, "some weights receive no gradient"},
    {"checkup", check_failed, "every-parameter-learns", "frozen-parameters", 2.5, "some weights receive no gradient"},
    {"checkup", check_passed, "every-parameter-learns", "disconnected-graph", -3.0, "every weight receives a gradient"},
    {"checkup", check_passed, "every-parameter-learns", "frozen-parameters", -2.5, "every weight receives a gradient"},
    {"checkup", check_failed, "samples-independent", "bad-batches", 1.5, "samples of a batch leak into each other"},
    {"checkup", check_failed, "units-alive", "dead-units", 3.5, "units never fire"},
    {"checkup", check_passed, "units-alive", "dead-units", -2.5, "units of every layer fire"},
    {"checkup", check_starts_badly, "initialisation", "bad-initialization", 1.5,
     "the weights of a layer are not what its fan-in asks for"},
    {"checkup", check_starts_well, "initialisation", "bad-initialization", -1.5,
     "every layer's weights have a fitting size"},
};

}  // namespace

std::span<const ExperimentRow> experiment_rows() {
  return kRows;
}

std::vector<Clue> experiment_clues(const std::vector<Experiment>& experiments, std::string_view cause) {
  std::vector<Clue> clues;
  for (const Experiment& experiment : experiments) {
    for (const ExperimentRow& row : kRows) {
      if (row.cause != cause || row.probe != experiment.probe || !row.says(experiment, row.detail)) continue;
      clues.push_back({row.weight, std::string(row.words)});
    }
  }
  return clues;
}

}  // namespace osler
