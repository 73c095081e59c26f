// Cases in which the loss stops being a number, and logs that only look like it.
#include <cmath>
#include <limits>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::string kStart = "loss-nonfinite-at-start";
const std::string kLater = "loss-nonfinite-later";
const std::vector<std::string> kSudden = {"log-of-zero",  "division-by-zero", "sqrt-at-zero",
                                          "exp-overflow", "corrupt-data",     "bad-batches"};
const std::vector<std::string> kBlowUp = {"lr-too-high", "exploding-signal", "no-clipping", "data-not-normalized"};
const std::vector<std::string> kAlso = {"gradient-nonfinite", "exploding-gradients", "loss-diverging", "loss-spikes",
                                        "validation-frozen"};

Table all_nan(simulate::Random& random) {
  Table table(random, 30);
  return table.add("train_loss", kNan).add("val_loss", kNan).add("lr", 0.01);
}

Table blow_up(simulate::Random& random) {
  Table table(random, 60);
  simulate::Levels loss(60, kNan);
  const simulate::Levels first = {2.31, 47.2, 9.1e3, 3.3e9, 7.4e21, kInfinity};
  std::copy(first.begin(), first.end(), loss.begin());
  simulate::Levels norms(60, kNan);
  const simulate::Levels norm_first = {8.4, 410, 6.6e5, 2e12, 8e27, kInfinity};
  std::copy(norm_first.begin(), norm_first.end(), norms.begin());
  return table.put("train_loss", loss).put("grad_norm", norms).add("lr", 5.0);
}

Table third_step(simulate::Random& random) {
  Table table(random, 200);
  table
      .add(
          "train_loss", [](double x) { return 3e-4 - 1e-5 * x; }, 0.02)
      .replace(3, 200, kNan);
  return table.add("lr", 1e-4);
}

Table infinite_first(simulate::Random& random) {
  Table table(random, 25, 1, 1);
  return table.add("loss", kInfinity).add("val_loss", kInfinity);
}

Table huge_scale(simulate::Random& random) {
  Table table(random, 120);
  simulate::Levels loss(120, kNan);
  for (std::size_t row = 0; row < 7; ++row) loss[row] = 2.4e4 * std::pow(180.0, static_cast<double>(row));
  return table.put("loss", loss).add("learning_rate", 0.5);
}

Table best_loss_infinite(simulate::Random& random) {
  Table table(random, 40);
  table.add(
      "train_loss", [](double x) { return 0.3 + 2.0 * std::exp(-5.0 * x); }, 0.01);
  table.add(
      "val_loss", [](double x) { return 0.4 + 1.9 * std::exp(-5.0 * x); }, 0.01);
  return table.add("best_loss", 0.5).replace(0, 3, kInfinity);
}

Table metric_undefined(simulate::Random& random) {
  Table table(random, 60);
  table.add(
      "train_loss", [](double x) { return 11.0 * std::pow(1.0 + 30.0 * x, -0.6); }, 0.02);
  return table.add("val/APm", kNan)
      .add(
          "val/AP", [](double x) { return 0.4 * (1.0 - std::exp(-4.0 * x)); }, 0.01);
}

Table astronomic_first(simulate::Random& random) {
  Table table(random, 150);
  return table.add(
      "loss", [](double x) { return 0.7 + 4e6 * std::exp(-500.0 * x) + 2.0 * std::exp(-6.0 * x); }, 0.03);
}

Table only_first_nan(simulate::Random& random) {
  Table table(random, 80);
  return table
      .add(
          "loss", [](double x) { return 0.2 + 1.5 * std::exp(-5.0 * x); }, 0.02)
      .replace(0, 1, kNan);
}

Table after_growth(simulate::Random& random) {
  Table table(random, 200, 10);
  const auto swell = [](double x) { return x < 0.6 ? 1.0 : std::exp(160.0 * (x - 0.6)); };
  table.add(
      "train_loss", [&](double x) { return (0.8 + 1.5 * std::exp(-8.0 * x)) * swell(x); }, 0.03);
  table.replace(150, 200, kNan);
  table
      .add(
          "grad_norm", [&](double x) { return 1.3 * std::pow(swell(x), 1.5); }, 0.15)
      .replace(150, 200, kNan);
  return table.add("lr", 0.05);
}

Table sudden(simulate::Random& random) {
  Table table(random, 40, 1, 1);
  table
      .add(
          "train_loss", [](double x) { return 1.2e4 * (0.2 + std::exp(-4.0 * x)); }, 0.01)
      .replace(26, 40, kNan);
  table
      .add(
          "val_loss", [](double x) { return 1.2e4 * (0.25 + std::exp(-4.0 * x)); }, 0.01)
      .replace(26, 40, kNan);
  return table.add("grad_norm", 2.0, 0.2).replace(26, 40, kNan);
}

