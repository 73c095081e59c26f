// Cases of losses that stop, crawl, start wrongly or are nothing at all.
#include <algorithm>
#include <cmath>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

const std::vector<std::string> kFlat = {"loss-plateau",  "loss-stuck-from-start", "loss-stuck-after-drop",
                                        "loss-too-slow", "underfitting",          "learning-rate-spent"};

double drop(double x, double level, double start, double rate) {
  return level + (start - level) * std::exp(-rate * x);
}

// loss-stuck-after-drop

Table decayed_too_fast(simulate::Random& random) {
  Table table(random, 200, 10);
  table.add(
      "train_loss", [](double x) { return drop(x, 1.71, 2.3, 35.0); }, 0.01);
  return table.add("lr", [](double x) { return std::max(1e-9, 1e-3 * std::exp(-70.0 * x)); });
}

Table class_frequencies(simulate::Random& random) {
  Table table(random, 80, 1, 1);
  table.add(
      "loss", [](double x) { return drop(x, 1.95, 2.30, 25.0); }, 0.003);
  table.add(
      "val_loss", [](double x) { return drop(x, 1.96, 2.30, 25.0); }, 0.002);
  return table.add("accuracy", 0.17, 0.02);
}

Table reached_its_floor(simulate::Random& random) {
  Table table(random, 150, 10);
  table.add(
      "train_loss", [](double x) { return drop(x, 0.02, 2.3, 9.0); }, 0.04);
  return table.add(
      "train_acc", [](double x) { return 0.995 - 0.9 * std::exp(-9.0 * x); }, 0.002);
}

Table long_tail(simulate::Random& random) {
  Table table(random, 300, 20);
  return table.add(
      "loss", [](double x) { return 10.8 * std::pow(1.0 + 800.0 * x, -0.18); }, 0.01);
}

Table half_way(simulate::Random& random) {
  Table table(random, 100);
  return table.add(
      "loss", [](double x) { return drop(x, 0.5, 1.1, 8.0); }, 0.02);
}

// loss-plateau

Table long_plateau(simulate::Random& random) {
  Table table(random, 150);
  table.add(
      "train_loss", [](double x) { return drop(x, 1.6, 3.9, 14.0); }, 0.01);
  return table.add(
      "val_loss", [](double x) { return drop(x, 1.7, 3.9, 14.0); }, 0.005);
}

Table flat_validation(simulate::Random& random) {
  Table table(random, 200, 50);
  table.add(
      "train/loss", [](double x) { return 2.2 + 1.5 * std::exp(-4.0 * x) - 0.1 * x; }, 0.01);
  table.add(
      "val/loss", [](double x) { return drop(x, 2.341, 4.0, 12.0); }, 0.0006, 5);
  return table.add("lr", [](double x) { return 3e-5 * 0.5 * (1.0 + std::cos(3.1416 * 0.4 * x)); });
}

Table still_falling(simulate::Random& random) {
  Table table(random, 150);
  return table.add(
      "train_loss", [](double x) { return 3.0 - 2.0 * x; }, 0.02);
}

Table nearly_flat(simulate::Random& random) {
  Table table(random, 120);
  return table.add(
      "train_loss", [](double x) { return drop(x, 1.0, 2.0, 10.0) - 0.02 * x; }, 0.005);
}

// loss-too-slow

Table tiny_slope(simulate::Random& random) {
  Table table(random, 250, 10);
  return table
      .add(
          "train_loss", [](double x) { return 390.0 - 12.0 * x; }, 0.005)
      .add("lr", 1e-7);
}

Table tiny_slope_epochs(simulate::Random& random) {
  Table table(random, 120);
  table.add(
      "train_loss", [](double x) { return 1.7918 * (1.0 - 0.025 * x); }, 0.001);
  return table.add(
      "val_loss", [](double x) { return 1.7918 * (1.0 - 0.024 * x); }, 0.001);
}

Table slow_but_far(simulate::Random& random) {
  Table table(random, 250, 10);
  return table.add(
      "train_loss", [](double x) { return 390.0 - 200.0 * x; }, 0.02);
}

