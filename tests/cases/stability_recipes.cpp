// Cases of losses that swing.
#include <cmath>
#include <numbers>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

const std::string kOscillating = "loss-oscillating";
const std::vector<std::string> kSwinging = {"late-loss-variance",        "loss-spikes",           "loss-plateau",
                                            "loss-stuck-from-start",     "loss-stuck-after-drop", "epoch-sawtooth",
                                            "gradient-norm-oscillating", "underfitting"};

double wave(double x, double periods) {
  return std::sin(2.0 * std::numbers::pi * periods * x);
}

Table every_other_step(simulate::Random& random) {
  Table table(random, 120);
  simulate::Levels loss(120);
  for (std::size_t row = 0; row < loss.size(); ++row) loss[row] = row % 2 == 0 ? 1.9 : 0.8;
  return table.put("loss", loss, 0.08).add("lr", 1.0);
}

Table limit_cycle(simulate::Random& random) {
  Table table(random, 300, 20);
  return table
      .add(
          "train_loss", [](double x) { return 2.2 * (1.0 + 0.35 * wave(x, 18.0)); }, 0.03)
      .add("lr", 0.3);
}

Table late_swings(simulate::Random& random) {
  Table table(random, 240);
  table.add(
      "train_loss",
      [](double x) {
        const double base = 0.4 + 1.9 * std::exp(-7.0 * x);
        return base * (1.0 + (x < 0.55 ? 0.0 : std::min(0.45, 2.0 * (x - 0.55))) * wave(x, 40.0));
      },
      0.02);
  return table.add("lr", 0.02);
}

Table tiny_swings(simulate::Random& random) {
  Table table(random, 100, 1, 1);
  return table.add(
      "loss", [](double x) { return 2.5e-4 * (1.0 + 0.5 * wave(x, 14.0)); }, 0.05);
}

Table large_bounces(simulate::Random& random) {
  Table table(random, 80);
  simulate::Levels loss(80);
  double side = 1;
  for (double& value : loss) {
    value = 3e4 * (1.0 + side * random.uniform(0.3, 0.6));
    if (random.chance(0.85)) side = -side;
  }
  return table.put("train_loss", loss).add("lr", 0.1);
}

Table learned_in_the_first_epoch(simulate::Random& random) {
  Table table(random, 50);
  table.add(
      "loss", [](double x) { return 0.0012 + 0.3 * std::exp(-40.0 * x); }, 0.03);
  simulate::Levels validation(50);
  for (double& value : validation) value = 0.0018 * std::exp(0.65 * random.normal());
  return table.put("val_loss", validation);
}

Table single_samples(simulate::Random& random) {
  Table table(random, 400);
  return table.add(
      "loss", [](double x) { return 0.3 + 2.0 * std::exp(-4.0 * x); }, 0.4);
}

Table smoothed_noise(simulate::Random& random) {
  Table table(random, 300, 10);
  simulate::Levels loss = simulate::rows_of(table.axis(), [](double x) { return 2.0 + 4.0 * std::exp(-5.0 * x); });
  loss = simulate::smoothed(
      simulate::scattered(loss, {simulate::Noise::Kind::gaussian, 0.1, 0, 0, 0}, table.axis(), random), 0.9);
  return table.put("loss", loss);
}

Table cyclic_rate(simulate::Random& random) {
  Table table(random, 240);
  const auto rate = [](double x) { return 0.5 * (1.0 + wave(x, 5.0)); };
  table.add(
      "train_loss", [&](double x) { return 0.3 + 2.0 * std::exp(-4.0 * x) + 0.12 * rate(x); }, 0.02);
  return table.add("lr", [&](double x) { return 1e-3 + 9e-3 * rate(x); });
}

Table damped(simulate::Random& random) {
  Table table(random, 200);
  return table.add(
      "loss",
      [](double x) { return 0.5 + 1.5 * std::exp(-5.0 * x) * (1.0 + 0.5 * std::exp(-6.0 * x) * wave(x, 30.0)); }, 0.02);
}

}  // namespace

Recipes stability_recipes() {
  return {
      sick(kOscillating, "every-other-step", "High, low, high, low around 1.35 for 120 steps.", every_other_step,
           {"lr-too-high", "batch-too-small"}, kSwinging),
      sick(kOscillating, "limit-cycle", "Eighteen waves of 35 % and no progress.", limit_cycle, {"lr-too-high"},
           kSwinging),
      qualified(between(sick(kOscillating, "late-swings", "A good descent whose second half swings ever wider.",
                             late_swings, {"lr-too-high"}, kSwinging),
                        120, 200),
                "extent", "late"),
      sick(kOscillating, "tiny", "A loss near 2.5e-4 in waves of half its size, one row per epoch.", tiny_swings, {},
           kSwinging),
      sick(kOscillating, "large-bounces", "Between 1.5e4 and 4.5e4, row by row.", large_bounces,
           {"lr-too-high", "batch-too-small"}, kSwinging),
      healthy(kOscillating, "learned-at-once",
              "Nearly all is learned in the first epochs; a tiny validation loss wobbles.", learned_in_the_first_epoch),
      healthy(kOscillating, "single-samples", "Batches of one: noise of 40 % on a steady descent.", single_samples),
      healthy(kOscillating, "smoothed-noise", "A moving average makes slow waves of plain noise.", smoothed_noise),
      healthy(kOscillating, "cyclic-rate", "The loss follows a cyclic learning rate on its way down.", cyclic_rate),
      borderline(kOscillating, "damped", "Swings at the start that die out while the loss falls.", damped,
                 {"loss-spikes", "loss-plateau"}),
  };
}

}  // namespace osler::cases