Table tiny_infinite(simulate::Random& random) {
  Table table(random, 180, 5);
  table.add(
      "loss", [](double x) { return 4e-4 * std::pow(1.0 + 40.0 * x, -0.5); }, 0.05);
  return table.replace(120, 121, kInfinity).replace(121, 180, kNan);
}

Table negative(simulate::Random& random) {
  Table table(random, 90);
  table.add(
      "elbo_loss", [](double x) { return -90.0 + 150.0 * std::exp(-6.0 * x); }, 0.01);
  return table.replace(70, 90, kNan);
}

Table last_rows(simulate::Random& random) {
  Table table(random, 300, 100);
  table.add(
      "train/loss", [](double x) { return 10.8 * (0.3 + 0.7 * std::pow(1.0 + 200.0 * x, -0.5)); }, 0.01);
  table.replace(295, 300, kNan);
  return table.add("train/learning_rate", [](double x) { return 3e-4 * (1.0 - x); });
}

Table skipped_step(simulate::Random& random) {
  Table table(random, 250);
  table.add(
      "loss", [](double x) { return 3.0 + 7.0 * std::exp(-5.0 * x); }, 0.02);
  table.add("grad_norm", 0.8, 0.2).replace(130, 131, kNan);
  return table.add("loss_scale", [](double x) { return x < 0.52 ? 65536.0 : 32768.0; });
}

Table undefined_early_metric(simulate::Random& random) {
  Table table(random, 50);
  table.add(
      "loss", [](double x) { return 0.3 + 0.4 * std::exp(-4.0 * x); }, 0.01);
  table.add(
      "val_loss", [](double x) { return 0.32 + 0.38 * std::exp(-4.0 * x); }, 0.01);
  return table
      .add(
          "val_auc", [](double x) { return 0.9 - 0.3 * std::exp(-4.0 * x); }, 0.005)
      .replace(0, 4, kNan);
}

Table one_bad_epoch(simulate::Random& random) {
  Table table(random, 120);
  table.add(
      "train_loss", [](double x) { return 0.3 + 1.1 * std::exp(-4.0 * x); }, 0.02);
  return table.replace(60, 61, 9.5).replace(61, 62, kNan);
}

}  // namespace

Recipes nonfinite_recipes() {
  return {
      at_least(between(sick(kStart, "all-nan", "Thirty epochs, not one number.", all_nan, {}, kAlso), 0, 0),
               Severity::critical),
      at_least(between(sick(kStart, "blow-up", "Loss and gradient norm explode within five steps at a rate of 5.",
                            blow_up, kBlowUp, kAlso),
                       5, 5),
               Severity::critical),
      between(sick(kStart, "third-step", "A loss of 3e-4 that is not a number from the fourth row on.", third_step,
                   kSudden, kAlso),
              3, 3),
      between(
          sick(kStart, "infinite", "Infinity in every epoch, in training and validation.", infinite_first, {}, kAlso),
          1, 1),
      between(sick(kStart, "large-loss", "From 2.4e4 by a factor of 180 per step until it overflows.", huge_scale,
                   kBlowUp, kAlso),
              7, 7),
      healthy(kStart, "best-loss-infinite", "Only the record of the best loss is infinite before it is first set.",
              best_loss_infinite),
      healthy(kStart, "metric-undefined", "A metric that is NaN by definition (no object of that size).",
              metric_undefined),
      healthy(kStart, "astronomic-first", "The very first losses are millions, and gone at once.", astronomic_first,
              {"initial-loss-wrong", "loss-spikes"}),
      borderline(kStart, "only-first", "The first row alone is NaN; training is fine.", only_first_nan,
                 {"loss-nonfinite-later"}),
      at_least(between(sick(kLater, "after-growth", "Loss and norm grow exponentially for a while, then NaN.",
                            after_growth, kBlowUp, kAlso),
                       1500, 1500),
               Severity::critical),
      between(sick(kLater, "sudden", "A loss near 1e4 turns NaN between two epochs, with ordinary norms before.",
                   sudden, kSudden, kAlso),
              27, 27),
      between(sick(kLater, "tiny-infinite", "A loss near 1e-4: infinite once, then NaN.", tiny_infinite, {}, kAlso),
              600, 600),
      between(sick(kLater, "negative", "An ELBO below zero that ends in NaN.", negative, {}, kAlso), 70, 70),
      between(sick(kLater, "last-rows", "A language model whose last five of 300 rows are NaN.", last_rows, {}, kAlso),
              29500, 29500),
      healthy(kLater, "skipped-step", "One NaN gradient norm where a half-precision step was skipped.", skipped_step),
      healthy(kLater, "undefined-early-metric", "A metric undefined while only one class is predicted.",
              undefined_early_metric),
      borderline(kLater, "one-bad-epoch", "A spike, one NaN epoch, and training goes on as before.", one_bad_epoch,
                 {"loss-spikes", "late-loss-variance", "loss-oscillating"}),
  };
}

}  // namespace osler::cases
