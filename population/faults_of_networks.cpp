// Faults of the network, its start, and the loss.
#include <algorithm>
#include <array>

#include "faults.h"

namespace osler::population {
namespace {

constexpr std::string_view kDead =
    "loss-stuck-from-start loss-plateau loss-too-slow underfitting vanishing-gradients vanishing-by-depth "
    "gradients-mostly-zero "
    "dead-layer dead-neurons vanishing-activations poor-initialization saturated-activations initial-loss-wrong "
    "collapsed-representation updates-too-small confidence-without-learning loss-stuck-after-drop "
    "cannot-overfit-one-batch";
constexpr std::string_view kPartial =
    "dead-layer vanishing-by-depth vanishing-gradients gradients-mostly-zero weights-frozen parameters-not-optimized "
    "loss-too-slow underfitting "
    "loss-plateau loss-stuck-after-drop loss-stuck-from-start updates-too-small";
constexpr std::string_view kHuge =
    "initial-loss-wrong poor-initialization exploding-gradients exploding-activations loss-oscillating loss-diverging "
    "loss-spikes "
    "loss-nonfinite-at-start loss-nonfinite-later gradient-nonfinite saturated-activations loss-stuck-from-start "
    "loss-plateau overfitting "
    "overconfidence loss-too-slow underfitting updates-too-small metric-contradicts-loss late-loss-variance "
    "loss-stuck-after-drop accuracy-outruns-loss";
constexpr std::string_view kOverfit =
    "overfitting overconfidence accuracy-outruns-loss metric-contradicts-loss loss-exactly-zero sharp-minimum";
constexpr std::string_view kNumeric =
    "loss-nonfinite-at-start loss-nonfinite-later gradient-nonfinite weights-nonfinite loss-spikes logit-growth "
    "initial-loss-wrong";
constexpr std::string_view kWrongLoss =
    "accuracy-outruns-loss loss-plateau loss-stuck-after-drop underfitting loss-too-slow loss-stuck-from-start "
    "metric-contradicts-loss "
    "confidence-without-learning loss-diverging initial-loss-wrong overconfidence logit-growth "
    "validation-better-than-training loss-nonfinite-later "
    "exploding-gradients weight-norm-exploding loss-exactly-zero";

bool always(const Recipe& /*recipe*/) {
  return true;
}
bool is_stack(const Recipe& recipe) {
  return recipe.model == Model::perceptron || recipe.model == Model::residual || recipe.model == Model::convolutional;
}
bool is_perceptron(const Recipe& recipe) {
  return recipe.model == Model::perceptron || recipe.model == Model::residual;
}
bool is_classifier(const Recipe& recipe) {
  return recipe.objective == Objective::cross_entropy;
}
bool has_batch_norm(const Recipe& recipe) {
  return recipe.norm == Norm::batch;
}
void runs_through(Recipe& recipe, Random& /*random*/) {
  recipe.patience = 0;
}
std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

void several_layers(Recipe& recipe, Random& random) {
  runs_through(recipe, random);
  if (is_stack(recipe)) recipe.depth = std::max(recipe.depth, 2L);
}

void deep(Recipe& recipe, Random& random) {
  runs_through(recipe, random);
  recipe.depth = random.whole(7, 14);
  recipe.width = std::clamp(recipe.width, 24L, 64L);
  recipe.residual = true;
  recipe.norm = Norm::layer;
  recipe.activation = Activation::relu;
  recipe.dropout = 0;
  recipe.steps = recipe.horizon = std::min(recipe.horizon, 700L);
}

/// Few samples, a wide network and many passes: memorised unless something stands against it.
void easy_to_memorise(Recipe& recipe, Random& random) {
  runs_through(recipe, random);
  recipe.steps = recipe.horizon = std::max(recipe.horizon, 400L);
  recipe.label_noise = recipe.objective == Objective::cross_entropy || recipe.objective == Objective::binary
                           ? random.between(0.05, 0.15)
                           : 0;
  recipe.augment = 0;
  recipe.smoothing = 0;
}

Planted change_form(Recipe& recipe, LossForm form, std::string_view what) {
  recipe.form = form;
  recipe.smoothing = 0;
  return {std::string(what), 0};
}

constexpr std::array kFaults = {
    Fault{"softmax-twice", "wrong-loss-function", "", kWrongLoss, kMetric, false, true, 2, [](const Recipe& recipe) { return is_classifier(recipe) || recipe.objective == Objective::binary; },
          runs_through, [](Recipe& recipe, Random& /*random*/) { return change_form(recipe, LossForm::softmax_twice, "softmax or sigmoid applied twice"); }},
    Fault{"sigmoid-first", "wrong-loss-function", "", kWrongLoss, kMetric, false, false, 0.7, is_classifier, runs_through,
          [](Recipe& recipe, Random& /*random*/) { return change_form(recipe, LossForm::sigmoid_first, "a sigmoid before the cross-entropy"); }},
    Fault{"ids-as-numbers", "wrong-loss-function", "", kWrongLoss, kMetric, false, false, 0.8, [](const Recipe& recipe) { return is_classifier(recipe) && recipe.outputs > 2 && recipe.outputs <= 100; },
          runs_through, [](Recipe& recipe, Random& /*random*/) { return change_form(recipe, LossForm::ids_as_numbers, "squared error on class ids"); }},
    Fault{"loss-negated", "wrong-loss-function", "", kWrongLoss, kMetric, false, false, 1, [](const Recipe& recipe) { return recipe.objective != Objective::gaussian; }, runs_through,
          [](Recipe& recipe, Random& /*random*/) { return change_form(recipe, LossForm::negated, "the sign of the loss is wrong"); }},
    Fault{"labels-inverted", "wrong-loss-function", "wrong-labels metric-bug", kWrongLoss, kMetric, false, false, 0.7, [](const Recipe& recipe) { return recipe.task == Task::binary; }, runs_through,
          [](Recipe& recipe, Random& /*random*/) { return change_form(recipe, LossForm::labels_inverted, "the loss takes the opposite labels"); }},
    Fault{"graph-cut", "disconnected-graph", "frozen-parameters", kPartial, kLayers, false, true, 1.5, always, several_layers,
          [](Recipe& recipe, Random& /*random*/) {
            recipe.detached = recipe.depth;
            return Planted{"the graph is cut before the last layers", 0};
          }},
    Fault{"layers-frozen", "frozen-parameters", "disconnected-graph", kPartial, kLayers, false, true, 1.3, always, several_layers,
          [](Recipe& recipe, Random& random) {
            recipe.frozen_from = 0;
            recipe.frozen_to = random.whole(1, std::max(1L, recipe.depth));
            return Planted{"the first layers are not given to the optimizer", 0};
          }},
    Fault{"head-frozen", "frozen-parameters", "", kPartial, kLayers, false, true, 0.7, is_stack, several_layers,
          [](Recipe& recipe, Random& /*random*/) {
            recipe.frozen_from = recipe.depth;
            recipe.frozen_to = recipe.depth + 1;
            return Planted{"the head is not given to the optimizer", 0};
          }},
    Fault{"all-frozen", "frozen-parameters", "lr-too-low disconnected-graph", kPartial, kLayers, false, true, 0.5, always, runs_through,
          [](Recipe& recipe, Random& /*random*/) {
            recipe.frozen_from = 0;
            recipe.frozen_to = 1000;
            return Planted{"no parameter is given to the optimizer", 0};
          }},
    Fault{"zero-weights", "bad-initialization", "vanishing-signal dead-units", kDead, kLayers | kNorm, false, false, 0.8, is_stack, several_layers,
          [](Recipe& recipe, Random& random) {
            recipe.start = random.chance(0.6) ? Start::zero : Start::equal;
            recipe.norm = Norm::none;
            return Planted{recipe.start == Start::zero ? "all weights start at zero" : "all weights start equal", 0};
          }},
    Fault{"huge-weights", "bad-initialization", "exploding-signal saturation lr-too-high", kHuge, kLayers | kNorm, false, false, 1.2, always,
          [](Recipe& recipe, Random& random) {
            runs_through(recipe, random);
            if (is_stack(recipe)) recipe.norm = Norm::none;
            if (is_stack(recipe)) recipe.residual = false;
          },
          [](Recipe& recipe, Random& random) {
            recipe.gain *= random.log_between(5, 30);
            return Planted{"weights start " + number(recipe.gain) + " times too large", 0};
          }},
    Fault{"tiny-weights", "bad-initialization", "vanishing-signal", kDead, kLayers | kNorm, false, false, 0.8, is_stack,
          [](Recipe& recipe, Random& random) {
            several_layers(recipe, random);
            recipe.norm = Norm::none;
            recipe.residual = false;
          },
          [](Recipe& recipe, Random& random) {
            recipe.gain *= random.log_between(1e-5, 1e-2);
            return Planted{"weights start " + number(1 / recipe.gain) + " times too small", 0};
          }},
    Fault{"deep-sigmoid", "vanishing-signal", "missing-normalization saturation bad-initialization", kDead, kLayers | kNorm, false, false, 1.3, is_perceptron, deep,
          [](Recipe& recipe, Random& /*random*/) {
            recipe.activation = Activation::sigmoid;
            recipe.norm = Norm::none;
            recipe.residual = false;
            return Planted{"deep sigmoid network without normalisation", 0};
          }},
    Fault{"deep-plain", "missing-normalization", "vanishing-signal bad-initialization", kDead, kLayers | kNorm, false, false, 1, is_perceptron, deep,
          [](Recipe& recipe, Random& random) {
            recipe.norm = Norm::none;
            recipe.residual = false;
            recipe.gain = random.between(0.25, 0.55);
            return Planted{"deep plain network without normalisation", 0};
          }},
    Fault{"deep-exploding", "exploding-signal", "bad-initialization missing-normalization lr-too-high no-clipping", kHuge, kLayers | kNorm, false, false, 1, is_perceptron, deep,
          [](Recipe& recipe, Random& random) {
            recipe.norm = Norm::none;
            recipe.residual = false;
            recipe.gain = random.between(1.6, 3);
            recipe.clip = 0;
            return Planted{"deep plain network whose signal grows from layer to layer", 0};
          }},
    Fault{"dead-relus", "dead-units", "bad-initialization lr-too-high", kDead, kLayers | kNorm, false, false, 1,
          [](const Recipe& recipe) { return is_stack(recipe); },
          [](Recipe& recipe, Random& random) {
            several_layers(recipe, random);
            recipe.activation = Activation::relu;
            recipe.norm = Norm::none;
            recipe.residual = false;
          },
          [](Recipe& recipe, Random& random) {
            recipe.bias = -random.between(2, 8);
            return Planted{"hidden biases start at " + number(recipe.bias), 0};
          }},
    Fault{"saturated-tanh", "saturation", "bad-initialization vanishing-signal", kHuge, kLayers | kNorm, false, false, 0.8, is_perceptron,
          [](Recipe& recipe, Random& random) {
            several_layers(recipe, random);
            recipe.activation = Activation::tanh;
            recipe.norm = Norm::none;
            recipe.residual = false;
          },
          [](Recipe& recipe, Random& random) {
            recipe.gain *= random.log_between(8, 40);
            return Planted{"tanh units saturated from the start", 0};
          }},
    Fault{"dropout-too-strong", "too-much-regularization", "model-too-small",
          "validation-better-than-training underfitting loss-plateau loss-too-slow loss-stuck-from-start loss-stuck-after-drop late-loss-variance", kConfig | kValidation, false, false, 1.3,
          [](const Recipe& recipe) { return recipe.model != Model::recurrent && recipe.model != Model::lstm; }, runs_through,
          [](Recipe& recipe, Random& random) {
            recipe.dropout = random.between(0.8, 0.97);
            return Planted{"dropout " + number(recipe.dropout), 0};
          }},
    Fault{"label-smoothing", "label-smoothing", "too-much-regularization",
          "validation-better-than-training accuracy-outruns-loss loss-plateau underfitting loss-stuck-after-drop loss-too-slow", kConfig | kMetric | kValidation, false, false, 1.2, is_classifier, runs_through,
          [](Recipe& recipe, Random& random) {
            recipe.smoothing = random.between(0.5, 0.9);
            return Planted{"label smoothing " + number(recipe.smoothing), 0};
          }},
    Fault{"model-too-small", "model-too-small", "too-much-regularization",
          "underfitting loss-plateau loss-stuck-after-drop loss-too-slow loss-stuck-from-start", kConfig, false, false, 1.5, always,
          [](Recipe& recipe, Random& random) {
            runs_through(recipe, random);
            if (recipe.model == Model::transformer) recipe.norm_first = true;
          },
          [](Recipe& recipe, Random& random) {
            recipe.width = recipe.model == Model::transformer ? 2 * random.whole(1, 2) : random.whole(1, 3);
            if (is_stack(recipe)) recipe.depth = 1;
            recipe.residual = false;
            return Planted{"width " + std::to_string(recipe.width), 0};
          }},
    Fault{"too-little-data", "too-little-data", "model-too-large label-noise", kOverfit, kValidation, false, false, 2,
          [](const Recipe& recipe) { return recipe.task != Task::contrastive && recipe.outputs <= 50 && recipe.task != Task::autoencoder; }, easy_to_memorise,
          [](Recipe& recipe, Random& random) {
            recipe.samples = random.log_whole(24, 120);
            recipe.batch = std::min(recipe.batch, std::max(8L, recipe.samples / 2));
            recipe.dropout = 0;
            return Planted{std::to_string(recipe.samples) + " samples", 0};
          }},
    Fault{"model-too-large", "model-too-large", "too-little-data label-noise", kOverfit, kValidation, false, false, 1.3,
          [](const Recipe& recipe) { return is_perceptron(recipe) && recipe.task != Task::contrastive && recipe.outputs <= 20 && recipe.task != Task::autoencoder; },
          [](Recipe& recipe, Random& random) {
            easy_to_memorise(recipe, random);
            recipe.samples = random.log_whole(80, 300);
            recipe.dropout = random.between(0.1, 0.3);
            recipe.width = random.whole(12, 32);
            recipe.norm = Norm::none;
            recipe.residual = false;
            recipe.depth = 1;
            recipe.rule = Rule::adamw;
            recipe.label_noise = recipe.objective == Objective::cross_entropy ? random.between(0.1, 0.25) : recipe.label_noise;
            recipe.weight_decay = random.log_between(0.05, 0.4);
            recipe.rate = random.log_between(1e-3, 4e-3);
          },
          [](Recipe& recipe, Random& random) {
            recipe.width = random.whole(128, 256);
            recipe.depth = random.whole(2, 4);
            recipe.dropout = 0;
            recipe.weight_decay = 0;
            return Planted{"a large network on few samples without regularisation", 0};
          }},
    Fault{"eval-in-training", "eval-mode-left-on", "missing-normalization lr-too-high",
          "eval-mode-in-training loss-diverging loss-oscillating loss-too-slow loss-spikes exploding-gradients loss-stuck-from-start loss-nonfinite-later loss-nonfinite-at-start underfitting "
          "initial-loss-wrong loss-plateau overfitting exploding-activations", kCurveOnly, false, false, 1, has_batch_norm,
          [](Recipe& recipe, Random& random) {
            several_layers(recipe, random);
            recipe.gain = random.log_between(2, 5);
            recipe.input_scale = random.log_between(1, 5);
          },
          [](Recipe& recipe, Random& /*random*/) {
            recipe.eval_in_training = true;
            return Planted{"evaluation mode left on in training", 0};
          }},
    Fault{"statistics-lost", "eval-mode-left-on", "validation-pipeline-bug",
          "train-mode-in-validation overfitting normalization-statistics-drift validation-frozen metric-contradicts-loss overconfidence confidence-without-learning", kValidation, false, false, 1, has_batch_norm,
          [](Recipe& recipe, Random& random) {
            runs_through(recipe, random);
            recipe.gain = random.log_between(1, 4);
            recipe.input_scale = random.log_between(1, 5);
          },
          [](Recipe& recipe, Random& /*random*/) {
            recipe.statistics_lost = true;
            return Planted{"BatchNorm's statistics are never updated", 0};
          }},
    Fault{"naive-exp", "exp-overflow", "log-of-zero lr-too-high", kNumeric, kCurveOnly, false, false, 1, is_classifier,
          [](Recipe& recipe, Random& random) {
            runs_through(recipe, random);
            recipe.output_scale = random.log_between(20, 80);
            recipe.rate *= 4 / recipe.output_scale;
            recipe.smoothing = 0;
          },
          [](Recipe& recipe, Random& /*random*/) { return change_form(recipe, LossForm::naive_exp, "softmax as exp over its sum"); }},
    Fault{"naive-log", "log-of-zero", "exp-overflow lr-too-high", kNumeric, kCurveOnly, false, false, 1, is_classifier,
          [](Recipe& recipe, Random& random) {
            runs_through(recipe, random);
            recipe.output_scale = random.log_between(25, 100);
            recipe.rate *= 4 / recipe.output_scale;
            recipe.smoothing = 0;
          },
          [](Recipe& recipe, Random& /*random*/) { return change_form(recipe, LossForm::naive_log, "the logarithm of a softmax"); }},
    Fault{"divided-by-count", "division-by-zero", "class-imbalance", kNumeric, kCurveOnly, false, false, 0.8, [](const Recipe& recipe) { return recipe.task == Task::binary; },
          [](Recipe& recipe, Random& random) {
            runs_through(recipe, random);
            recipe.positives = random.between(0.15, 0.3);
            recipe.batch = random.one_of({8L, 16L, 24L});
          },
          [](Recipe& recipe, Random& /*random*/) { return change_form(recipe, LossForm::divided_by_count, "a mean over the positives of a batch, of which there may be none"); }},
    Fault{"root-of-norm", "sqrt-at-zero", "division-by-zero", kNumeric, kCurveOnly, false, false, 0.8, [](const Recipe& recipe) { return recipe.task == Task::regression && recipe.objective != Objective::gaussian && recipe.outputs == 1; }, runs_through,
          [](Recipe& recipe, Random& /*random*/) { return change_form(recipe, LossForm::root_of_norm, "a square root whose slope at zero is infinite"); }},
};

}  // namespace

std::span<const Fault> faults_of_networks() {
  return kFaults;
}

}  // namespace osler::population
