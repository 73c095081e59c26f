// Cases of gradient norms that vanish or explode.
#include <algorithm>
#include <cmath>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

const std::string kVanishing = "vanishing-gradients";
const std::string kExploding = "exploding-gradients";
const std::vector<std::string> kVanishingCauses = {"vanishing-signal", "saturation", "dead-units",
                                                   "bad-initialization"};
const std::vector<std::string> kExplodingCauses = {"no-clipping", "lr-too-high", "exploding-signal",
                                                   "bad-initialization"};
const std::vector<std::string> kFlat = {"loss-stuck-from-start", "loss-plateau", "loss-stuck-after-drop",
                                        "loss-too-slow", "underfitting"};
const std::vector<std::string> kUnstable = {"loss-spikes", "loss-diverging", "loss-oscillating", "late-loss-variance",
                                            "gradient-norm-oscillating"};

double falling(double x) {
  return 0.3 + 2.0 * std::exp(-4.0 * x);
}

Table vanished(simulate::Random& random) {
  Table table(random, 150, 10);
  return table.add("loss", 0.693, 0.006).add("grad_norm", 2e-11, 0.4).add("lr", 0.01);
}

Table vanishes(simulate::Random& random) {
  Table table(random, 250);
  table.add(
      "train_loss", [](double x) { return 2.0 + 0.3 * std::exp(-20.0 * x); }, 0.01);
  return table.add(
      "grad_norm", [](double x) { return std::pow(10.0, -10.0 * std::min(1.0, 1.4 * x)); }, 0.2);
}

Table vanished_epochs(simulate::Random& random) {
  Table table(random, 25, 1, 1);
  return table.add("train_loss", 4.1e3, 0.002).add("val_loss", 4.1e3, 0.001).add("grad_norm", 5e-9, 0.3);
}

Table exactly_zero(simulate::Random& random) {
  Table table(random, 60);
  return table.add("loss", 1.0986, 0.01).add("grad_norm", 0.0).add("lr", 0.05);
}

Table small_but_learning(simulate::Random& random) {
  Table table(random, 200, 5);
  return table.add("loss", falling, 0.03).add("grad_norm", 4e-4, 0.2);
}

Table small_scale(simulate::Random& random) {
  Table table(random, 200, 5);
  table.add(
      "loss", [](double x) { return 1e-6 * falling(x); }, 0.03);
  return table.add(
      "grad_norm", [](double x) { return 3e-6 * falling(x); }, 0.2);
}

Table ordinary_norms(simulate::Random& random) {
  Table table(random, 300, 10);
  return table.add("loss", falling, 0.03)
      .add(
          "grad_norm", [](double x) { return 0.9 - 0.4 * x; }, 0.25);
}

Table converged(simulate::Random& random) {
  Table table(random, 200);
  table.add(
      "loss", [](double x) { return std::max(1e-12, std::pow(10.0, -13.0 * x)); }, 0.05);
  return table.add(
      "grad_norm", [](double x) { return std::max(1e-9, std::pow(10.0, -9.0 * x)); }, 0.2);
}

Table grows(simulate::Random& random) {
  Table table(random, 200, 10);
  table.add(
      "train_loss", [](double x) { return falling(x) * (1.0 + 2.0 * std::pow(std::max(0.0, x - 0.4), 2.0)); }, 0.02);
  return table.add(
      "grad_norm", [](double x) { return x < 0.4 ? 1.2 : 1.2 * std::pow(10.0, 7.0 * (x - 0.4)); }, 0.2);
}

Table bursts(simulate::Random& random) {
  Table table(random, 300);
  simulate::Levels norms(300, 0.7);
  simulate::Levels loss = simulate::rows_of(table.axis(), [](double x) { return 0.5 + 2.5 * std::exp(-2.0 * x); });
  for (std::size_t row = 11; row < norms.size(); row += static_cast<std::size_t>(random.integer(9, 25))) {
    norms[row] *= random.log_uniform(800.0, 5e4);
    if (row + 1 < loss.size()) loss[row + 1] *= 1.5;
  }
  return table.put("loss", loss, 0.03).put("grad_norm", norms, 0.25);
}

Table from_start(simulate::Random& random) {
  Table table(random, 80);
  simulate::Levels norms(80);
  for (double& norm : norms) norm = 4e6 * std::exp(0.9 * random.normal());
  return table.add("loss", 2.9, 0.1).put("grad_norm", norms).add("lr", 0.01);
}

