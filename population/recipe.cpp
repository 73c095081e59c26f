// What follows from a recipe without training it: words, families, rates, costs.
#include "recipe.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace osler::population {

std::string_view word(Task task) {
  constexpr std::array<std::string_view, 12> kWords = {"mixture",     "teacher",     "spiral",     "images",
                                                       "binary",      "tags",        "margin",     "regression",
                                                       "autoencoder", "contrastive", "characters", "sequences"};
  return kWords[static_cast<std::size_t>(task)];
}

std::string_view word(Model model) {
  constexpr std::array<std::string_view, 6> kWords = {"perceptron", "residual", "convolutional",
                                                      "recurrent",  "lstm",     "transformer"};
  return kWords[static_cast<std::size_t>(model)];
}

std::string_view word(Rule rule) {
  constexpr std::array<std::string_view, 6> kWords = {"sgd", "momentum", "adam", "adamw", "rmsprop", "lion"};
  return kWords[static_cast<std::size_t>(rule)];
}

std::string_view word(Schedule schedule) {
  constexpr std::array<std::string_view, 8> kWords = {"constant",      "step",      "cosine",      "linear",
                                                      "warmup-cosine", "one-cycle", "exponential", "warm-restarts"};
  return kWords[static_cast<std::size_t>(schedule)];
}

std::string_view word(Metric metric) {
  constexpr std::array<std::string_view, 6> kWords = {"none", "accuracy", "auc", "f1", "r2", "perplexity"};
  return kWords[static_cast<std::size_t>(metric)];
}

std::string_view word(Objective objective) {
  constexpr std::array<std::string_view, 8> kWords = {"cross-entropy", "binary-cross-entropy", "hinge",   "mse", "mae",
                                                      "huber",         "gaussian-nll",         "info-nce"};
  return kWords[static_cast<std::size_t>(objective)];
}

std::string_view word(Norm norm) {
  constexpr std::array<std::string_view, 3> kWords = {"none", "batch-norm", "layer-norm"};
  return kWords[static_cast<std::size_t>(norm)];
}

std::string_view word(Activation activation) {
  constexpr std::array<std::string_view, 4> kWords = {"relu", "gelu", "tanh", "sigmoid"};
  return kWords[static_cast<std::size_t>(activation)];
}

std::string family(const Recipe& recipe) {
  return std::string(word(recipe.task)) + '-' + std::string(word(recipe.model));
}

bool is_for_learning(std::string_view family) {
  // Chosen once, before any run was trained, so that each kind of task and each kind of model stands on both sides.
  constexpr std::array<std::string_view, 10> kLeftOut = {
      "teacher-perceptron",     "images-convolutional", "binary-residual",        "tags-perceptron",
      "margin-residual",        "regression-residual",  "autoencoder-perceptron", "contrastive-convolutional",
      "characters-transformer", "sequences-lstm"};
  return std::find(kLeftOut.begin(), kLeftOut.end(), family) == kLeftOut.end();
}

bool has_classes(const Recipe& recipe) {
  return recipe.objective == Objective::cross_entropy ||
         (recipe.objective == Objective::hinge && recipe.task == Task::margin);
}

double chance_loss(const Recipe& recipe) {
  if (recipe.objective == Objective::cross_entropy) return std::log(static_cast<double>(recipe.outputs));
  if (recipe.objective == Objective::binary) return std::log(2.0);
  return 0;
}

long epoch_steps(const Recipe& recipe) {
  return std::max(1L, recipe.samples / recipe.batch);
}

double rate_at(const Recipe& recipe, long step) {
  constexpr double kPi = 3.14159265358979323846;
  if (recipe.rate_zero_from > 0 && step >= recipe.rate_zero_from) return 0;
  const bool again = recipe.schedule_lost && recipe.resumed > 0 && step >= recipe.resumed;
  const double passed = static_cast<double>(again ? step - recipe.resumed : step) * recipe.schedule_pace;
  const double share = std::min(1.0, passed / static_cast<double>(std::max(1L, recipe.horizon)));
  const auto warm = [&](double length) { return (passed + 1) / (length * static_cast<double>(recipe.horizon) + 1); };
  switch (recipe.schedule) {
    case Schedule::constant:
      return recipe.rate;
    case Schedule::steps:
      return recipe.rate * std::pow(0.2, std::floor(share * 3.001));
    case Schedule::cosine:
      return recipe.rate * 0.5 * (1 + std::cos(kPi * share));
    case Schedule::linear:
      return recipe.rate * (1 - share);
    case Schedule::warmup_cosine:
      if (share < recipe.warmup) return recipe.rate * std::min(1.0, warm(recipe.warmup));
      return recipe.rate * (0.05 + 0.475 * (1 + std::cos(kPi * (share - recipe.warmup) / (1 - recipe.warmup))));
    case Schedule::one_cycle:
      if (share < 0.3) return recipe.rate * (0.04 + 0.96 * share / 0.3);
      return recipe.rate * (1e-4 + 0.5 * (1 + std::cos(kPi * (share - 0.3) / 0.7)));
    case Schedule::exponential:
      return recipe.rate * std::pow(0.05, share);
    case Schedule::restarts: {
      const double within = share >= 1 ? 1.0 : share * 3 - std::floor(share * 3);
      return recipe.rate * (0.02 + 0.49 * (1 + std::cos(kPi * within)));
    }
  }
  return recipe.rate;
}

double step_seconds(const Recipe& recipe) {
  // Fitted by eye to a few hundred trainings on one core; only the length of runs depends on it.
  const auto batch = static_cast<double>(recipe.batch);
  const auto width = static_cast<double>(recipe.width);
  const auto depth = static_cast<double>(recipe.depth);
  const auto length = static_cast<double>(recipe.length);
  const auto inputs = static_cast<double>(recipe.inputs);
  const auto outputs = static_cast<double>(recipe.outputs);
  const double fixed = 1.2e-4;
  const double speed = 8e9;
  switch (recipe.model) {
    case Model::perceptron:
    case Model::residual:
      return fixed + depth * 8e-5 + batch * 6 * (inputs * width + depth * width * width + width * outputs) / speed;
    case Model::convolutional:
      return fixed + depth * 2e-4 + batch * 6 * 9 * width * inputs * (1 + (depth - 1) * width / 4) / (speed / 4);
    case Model::recurrent:
      return fixed + depth * length * 3e-5 + batch * length * 6 * (2 * depth * width * width + width * outputs) / speed;
    case Model::lstm:
      return fixed + depth * length * 6e-5 + batch * length * 6 * (8 * depth * width * width + width * outputs) / speed;
    case Model::transformer:
      return fixed + depth * 7e-4 +
             batch * length * 6 * (depth * (8 * width * width + length * width) + width * outputs) / speed;
  }
  return fixed;
}

}  // namespace osler::population