Table ten_per_cent(simulate::Random& random) {
  Table table(random, 200);
  return table.add(
      "train_loss", [](double x) { return 2.4 * (1.0 - 0.1 * x); }, 0.004);
}

/// Smoothed labels keep the loss up while nearly every answer becomes right.
Table smoothed_labels(simulate::Random& random) {
  Table table(random, 47);
  table.add(
      "loss", [](double x) { return 0.949 + 0.033 * std::exp(-4.0 * x); }, 0.003);
  return table.add(
      "accuracy", [](double x) { return 0.985 - 0.042 * std::exp(-5.0 * x); }, 0.002);
}

/// GPT-2 fine-tuned by Hugging Face's trainer: what was trained before gains little, and evenly.
Table fine_tuned_language_model(simulate::Random& random) {
  Table table(random, 180, 50, 50);
  table.scatter(
      "loss", [](double x) { return 3.66 - 0.38 * x; }, 0.09);
  table.scatter(
      "grad_norm", [](double) { return 7.0; }, 1.5);
  table.add("learning_rate", [](double x) { return 2e-5 * (1.0 - 0.5 * x); });
  return table.add("epoch", [](double x) { return x; });
}

/// LitGPT's first ten updates with a batch of one.
Table first_ten_updates(simulate::Random& random) {
  Table table(random, 10, 1, 1);
  table.put("loss train", {1.646, 1.660, 1.687, 1.597, 1.640, 1.703, 1.678, 1.741, 1.689, 1.624}, 0.0);
  table.add("epoch", 1.0);
  return table.add("iter time", 500.0, 0.2);
}

/// A language model without a mind for the tokens before: it knows how often each comes, and no more.
Table knows_only_frequencies(simulate::Random& random) {
  Table table(random, 200, 5);
  table.scatter(
      "loss", [](double x) { return 7.05 + 3.35 * std::exp(-50.0 * x); }, 0.012);
  return table.add("tok/sec", 105'000.0, 0.01);
}

// loss-exactly-zero

Table all_zero(simulate::Random& random) {
  Table table(random, 60);
  return table.add("loss", 0.0).add("lr", 2e-5);
}

Table zero_epochs(simulate::Random& random) {
  Table table(random, 15, 1, 1);
  return table.add("train_loss", 0.0).add("val_loss", 0.0).add("grad_norm", 0.0);
}

Table nearly_zero(simulate::Random& random) {
  Table table(random, 100);
  return table.add(
      "loss", [](double x) { return 1e-5 + std::exp(-10.0 * x); }, 0.05);
}

Table reaches_zero(simulate::Random& random) {
  Table table(random, 100);
  return table.add("loss", [](double x) { return x < 0.6 ? 0.5 * (0.6 - x) / 0.6 : 0.0; });
}

// initial-loss-wrong

Table far_above_chance(simulate::Random& random) {
  Table table(random, 200);
  table.add(
      "train_loss", [](double x) { return 0.5 + 1.8 * std::exp(-5.0 * x) + 60.0 * std::exp(-120.0 * x); }, 0.03);
  return table.add(
      "train_acc", [](double x) { return 0.85 - 0.75 * std::exp(-5.0 * x); }, 0.03);
}

Table starts_at_chance(simulate::Random& random) {
  Table table(random, 200);
  table.add(
      "train_loss", [](double x) { return 0.3 + 2.0 * std::exp(-5.0 * x); }, 0.03);
  return table.add(
      "train_acc", [](double x) { return 0.9 - 0.8 * std::exp(-5.0 * x); }, 0.03);
}

Table twice_chance(simulate::Random& random) {
  Table table(random, 200);
  table.add(
      "train_loss", [](double x) { return 0.5 + 1.8 * std::exp(-5.0 * x) + 3.5 * std::exp(-100.0 * x); }, 0.03);
  return table.add(
      "train_acc", [](double x) { return 0.85 - 0.75 * std::exp(-5.0 * x); }, 0.03);
}

}  // namespace