Table small_runaway(simulate::Random& random) {
  Table table(random, 160, 5);
  table.add(
      "loss", [](double x) { return 1e-5 * falling(x) * (x < 0.5 ? 1.0 : std::exp(3.0 * (x - 0.5))); }, 0.03);
  return table.add(
      "grad_norm", [](double x) { return x < 0.5 ? 1e-5 : 1e-5 * std::pow(10.0, 9.0 * (x - 0.5)); }, 0.2);
}

Table large_but_steady(simulate::Random& random) {
  Table table(random, 200, 10);
  table.add(
      "loss", [](double x) { return 4e3 * falling(x); }, 0.03);
  return table.add(
      "grad_norm", [](double x) { return 600.0 + 200.0 * std::exp(-5.0 * x); }, 0.15);
}

Table large_first_norms(simulate::Random& random) {
  Table table(random, 300, 10);
  table.add(
      "loss", [](double x) { return 3.2 + 7.5 * std::pow(1.0 + 100.0 * x, -0.8); }, 0.01);
  return table.add(
      "grad_norm", [](double x) { return 0.5 + 30.0 * std::exp(-150.0 * x); }, 0.15);
}

Table heavy_tail(simulate::Random& random) {
  Table table(random, 300);
  simulate::Levels norms(300);
  for (double& norm : norms) norm = 0.8 * std::exp(0.35 * random.heavy());
  return table.add("loss", falling, 0.05).put("grad_norm", norms);
}

Table slow_growth(simulate::Random& random) {
  Table table(random, 200, 10);
  return table.add("loss", falling, 0.02)
      .add(
          "grad_norm", [](double x) { return 0.5 * std::exp(2.5 * x); }, 0.2);
}

}  // namespace

Recipes gradient_recipes() {
  return {
      sick(kVanishing, "from-start", "Norms of 2e-11 and a loss glued to ln 2.", vanished, kVanishingCauses, kFlat),
      sick(kVanishing, "decay", "The norm loses ten decades and the loss stops with it.", vanishes, kVanishingCauses,
           kFlat),
      sick(kVanishing, "epochs", "Twenty-five epochs at a loss of 4.1e3 with norms of 5e-9.", vanished_epochs,
           kVanishingCauses, kFlat),
      sick(kVanishing, "exactly-zero", "The norm is zero on every step.", exactly_zero,
           {"dead-units", "disconnected-graph", "frozen-parameters", "vanishing-signal"}, kFlat),
      healthy(kVanishing, "small-but-learning", "Norms of 4e-4 on a run that learns well.", small_but_learning),
      healthy(kVanishing, "small-scale", "Norms near 1e-6 because the loss itself is near 1e-6.", small_scale),
      healthy(kVanishing, "ordinary", "Norms of order one that shrink slowly.", ordinary_norms),
      borderline(kVanishing, "converged", "Noise-free regression: the norm vanishes because the loss does.", converged,
                 {"loss-plateau"}),

      between(sick(kExploding, "growth", "From 1.2 to 2e4 over the last 60 %.", grows, kExplodingCauses, kUnstable),
              700, 1500),
      sick(kExploding, "bursts", "Every ten to twenty-five steps a norm a thousand times the usual.", bursts,
           {"no-clipping", "lr-too-high", "exploding-signal", "bad-batches"}, kUnstable),
      sick(kExploding, "from-start", "Norms of millions from the first step, and no progress.", from_start,
           kExplodingCauses,
           {"loss-spikes", "loss-oscillating", "late-loss-variance", "gradient-norm-oscillating",
            "loss-stuck-from-start", "loss-plateau", "underfitting"}),
      between(sick(kExploding, "small-scale", "A loss near 1e-5 whose norm runs away from 1e-5 to 0.3.", small_runaway,
                   kExplodingCauses, kUnstable),
              350, 620),
      healthy(kExploding, "large-but-steady", "Norms of 600 all along: a summed loss, not an explosion.",
              large_but_steady),
      healthy(kExploding, "large-first", "The first norms of a language model are large and gone at once.",
              large_first_norms),
      healthy(kExploding, "heavy-tail", "Occasional norms of three times the usual.", heavy_tail),
      borderline(kExploding, "slow-growth", "Grows twelvefold over the run while the loss keeps falling.", slow_growth),
  };
}

}  // namespace osler::cases
