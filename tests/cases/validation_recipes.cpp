// Cases of validation that parts from training.
#include <algorithm>
#include <cmath>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

const std::string kOverfitting = "overfitting";
const std::vector<std::string> kCauses = {"too-little-data", "model-too-large"};
const std::vector<std::string> kToo = {"overconfidence", "loss-plateau"};

/// A valley with its bottom at `at` and a rise to `end`.
double valley(double x, double start, double bottom, double at, double end) {
  return x < at ? bottom + (start - bottom) * std::pow((at - x) / at, 2.0)
                : bottom + (end - bottom) * (x - at) / (1.0 - at);
}

Table classic(simulate::Random& random) {
  Table table(random, 50, 1, 1);
  table.add(
      "loss", [](double x) { return 0.02 + 2.2 * std::exp(-5.0 * x); }, 0.02);
  return table.add(
      "val_loss", [](double x) { return valley(x, 2.2, 0.9, 0.3, 1.7); }, 0.015);
}

Table short_valley(simulate::Random& random) {
  Table table(random, 14, 1, 1);
  return table.put("train_loss", {0.69, 0.61, 0.52, 0.44, 0.37, 0.30, 0.24, 0.19, 0.15, 0.12, 0.09, 0.07, 0.055, 0.045})
      .put("val_loss", {0.68, 0.62, 0.56, 0.53, 0.525, 0.54, 0.56, 0.60, 0.63, 0.68, 0.72, 0.77, 0.81, 0.86});
}

Table answers_alone(simulate::Random& random) {
  Table table(random, 30, 1, 1);
  table.add(
      "train_acc", [](double x) { return 1.0 - 0.7 * std::exp(-6.0 * x); }, 0.003);
  return table.add("test_acc", 0.31, 0.04);
}

Table answers_follow(simulate::Random& random) {
  Table table(random, 30, 1, 1);
  table.add(
      "train_acc", [](double x) { return 1.0 - 0.7 * std::exp(-6.0 * x); }, 0.003);
  return table.add(
      "test_acc", [](double x) { return 0.78 - 0.5 * std::exp(-6.0 * x); }, 0.01);
}

Table sparse(simulate::Random& random) {
  Table table(random, 400, 10);
  table.add(
      "train/loss", [](double x) { return 1.1 + 3.0 * std::exp(-3.0 * x); }, 0.05);
  table.add(
      "val/loss", [](double x) { return valley(x, 4.0, 2.4, 0.35, 3.4); }, 0.006, 20);
  return table.add("lr", [](double x) { return 3e-4 * (1.0 - 0.9 * x); });
}

Table noisy(simulate::Random& random) {
  Table table(random, 200);
  table.add(
      "train_loss_epoch", [](double x) { return 0.05 + 1.3 * std::exp(-4.0 * x); }, 0.05);
  return table.add(
      "val_loss", [](double x) { return valley(x, 1.4, 0.95, 0.2, 2.6); }, 0.15);
}

Table regression(simulate::Random& random) {
  Table table(random, 150, 1, 1);
  table.add(
      "train_mse", [](double x) { return 1e-4 * (0.1 + std::exp(-6.0 * x)); }, 0.03);
  return table.add(
      "val_mse", [](double x) { return 1e-4 * valley(x, 1.1, 0.4, 0.25, 0.75); }, 0.02);
}

Table late(simulate::Random& random) {
  Table table(random, 120);
  table.add(
      "train_loss", [](double x) { return 200.0 + 1800.0 * std::exp(-3.5 * x); }, 0.01);
  return table.add(
      "val_loss", [](double x) { return valley(x, 2100.0, 820.0, 0.65, 1150.0); }, 0.01);
}

Table gap_only(simulate::Random& random) {
  Table table(random, 60, 1, 1);
  table.add(
      "loss", [](double x) { return 0.05 + 2.2 * std::exp(-5.0 * x); }, 0.02);
  return table.add(
      "val_loss", [](double x) { return 0.6 + 1.6 * std::exp(-7.0 * x); }, 0.006);
}

Table noisy_validation(simulate::Random& random) {
  Table table(random, 80);
  table.add(
      "train_loss", [](double x) { return 0.4 + 1.0 * std::exp(-4.0 * x); }, 0.01);
  return table.add(
      "val_loss", [](double x) { return 0.5 + 0.9 * std::exp(-4.0 * x); }, 0.08);
}

Table dropout(simulate::Random& random) {
  Table table(random, 100);
  table.add(
      "train_loss", [](double x) { return 0.6 + 1.6 * std::exp(-4.0 * x); }, 0.01);
  return table.add(
      "val_loss", [](double x) { return 0.45 + 1.5 * std::exp(-4.0 * x); }, 0.01);
}

Table late_generalisation(simulate::Random& random) {
  Table table(random, 200, 100);
  table.add(
      "train_loss", [](double x) { return 0.01 + 4.0 * std::exp(-25.0 * x); }, 0.03);
  return table.add(
      "val_loss", [](double x) { return 4.2 - 4.15 / (1.0 + std::exp(-(x - 0.6) / 0.04)); }, 0.02);
}

Table mild(simulate::Random& random) {
  Table table(random, 60, 1, 1);
  table.add(
      "loss", [](double x) { return 0.2 + 1.5 * std::exp(-4.0 * x); }, 0.01);
  return table.add(
      "val_loss", [](double x) { return valley(x, 1.6, 0.700, 0.6, 0.721); }, 0.006);
}

}  // namespace

Recipes validation_recipes() {
  return {
      between(sick(kOverfitting, "classic", "Validation best at epoch 15 of 50, then nearly doubled.", classic, kCauses,
                   kToo),
              10, 25),
      between(sick(kOverfitting, "short", "Fourteen epochs, best at the fifth.", short_valley, kCauses, kToo), 4, 8),
      sick(kOverfitting, "answers-alone", "All of training is right, a third of the test set from the first epoch on.",
           answers_alone, {}, kToo),
      healthy(kOverfitting, "answers-follow", "All of training is right, and 78 % of the test set.", answers_follow),
      between(sick(kOverfitting, "sparse-validation", "Twenty validations beside 400 rows of training.", sparse,
                   kCauses, kToo),
              1000, 2200),
      sick(kOverfitting, "noisy", "The rise is real although single epochs scatter by 15 %.", noisy, kCauses,
           {"overconfidence", "loss-plateau", "loss-oscillating", "late-loss-variance"}),
      between(sick(kOverfitting, "regression", "Squared errors near 1e-4; validation nearly doubles from its best.",
                   regression, kCauses, kToo),
              25, 70),
      between(sick(kOverfitting, "late", "Losses near 1e3; validation turns at two thirds.", late, kCauses, kToo), 65,
              95),
      healthy(kOverfitting, "gap-only", "A wide gap, but validation never rises.", gap_only, {"loss-plateau"}),
      healthy(kOverfitting, "noisy-validation", "A small validation set that scatters without a trend.",
              noisy_validation, {"loss-plateau"}),
      healthy(kOverfitting, "dropout", "Validation below training all along.", dropout,
              {"validation-better-than-training", "loss-plateau"}),
      healthy(kOverfitting, "late-generalisation", "Validation falls long after training did.", late_generalisation,
              {"loss-plateau"}),
      borderline(kOverfitting, "mild", "Up by three per cent from its best.", mild, {"loss-plateau", "overconfidence"}),
  };
}

}  // namespace osler::cases