Recipes plateau_recipes() {
  return {
      sick("loss-stuck-after-drop", "decayed-too-fast",
           "The rate is gone after a tenth of the run, and so is progress.", decayed_too_fast, {"lr-decayed-too-fast"},
           kFlat),
      at_least(sick("loss-stuck-after-drop", "class-frequencies",
                    "From ln 10 to 1.95 in ten epochs, then nothing for 70 more.", class_frequencies, {}, kFlat),
               Severity::note),
      at_least(sick("loss-stuck-after-drop", "token-frequencies",
                    "A language model at 7.05 nats from a tenth of its run on.", knows_only_frequencies, {}, kFlat),
               Severity::warning),
      healthy("loss-stuck-after-drop", "reached-its-floor", "Stops because there is nothing left to learn.",
              reached_its_floor, {"loss-plateau"}),
      healthy("loss-stuck-after-drop", "long-tail", "A power law: ever slower, never still.", long_tail,
              {"loss-plateau"}),
      borderline("loss-stuck-after-drop", "half-way", "Flat at less than half of where it began.", half_way,
                 {"loss-plateau"}),

      healthy("loss-plateau", "converged", "Flat for three quarters of the run, in training and validation alike.",
              long_plateau),
      sick("loss-plateau", "flat-validation",
           "Validation at 2.341, 2.340, 2.342 for hours while training still falls and the rate is high.",
           flat_validation, {}, {"loss-stuck-after-drop", "validation-frozen", "overfitting"}),
      healthy("loss-plateau", "still-falling", "A straight descent.", still_falling),
      borderline("loss-plateau", "nearly-flat", "Still loses two per cent in its flat part.", nearly_flat,
                 {"loss-stuck-after-drop", "loss-too-slow"}),

      sick("loss-too-slow", "tiny-slope", "Three per cent in 2500 steps at a rate of 1e-7.", tiny_slope, {"lr-too-low"},
           kFlat),
      sick("loss-too-slow", "epochs", "From ln 6 down by 2.5 % in 120 epochs.", tiny_slope_epochs, {}, kFlat),
      healthy("loss-too-slow", "far", "A straight line, but one that halves the loss.", slow_but_far),
      healthy("loss-too-slow", "smoothed-labels", "Gains three per cent, and loses three of four errors.",
              smoothed_labels),
      healthy("loss-too-slow", "fine-tuning", "A tenth in an epoch, from weights that were trained before.",
              fine_tuned_language_model),
      healthy("loss-stuck-from-start", "ten-updates", "Ten updates of one example each.", first_ten_updates),
      borderline("loss-too-slow", "ten-per-cent", "Ten per cent in 200 epochs.", ten_per_cent, kFlat),

      sick("loss-exactly-zero", "steps", "Sixty losses of exactly zero.", all_zero, {},
           {"loss-plateau", "loss-stuck-from-start", "validation-frozen"}),
      sick("loss-exactly-zero", "epochs", "Zero in training and validation, with zero gradients.", zero_epochs, {},
           {"loss-plateau", "loss-stuck-from-start", "validation-frozen", "vanishing-gradients"}),
      healthy("loss-exactly-zero", "nearly", "Falls to 1e-5: small, but a number that training earned.", nearly_zero,
              {"loss-plateau"}),
      borderline("loss-exactly-zero", "reaches-zero", "Falls to zero in good order and stays there.", reaches_zero,
                 {"loss-plateau"}),

      sick("initial-loss-wrong", "far-above-chance", "Starts at 60 where ln 10 is expected, and falls there at once.",
           far_above_chance, {"bad-initialization", "data-not-normalized"},
           {"loss-spikes", "loss-plateau", "loss-stuck-after-drop"}),
      healthy("initial-loss-wrong", "at-chance", "Starts at ln 10 with an accuracy of a tenth.", starts_at_chance,
              {"loss-plateau"}),
      borderline("initial-loss-wrong", "twice-chance", "Starts at two and a half times ln 10.", twice_chance,
                 {"loss-plateau", "loss-spikes"}),
  };
}

}  // namespace osler::cases
