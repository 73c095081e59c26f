// Draws healthy trainings: nothing here is wrong, everything is varied.
#include <algorithm>
#include <array>
#include <cmath>

#include "random.h"
#include "recipe.h"

namespace osler::population {
namespace {

struct Pair {
  Task task;
  Model model;
  double weight;
};

constexpr std::array<Pair, 27> kPairs = {{
    {Task::mixture, Model::perceptron, 3},
    {Task::mixture, Model::residual, 2},
    {Task::teacher, Model::perceptron, 2},
    {Task::teacher, Model::residual, 3},
    {Task::spiral, Model::perceptron, 2},
    {Task::images, Model::convolutional, 4},
    {Task::images, Model::perceptron, 2},
    {Task::images, Model::residual, 2},
    {Task::binary, Model::perceptron, 3},
    {Task::binary, Model::residual, 2},
    {Task::binary, Model::convolutional, 2},
    {Task::tags, Model::perceptron, 2},
    {Task::tags, Model::convolutional, 2},
    {Task::margin, Model::perceptron, 2},
    {Task::margin, Model::residual, 1},
    {Task::regression, Model::perceptron, 3},
    {Task::regression, Model::residual, 2},
    {Task::autoencoder, Model::perceptron, 2},
    {Task::autoencoder, Model::convolutional, 1.5},
    {Task::contrastive, Model::perceptron, 1.5},
    {Task::contrastive, Model::convolutional, 1},
    {Task::characters, Model::lstm, 3},
    {Task::characters, Model::transformer, 4},
    {Task::characters, Model::recurrent, 1.5},
    {Task::sequences, Model::lstm, 2},
    {Task::sequences, Model::transformer, 3},
    {Task::sequences, Model::recurrent, 1},
}};

bool is_picture(const Recipe& recipe) {
  return recipe.model == Model::convolutional || recipe.task == Task::images;
}

void draw_task(Recipe& recipe, Random& random) {
  recipe.spread = random.log_between(0.3, 1.2);
  recipe.label_noise = random.chance(0.4) ? random.between(0.005, 0.06) : 0;
  recipe.inputs = random.log_whole(6, 64);
  if (is_picture(recipe)) recipe.inputs = random.one_of({64L, 100L, 144L});
  recipe.outputs = 1;
  switch (recipe.task) {
    case Task::mixture:
      recipe.outputs = random.log_whole(2, random.chance(0.25) ? 1000 : 20);
      if (recipe.outputs > 50) recipe.inputs = random.whole(32, 64);
      if (recipe.outputs > 50) recipe.spread = random.log_between(0.3, 0.6);
      break;
    case Task::teacher:
      recipe.outputs = random.log_whole(2, 20);
      break;
    case Task::spiral:
      recipe.inputs = 2;
      recipe.outputs = random.whole(2, 4);
      recipe.spread = random.log_between(0.1, 0.4);
      break;
    case Task::images:
      recipe.outputs = random.log_whole(2, random.chance(0.2) ? 100 : 12);
      break;
    case Task::binary:
      recipe.objective = Objective::binary;
      recipe.metric = random.chance(0.6) ? Metric::auc : Metric::accuracy;
      recipe.positives = random.chance(0.5) ? 0.5 : random.between(0.15, 0.5);
      break;
    case Task::tags:
      recipe.objective = Objective::binary;
      recipe.metric = Metric::f1;
      recipe.outputs = random.log_whole(3, 24);
      break;
    case Task::margin:
      recipe.objective = Objective::hinge;
      recipe.outputs = random.log_whole(2, 12);
      break;
    case Task::regression: {
      recipe.objective = random.one_of(
          {Objective::squared, Objective::squared, Objective::absolute, Objective::huber, Objective::gaussian});
      recipe.metric = Metric::r2;
      recipe.outputs = random.chance(0.7) ? 1 : random.whole(2, 6);
      recipe.label_noise = 0;
      break;
    }
    case Task::autoencoder:
      recipe.objective = Objective::squared;
      recipe.metric = Metric::none;
      recipe.outputs = recipe.inputs;
      break;
    case Task::contrastive:
      recipe.objective = Objective::contrastive;
      recipe.outputs = random.one_of({16L, 32L});
      recipe.temperature = random.log_between(0.1, 0.5);
      recipe.label_noise = 0;
      break;
    case Task::characters:
      recipe.inputs = recipe.outputs = random.log_whole(10, 90);
      recipe.length = random.one_of({12L, 16L, 24L, 32L});
      recipe.metric = random.one_of({Metric::perplexity, Metric::accuracy});
      break;
    case Task::sequences:
      recipe.inputs = random.whole(8, 24);
      recipe.outputs = random.whole(2, 6);
      recipe.length = random.one_of({10L, 16L, 24L});
      break;
  }
}

void draw_model(Recipe& recipe, Random& random) {
  recipe.width = random.log_whole(16, 128);
  recipe.depth = random.whole(1, 4);
  recipe.activation = random.one_of({Activation::relu, Activation::relu, Activation::gelu, Activation::tanh});
  recipe.norm = random.one_of({Norm::none, Norm::none, Norm::batch, Norm::layer});
  recipe.dropout = random.chance(0.35) ? random.one_of({0.05, 0.1, 0.2, 0.3}) : 0;
  switch (recipe.model) {
    case Model::perceptron:
      break;
    case Model::residual:
      recipe.residual = true;
      recipe.depth = random.whole(3, 8);
      recipe.norm = random.one_of({Norm::batch, Norm::layer, Norm::layer});
      break;
    case Model::convolutional:
      recipe.width = random.log_whole(6, 16);
      recipe.depth = random.whole(1, 3);
      recipe.activation = random.one_of({Activation::relu, Activation::gelu});
      recipe.norm = random.one_of({Norm::none, Norm::batch, Norm::batch});
      break;
    case Model::recurrent:
    case Model::lstm:
      recipe.width = random.log_whole(24, 64);
      recipe.depth = random.chance(0.75) ? 1 : 2;
      recipe.norm = Norm::none;
      recipe.activation = Activation::tanh;
      break;
    case Model::transformer:
      recipe.width = random.one_of({24L, 32L, 48L});
      recipe.depth = random.whole(1, 3);
      recipe.norm = Norm::layer;
      recipe.activation = random.one_of({Activation::gelu, Activation::relu});
      recipe.norm_first = random.chance(0.75);
      break;
  }
  if (recipe.task == Task::spiral) {
    recipe.width = std::max(recipe.width, 32L);
    recipe.depth = std::max(recipe.depth, 2L);
    recipe.dropout = 0;
  }
  if (recipe.task == Task::autoencoder)
    recipe.width = std::max(recipe.width, recipe.model == Model::perceptron ? 32L : 8L);
  if (recipe.outputs > 50 && recipe.task == Task::mixture) recipe.width = std::max(recipe.width, 64L);
  if (recipe.task == Task::regression || recipe.task == Task::autoencoder)
    recipe.dropout = random.chance(0.15) ? 0.05 : 0;
}

/// A rate that is good for the optimizer, model and batch.
double usual_rate(const Recipe& recipe) {
  constexpr std::array<double, 6> kRates = {0.1, 0.03, 2e-3, 2e-3, 1e-3, 5e-4};
  double rate = kRates[static_cast<std::size_t>(recipe.rule)];
  const bool plain = recipe.rule == Rule::sgd || recipe.rule == Rule::momentum;
  const double size = static_cast<double>(recipe.batch) / 64;
  rate *= plain ? std::clamp(size, 0.3, 2.0) : std::clamp(std::sqrt(size), 0.6, 1.6);
  if (recipe.model == Model::lstm) rate *= 2.5;
  if (recipe.model == Model::transformer) rate *= 1.5;
  if (recipe.model == Model::recurrent) rate *= plain ? 0.3 : 0.8;
  if (recipe.depth > 3) rate *= std::sqrt(3.0 / static_cast<double>(recipe.depth));
  if (plain && recipe.objective == Objective::squared) rate *= 0.4;
  if (plain && recipe.objective == Objective::gaussian) rate *= 0.2;
  if (plain && recipe.task == Task::tags) rate *= std::sqrt(static_cast<double>(recipe.outputs));
  if (recipe.schedule == Schedule::one_cycle) rate *= 1.4;
  return rate;
}

void draw_optimizer(Recipe& recipe, Random& random) {
  const bool adaptive = recipe.task == Task::autoencoder || recipe.task == Task::contrastive || recipe.outputs > 50 ||
                        recipe.task == Task::characters || recipe.task == Task::sequences ||
                        recipe.task == Task::spiral;
  recipe.rule = adaptive ? random.one_of({Rule::adam, Rule::adam, Rule::adamw, Rule::adamw, Rule::rmsprop, Rule::lion})
                         : random.one_of({Rule::sgd, Rule::momentum, Rule::momentum, Rule::adam, Rule::adam,
                                          Rule::adamw, Rule::rmsprop, Rule::lion});
  recipe.batch = random.log_whole(8, 256);
  if (random.chance(0.7))
    recipe.batch = 1L << static_cast<int>(std::lround(std::log2(static_cast<double>(recipe.batch))));
  if (recipe.task == Task::contrastive) recipe.batch = random.one_of({32L, 64L, 128L});
  if (recipe.model == Model::transformer || recipe.model == Model::lstm)
    recipe.batch = random.one_of({8L, 16L, 32L, 64L});
  if (recipe.norm == Norm::batch) recipe.batch = std::max(recipe.batch, 16L);
  recipe.schedule =
      random.one_of({Schedule::constant, Schedule::constant, Schedule::constant, Schedule::steps, Schedule::cosine,
                     Schedule::cosine, Schedule::linear, Schedule::warmup_cosine, Schedule::warmup_cosine,
                     Schedule::one_cycle, Schedule::exponential, Schedule::restarts});
  recipe.warmup = random.between(0.02, 0.12);
  const bool plain = recipe.rule == Rule::sgd || recipe.rule == Rule::momentum;
  recipe.rate = usual_rate(recipe) * random.log_between(1.0 / 3, plain ? 2.0 : 2.5);
  if (random.chance(0.5)) {
    const double digits = std::pow(10.0, std::floor(std::log10(recipe.rate)));
    recipe.rate = std::max(1.0, std::round(recipe.rate / digits)) * digits;
  }
  if (random.chance(0.5)) {
    recipe.weight_decay = recipe.rule == Rule::adamw || recipe.rule == Rule::lion ? random.log_between(1e-3, 0.1)
                                                                                  : random.log_between(1e-6, 3e-4);
  }
  if (random.chance(recipe.model == Model::perceptron ? 0.15 : 0.4)) recipe.clip = random.one_of({0.5, 1.0, 1.0, 5.0});
  if (recipe.model == Model::recurrent && recipe.clip == 0) recipe.clip = 1;
  if (recipe.objective == Objective::cross_entropy && random.chance(0.12))
    recipe.smoothing = random.one_of({0.05, 0.1});
  if (random.chance(0.08) && recipe.objective != Objective::contrastive) {
    recipe.sum = true;
    if (plain) recipe.rate /= static_cast<double>(recipe.batch);
    recipe.clip *= static_cast<double>(recipe.batch);
  }
}

void draw_length(Recipe& recipe, Random& random) {
  // Text is learned slowly: a short look at it would show nothing.
  const bool sequence = recipe.task == Task::characters || recipe.task == Task::sequences;
  const double seconds = sequence ? random.log_between(0.5, 1.6) : random.log_between(0.15, 0.9);
  recipe.steps = std::clamp(static_cast<long>(seconds / step_seconds(recipe)), 120L, 4000L);
  const bool small = recipe.rule == Rule::sgd || recipe.rate < 5e-4;
  if (small || sequence) recipe.steps = std::max(recipe.steps, 250L);
  // Passes over the data; few for language models, many for small sets.
  const bool text = recipe.task == Task::characters;
  const auto epochs = static_cast<double>(text ? random.log_whole(1, 5) : random.log_whole(3, 40));
  const double wanted = static_cast<double>(recipe.steps * recipe.batch) / epochs;
  const double least = std::max(400.0, 4.0 * static_cast<double>(recipe.outputs) * (text ? 0 : 1));
  recipe.samples = static_cast<long>(std::clamp(wanted, least, 12000.0));
  recipe.held_out = random.one_of({200L, 400L, 600L, 1000L});
  recipe.horizon = recipe.steps;
  recipe.evaluations = random.log_whole(6, 50);
  if (random.chance(0.08))
    recipe.steps = static_cast<long>(static_cast<double>(recipe.steps) * random.between(0.4, 0.9));
  if (random.chance(0.10)) recipe.patience = random.whole(4, 8);
  if (random.chance(0.06))
    recipe.resumed = static_cast<long>(static_cast<double>(recipe.steps) * random.between(0.3, 0.7));
  if (random.chance(0.2) && !text && recipe.task != Task::sequences) recipe.augment = random.log_between(0.05, 0.3);
}

}  // namespace

Recipe draw_recipe(std::uint64_t seed, Random& random) {
  std::array<double, kPairs.size()> weights{};
  std::transform(kPairs.begin(), kPairs.end(), weights.begin(), [](const Pair& pair) { return pair.weight; });
  const Pair pair = kPairs[random.weighted(weights)];
  Recipe recipe;
  recipe.seed = seed;
  recipe.task = pair.task;
  recipe.model = pair.model;
  draw_task(recipe, random);
  draw_model(recipe, random);
  draw_optimizer(recipe, random);
  draw_length(recipe, random);
  return recipe;
}

}  // namespace osler::population
