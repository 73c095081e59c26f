// Faults of the data, of batches, and of validation.
#include <algorithm>
#include <array>
#include <cstdio>

#include "faults.h"

namespace osler::population {
namespace {

bool always(const Recipe& /*recipe*/) {
  return true;
}
bool has_numbers(const Recipe& recipe) {
  return recipe.task != Task::characters && recipe.task != Task::sequences;
}
bool has_labels(const Recipe& recipe) {
  return recipe.task != Task::contrastive && recipe.task != Task::autoencoder;
}
bool has_class_ids(const Recipe& recipe) {
  return has_classes(recipe) && recipe.task != Task::characters;
}
void runs_through(Recipe& recipe, Random& /*random*/) {
  recipe.patience = 0;
}
std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}
long somewhere(const Recipe& recipe, Random& random, double low, double high) {
  return std::max(1L, static_cast<long>(static_cast<double>(recipe.steps) * random.between(low, high)));
}

/// Enough passes for a network to learn its training set by heart.
void memorises(Recipe& recipe, Random& random) {
  runs_through(recipe, random);
  recipe.steps = recipe.horizon = std::max(recipe.horizon, 400L);
  recipe.samples = std::min(recipe.samples, random.log_whole(200, 600));
  recipe.dropout = 0;
  recipe.augment = 0;
}

constexpr std::array kFaults = {
    Fault{"label-noise", "label-noise", "wrong-labels too-little-data",
          "overfitting overconfidence underfitting loss-plateau validation-better-than-training accuracy-outruns-loss "
          "loss-stuck-after-drop loss-too-slow loss-stuck-from-start",
          kValidation, false, false, 1.5, has_labels, runs_through,
          [](Recipe& recipe, Random& random) {
            recipe.label_noise = random.between(0.4, 0.8);
            return Planted{number(100 * recipe.label_noise) + " % of the training labels are wrong", 0};
          }},
    Fault{"labels-shuffled", "wrong-labels", "label-noise bad-initialization",
          "loss-stuck-from-start overfitting overconfidence underfitting loss-plateau confidence-without-learning "
          "loss-too-slow metric-contradicts-loss",
          kCurveOnly, false, false, 1.5, has_labels, runs_through,
          [](Recipe& recipe, Random& /*random*/) {
            recipe.label_noise = 1;
            return Planted{"the training labels are shuffled", 0};
          }},
    Fault{"labels-moved", "wrong-labels", "validation-pipeline-bug metric-bug",
          "overfitting overconfidence metric-contradicts-loss confidence-without-learning", kValidation, false, false,
          0.7, has_class_ids, runs_through,
          [](Recipe& recipe, Random& /*random*/) {
            recipe.labels_from_id = 1;
            return Planted{"the training labels are off by one", 0};
          }},
    Fault{"validation-permuted", "validation-pipeline-bug", "wrong-labels metric-bug",
          "overfitting overconfidence metric-contradicts-loss validation-frozen confidence-without-learning",
          kValidation, true, true, 1, has_labels, runs_through,
          [](Recipe& recipe, Random& /*random*/) {
            recipe.validation = Validation::permuted_labels;
            return Planted{"the validation labels are permuted", 0};
          }},
    Fault{"validation-scale", "validation-pipeline-bug", "data-not-normalized eval-mode-left-on",
          "overfitting overconfidence metric-contradicts-loss validation-augmented validation-frozen "
          "batch-unnormalized confidence-without-learning",
          kValidation, true, true, 1.3, has_numbers, runs_through,
          [](Recipe& recipe, Random& random) {
            recipe.validation = Validation::other_scale;
            recipe.validation_scale = random.log_between(3, 100);
            return Planted{"validation inputs are scaled by " + number(recipe.validation_scale), 0};
          }},
    Fault{"leak", "data-leak", "", "split-overlap validation-better-than-training", kCurveOnly, true, true, 1.3,
          has_labels, memorises,
          [](Recipe& recipe, Random& /*random*/) {
            recipe.validation = Validation::leaked;
            return Planted{"the validation samples are training samples", 0};
          }},
    Fault{"train-mode", "eval-mode-left-on", "validation-pipeline-bug",
          "train-mode-in-validation overfitting late-loss-variance", kValidation, true, true, 1.2,
          [](const Recipe& recipe) { return recipe.norm == Norm::batch || recipe.dropout > 0; },
          [](Recipe& recipe, Random& random) {
            runs_through(recipe, random);
            recipe.dropout = random.between(0.3, 0.6);
          },
          [](Recipe& recipe, Random& /*random*/) {
            recipe.validation = Validation::train_mode;
            return Planted{"validation in training mode", 0};
          }},
    Fault{"stale", "stale-checkpoint", "validation-pipeline-bug",
          "validation-frozen overfitting metric-contradicts-loss", kValidation, true, true, 1.3, always, runs_through,
          [](Recipe& recipe, Random& random) {
            recipe.validation = Validation::stale;
            recipe.stale_from = somewhere(recipe, random, 0.0, 0.4);
            return Planted{"validation of an old copy", recipe.stale_from};
          }},
    Fault{"metric-bug", "metric-bug", "validation-pipeline-bug wrong-labels",
          "metric-contradicts-loss confidence-without-learning", kMetric, true, true, 1.3,
          [](const Recipe& recipe) {
            return recipe.metric != Metric::none && recipe.metric != Metric::perplexity &&
                   recipe.task != Task::contrastive && recipe.task != Task::characters;
          },
          runs_through,
          [](Recipe& recipe, Random& /*random*/) {
            recipe.metric_shifted = true;
            return Planted{"the metric compares with the labels of other samples", 0};
          }},
    Fault{"not-normalized", "data-not-normalized", "lr-too-high exploding-signal bad-initialization",
          "batch-unnormalized initial-loss-wrong loss-oscillating loss-diverging loss-spikes exploding-gradients "
          "loss-stuck-from-start loss-nonfinite-at-start loss-nonfinite-later "
          "saturated-activations dead-neurons loss-plateau loss-too-slow late-loss-variance exploding-activations "
          "gradient-nonfinite underfitting loss-stuck-after-drop",
          kNorm, false, false, 1.5,
          [](const Recipe& recipe) { return has_numbers(recipe) && recipe.task != Task::autoencoder; },
          [](Recipe& recipe, Random& random) {
            runs_through(recipe, random);
            if (random.chance(0.8)) recipe.norm = Norm::none;
            if (recipe.norm == Norm::none) recipe.residual = false;
          },
          [](Recipe& recipe, Random& random) {
            recipe.input_scale = random.log_between(20, 255);
            recipe.input_shift = random.chance(0.6) ? recipe.input_scale * random.between(0.5, 2) : 0;
            return Planted{"inputs scaled by " + number(recipe.input_scale), 0};
          }},
    Fault{"nan-inputs", "corrupt-data", "bad-batches",
          "batch-nonfinite loss-nonfinite-at-start loss-nonfinite-later gradient-nonfinite weights-nonfinite",
          kCurveOnly, false, false, 1.2, has_numbers, runs_through,
          [](Recipe& recipe, Random& random) {
            recipe.bad_from = somewhere(recipe, random, 0.0, 0.8);
            recipe.bad_every = std::max(2L, recipe.steps / random.whole(2, 30));
            recipe.bad_is_nan = true;
            return Planted{"NaN in the inputs of some batches", recipe.bad_from};
          }},
    Fault{"extreme-samples", "corrupt-data", "bad-batches no-clipping",
          "batch-extreme loss-spikes exploding-gradients loss-diverging loss-oscillating late-loss-variance "
          "loss-stuck-after-drop "
          "gradient-norm-oscillating loss-nonfinite-later loss-plateau updates-too-large clipping-never",
          kNorm, false, false, 1.2, has_numbers,
          [](Recipe& recipe, Random& random) {
            runs_through(recipe, random);
            if (recipe.norm == Norm::batch) recipe.norm = Norm::none;
            if (recipe.clip > 0 && random.chance(0.7)) recipe.clip = 0;
          },
          [](Recipe& recipe, Random& random) {
            recipe.bad_from = somewhere(recipe, random, 0.0, 0.6);
            recipe.bad_every = std::max(2L, recipe.steps / random.whole(5, 60));
            recipe.bad_scale = random.log_between(50, 2000);
            recipe.bad_labels = has_labels(recipe);
            return Planted{"some batches have extreme values", recipe.bad_from};
          }},
    Fault{"bad-labels-in-batches", "bad-batches", "corrupt-data label-noise",
          "loss-spikes loss-oscillating late-loss-variance loss-diverging gradient-norm-oscillating "
          "exploding-gradients loss-plateau "
          "loss-too-slow underfitting",
          kNorm, false, false, 0.8,
          [](const Recipe& recipe) { return has_labels(recipe) && recipe.task != Task::characters; }, runs_through,
          [](Recipe& recipe, Random& random) {
            recipe.bad_every = random.whole(2, 5);
            recipe.bad_labels = true;
            return Planted{"every " + std::to_string(recipe.bad_every) + "th batch has shuffled labels", 0};
          }},
    Fault{"same-batch", "bad-batches", "too-little-data no-shuffling",
          "batch-repeated overfitting overconfidence accuracy-outruns-loss loss-exactly-zero metric-contradicts-loss",
          kValidation, false, false, 1.2, always,
          [](Recipe& recipe, Random& random) {
            runs_through(recipe, random);
            recipe.dropout = random.chance(0.7) ? 0 : recipe.dropout;
          },
          [](Recipe& recipe, Random& /*random*/) {
            recipe.order = Order::one_batch;
            return Planted{"the same batch is shown again and again", 0};
          }},
    Fault{"sorted", "no-shuffling", "bad-batches",
          "epoch-sawtooth loss-oscillating loss-spikes overfitting late-loss-variance loss-diverging "
          "metric-contradicts-loss gradient-norm-oscillating loss-plateau "
          "loss-stuck-from-start confidence-without-learning loss-exactly-zero overconfidence loss-stuck-after-drop "
          "underfitting",
          kCurveOnly, false, false, 1.8,
          [](const Recipe& recipe) {
            return has_labels(recipe) && recipe.task != Task::characters && recipe.outputs <= 100;
          },
          [](Recipe& recipe, Random& random) {
            runs_through(recipe, random);
            recipe.samples =
                std::min(recipe.samples, std::max(300L, recipe.steps * recipe.batch / random.whole(4, 20)));
          },
          [](Recipe& recipe, Random& /*random*/) {
            recipe.order = Order::sorted;
            return Planted{"samples come sorted by label", 0};
          }},
    Fault{"imbalance", "class-imbalance", "wrong-labels",
          "class-imbalance loss-plateau loss-stuck-from-start overfitting overconfidence confidence-without-learning "
          "underfitting accuracy-outruns-loss "
          "loss-stuck-after-drop metric-contradicts-loss loss-too-slow",
          kMetric, false, false, 1.3,
          [](const Recipe& recipe) {
            return (has_class_ids(recipe) && recipe.outputs <= 20) || recipe.task == Task::binary;
          },
          runs_through,
          [](Recipe& recipe, Random& random) {
            recipe.majority = random.between(0.95, 0.995);
            recipe.skewed_validation = random.chance(0.5);
            return Planted{number(100 * recipe.majority) + " % of the training samples are of one class", 0};
          }},
};

}  // namespace

std::span<const Fault> faults_of_data() {
  return kFaults;
}

std::vector<Fault> all_faults() {
  std::vector<Fault> all;
  for (const std::span<const Fault> part : {faults_of_steps(), faults_of_networks(), faults_of_data()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace osler::population
