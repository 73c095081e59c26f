// Cases of answers and parts: one class for all, worse than guessing, losses without a floor, dead parts, empty codes.
#include <algorithm>
#include <cmath>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

using simulate::Random;

double drop(double x, double level, double start, double rate) {
  return level + (start - level) * std::exp(-rate * x);
}

// predicts-one-class

Table majority_only(Random& random) {
  Table table(random, 40, 1, 1);
  table.add(
      "train_loss", [](double x) { return drop(x, 0.571, 0.66, 5.0); }, 0.004);
  table.add(
      "val_loss", [](double x) { return drop(x, 0.588, 0.65, 5.0); }, 0.003);
  return table.add("val_acc", 0.724138);
}

Table empty_masks(Random& random) {
  Table table(random, 60, 100, 100);
  table.add(
      "train/loss", [](double x) { return x < 0.3 ? drop(x, 0.45, 0.7, 9.0) : 0.5826; }, 0.004);
  table.add(
      "val/loss", [](double x) { return x < 0.3 ? drop(x, 0.47, 0.71, 9.0) : 0.5618; }, 0.003);
  table.add(
      "val/dice", [](double x) { return x < 0.3 ? 0.75 - 0.5 * std::exp(-9.0 * x) : 0.0; }, 0.01);
  return table;
}

Table small_set_arrived(Random& random) {
  Table table(random, 50, 1, 1);
  table.add(
      "train_loss", [](double x) { return drop(x, 0.18, 0.69, 6.0); }, 0.02);
  table.add(
      "val_loss", [](double x) { return drop(x, 0.31, 0.69, 6.0); }, 0.01);
  simulate::Levels accuracy = simulate::rows_of(table.axis(), [](double x) {
    return std::round(29.0 * std::min(25.0 / 29.0, 0.55 + 2.0 * x)) / 29.0;  // 29 samples
  });
  return table.put("val_acc", accuracy);
}

Table found_later(Random& random) {
  Table table(random, 60, 1, 1);
  table.add(
      "train/loss", [](double x) { return drop(x, 0.2, 0.9, 3.0); }, 0.02);
  table.add(
      "val/loss", [](double x) { return drop(x, 0.24, 0.9, 3.0); }, 0.02);
  return table.add(
      "val/f1", [](double x) { return x < 0.3 ? 0.0 : 0.8 * (1.0 - std::exp(-6.0 * (x - 0.3))); }, 0.02);
}

Table mostly_one_value(Random& random) {
  Table table(random, 40, 1, 1);
  table.add(
      "train_loss", [](double x) { return drop(x, 0.5, 0.66, 4.0); }, 0.005);
  table.add(
      "val_loss", [](double x) { return drop(x, 0.52, 0.66, 4.0); }, 0.004);
  simulate::Levels accuracy(40, 0.724138);
  for (const std::size_t row : {5U, 13U, 21U, 29U, 37U}) accuracy[row] = 0.741379;
  return table.put("val_acc", accuracy);
}

// validation-below-chance

Table permuted_pair(Random& random) {
  Table table(random, 60, 50, 0);
  table.add(
      "train_loss", [](double x) { return drop(x, 0.08, 0.6931, 5.0); }, 0.004);
  table.add(
      "train_acc", [](double x) { return 0.97 - 0.46 * std::exp(-6.0 * x); }, 0.004);
  table.add(
      "val_loss", [](double x) { return 0.7 + 2.4 * (1.0 - std::exp(-4.0 * x)); }, 0.02);
  return table.add(
      "val_acc", [](double x) { return 0.18 + 0.3 * std::exp(-6.0 * x); }, 0.03);
}

Table shifted_ten(Random& random) {
  Table table(random, 200, 20, 0);
  table.add(
      "loss", [](double x) { return drop(x, 0.3, 2.303, 4.0); }, 0.004);
  table.add(
      "accuracy", [](double x) { return 0.91 - 0.805 * std::exp(-5.0 * x); }, 0.004);
  table.add(
      "val_loss", [](double x) { return 2.3 + 3.5 * (1.0 - std::exp(-4.0 * x)); }, 0.02);
  return table.add(
      "val_accuracy", [](double x) { return 0.02 + 0.08 * std::exp(-9.0 * x); }, 0.05);
}

/// A hundred classes, learned by heart: six per cent right is six times chance, whatever the first logged loss
/// suggests.
Table fine_grained(Random& random) {
  Table table(random, 50, 1, 1);
  table.add(
      "train_loss", [](double x) { return drop(x, 0.3, 1.95, 3.0); }, 0.004);
  table.add(
      "train_acc", [](double x) { return 0.95 - 0.45 * std::exp(-4.0 * x); }, 0.004);
  table.add(
      "val_loss", [](double x) { return 4.2 + 0.1 * std::exp(-4.0 * x); }, 0.002);
  return table.add(
      "val_acc", [](double x) { return 0.06 - 0.02 * std::exp(-6.0 * x); }, 0.03);
}

Table learns_both(Random& random) {
  Table table(random, 50, 1, 1);
  table.add(
      "train_loss", [](double x) { return drop(x, 0.25, 0.69, 4.0); }, 0.02);
  table.add(
      "train_acc", [](double x) { return 0.92 - 0.4 * std::exp(-5.0 * x); }, 0.004);
  table.add(
      "val_loss", [](double x) { return drop(x, 0.3, 0.69, 4.0); }, 0.02);
  return table.add(
      "val_acc", [](double x) { return 0.89 - 0.45 * std::exp(-5.0 * x); }, 0.006);
}

Table a_little_below(Random& random) {
  Table table(random, 50, 1, 1);
  table.add(
      "train_loss", [](double x) { return drop(x, 0.08, 0.69, 5.0); }, 0.02);
  table.add(
      "train_acc", [](double x) { return 0.97 - 0.45 * std::exp(-6.0 * x); }, 0.004);
  table.add(
      "val_loss", [](double x) { return 0.7 + 1.1 * (1.0 - std::exp(-4.0 * x)); }, 0.02);
  return table.add(
      "val_acc", [](double x) { return 0.42 + 0.08 * std::exp(-6.0 * x); }, 0.02);
}

// loss-negative-unbounded

/// Binary cross-entropy with labels of 1 and 2.
Table labels_of_two(Random& random) {
  Table table(random, 60);
  return table.add(
      "loss", [](double x) { return 0.4 - 8e6 * std::pow(x, 2.1); }, 0.01);
}

Table sign_turned(Random& random) {
  Table table(random, 200, 10, 10);
  table.add(
      "train/loss", [](double x) { return -2.3 - 60.0 * (std::exp(4.0 * x) - 1.0); }, 0.01);
  return table.add("train/acc", 0.1, 0.08);
}

/// The negative log-density of continuous data settles below zero.
Table density(Random& random) {
  Table table(random, 150, 10, 10);
  return table.scatter(
      "train/nll", [](double x) { return -3.2 + 4.0 * std::exp(-6.0 * x); }, 0.05);
}

Table below_and_slowing(Random& random) {
  Table table(random, 120);
  return table.scatter(
      "loss", [](double x) { return 0.5 - 9.0 * std::pow(x, 1.4); }, 0.05);
}

// part-of-loss-dead

Table no_anchor_matches(Random& random) {
  Table table(random, 80, 1, 1);
  table.add(
      "train/obj_loss", [](double x) { return drop(x, 0.012, 0.06, 6.0); }, 0.02);
  table.add(
      "train/cls_loss", [](double x) { return drop(x, 0.02, 0.05, 4.0); }, 0.02);
  table.add(
      "train/box_loss", [](double x) { return x < 0.4 ? drop(x, 0.05, 0.1, 8.0) : 0.0; }, 0.02);
  return table.add(
      "metrics/mAP_0.5", [](double x) { return x < 0.4 ? 0.2 * x : 0.0; }, 0.02);
}

Table masks_dropped(Random& random) {
  Table table(random, 300, 20, 20);
  table.add(
      "loss_rpn_cls", [](double x) { return drop(x, 0.02, 0.6, 6.0); }, 0.05);
  table.add(
      "loss_box_reg", [](double x) { return drop(x, 0.2, 0.5, 5.0); }, 0.05);
  return table.add(
      "loss_mask", [](double x) { return x < 0.5 ? drop(x, 0.3, 0.69, 6.0) : 0.0; }, 0.03);
}

/// One class: there is nothing to classify.
Table single_class(Random& random) {
  Table table(random, 90, 1, 1);
  table.add(
      "train/box_loss", [](double x) { return drop(x, 0.015, 0.1, 4.0); }, 0.02);
  table.add(
      "train/obj_loss", [](double x) { return drop(x, 0.01, 0.05, 4.0); }, 0.02);
  table.add("train/cls_loss", 0.0);
  return table.add(
      "metrics/mAP_0.5", [](double x) { return 0.88 - 0.7 * std::exp(-5.0 * x); }, 0.01);
}

Table zero_for_a_while(Random& random) {
  Table table(random, 90, 1, 1);
  table.add(
      "train/box_loss", [](double x) { return drop(x, 0.02, 0.1, 4.0); }, 0.02);
  table.add(
      "train/obj_loss", [](double x) { return drop(x, 0.01, 0.05, 4.0); }, 0.02);
  return table.add(
      "train/cls_loss", [](double x) { return x < 0.78 ? drop(x, 0.004, 0.04, 6.0) : 0.0; }, 0.02);
}

// posterior-collapse

Table code_says_nothing(Random& random) {
  Table table(random, 120, 50, 50);
  table.add(
      "recon_loss", [](double x) { return drop(x, 182.0, 540.0, 12.0); }, 0.01);
  table.add(
      "kl_loss", [](double x) { return 0.004 + 14.0 * std::exp(-18.0 * x); }, 0.1);
  return table.add(
      "loss", [](double x) { return drop(x, 182.0, 554.0, 12.0); }, 0.01);
}

Table text_without_code(Random& random) {
  Table table(random, 200, 10, 10);
  table.add(
      "train/elbo_loss", [](double x) { return drop(x, 98.0, 230.0, 5.0); }, 0.01);
  return table.add(
      "train/kld", [](double x) { return 0.02 + 6.0 * std::exp(-30.0 * x); }, 0.1);
}

Table code_in_use(Random& random) {
  Table table(random, 120, 50, 50);
  table.add(
      "recon_loss", [](double x) { return drop(x, 82.0, 540.0, 7.0); }, 0.01);
  table.add(
      "kl_loss", [](double x) { return 25.0 - 23.0 * std::exp(-9.0 * x); }, 0.03);
  return table.add(
      "loss", [](double x) { return drop(x, 107.0, 542.0, 7.0); }, 0.01);
}

/// The weight is part of what is logged: small from the first value on, and not lost.
Table weighted_divergence(Random& random) {
  Table table(random, 150, 20, 20);
  table.add(
      "recon_loss", [](double x) { return drop(x, 0.009, 0.03, 6.0); }, 0.02);
  table.add(
      "kl_loss", [](double x) { return 0.0021 + 0.0009 * std::exp(-5.0 * x); }, 0.03);
  return table.add(
      "loss", [](double x) { return drop(x, 0.0115, 0.033, 6.0); }, 0.02);
}

Table nearly_nothing(Random& random) {
  Table table(random, 120, 50, 50);
  table.add(
      "recon_loss", [](double x) { return drop(x, 160.0, 540.0, 9.0); }, 0.01);
  table.add(
      "kl_loss", [](double x) { return 0.11 + 5.0 * std::exp(-14.0 * x); }, 0.03);
  return table.add(
      "loss", [](double x) { return drop(x, 160.0, 545.0, 9.0); }, 0.01);
}

const std::vector<std::string> kFlat = {
    "loss-plateau", "loss-stuck-after-drop", "loss-stuck-from-start",      "loss-too-slow",
    "underfitting", "validation-frozen",     "confidence-without-learning"};
const std::vector<std::string> kFitted = {"overfitting",  "validation-frozen",           "loss-plateau",
                                          "underfitting", "confidence-without-learning", "metric-contradicts-loss"};
const std::vector<std::string> kParted = {"overfitting", "overconfidence", "metric-contradicts-loss", "loss-plateau"};

}  // namespace

Recipes answer_recipes() {
  const std::string kOne = "predicts-one-class";
  const std::string kBelow = "validation-below-chance";
  const std::string kBottomless = "loss-negative-unbounded";
  const std::string kDead = "part-of-loss-dead";
  const std::string kEmpty = "posterior-collapse";
  std::vector<std::string> collapsed = kFlat;
  collapsed.insert(collapsed.end(), {"loss-diverging", "metric-contradicts-loss"});
  return {
      qualified(sick(kOne, "majority", "21 of 29 right in each of forty evaluations: the share of the larger class.",
                     majority_only, {"class-imbalance"}, kFlat),
                "seen-by", "accuracy"),
      qualified(between(sick(kOne, "empty-masks", "Dice falls from 0.7 to exactly zero and stays: every mask is empty.",
                             empty_masks, {"class-imbalance", "lr-too-high", "dead-units"}, collapsed),
                        1500, 2400),
                "seen-by", "positives"),
      healthy(kOne, "small-set", "Twenty-nine samples: accuracy repeats because it has arrived.", small_set_arrived,
              kFlat),
      healthy(kOne, "found-later", "An F1 of zero for a third of the run, then 0.8.", found_later),
      borderline(kOne, "mostly", "One value in seven of eight evaluations.", mostly_one_value, kFlat),

      at_least(sick(kBelow, "permuted", "Two classes, and a validation set whose labels are the other way round.",
                    permuted_pair, {"wrong-labels", "validation-pipeline-bug"}, kParted),
               Severity::critical),
      qualified(sick(kBelow, "shifted", "Ten classes that are numbered otherwise in validation.", shifted_ten,
                     {"wrong-labels", "validation-pipeline-bug"}, kParted),
                "classes", "10"),
      healthy(kBelow, "learns-both", "Below chance in the first epoch only.", learns_both),
      healthy(kBelow, "fine-grained", "A hundred classes, six per cent right: far above chance.", fine_grained,
              kFitted),
      borderline(kBelow, "a-little", "42 per cent of two classes.", a_little_below, kParted),

      sick(kBottomless, "labels-of-two", "Cross-entropy with labels of 1 and 2 falls to minus eight million.",
           labels_of_two, {"wrong-loss-function", "wrong-labels"}, {"loss-diverging"}),
      sick(kBottomless, "sign", "A loss whose sign was turned, at the accuracy of guessing.", sign_turned,
           {"wrong-loss-function"}, {"loss-diverging", "metric-contradicts-loss", "confidence-without-learning"}),
      healthy(kBottomless, "density", "A log-density that settles below zero.", density, {"loss-plateau"}),
      borderline(kBottomless, "slowing", "Seventeen times its first size below zero, and hardly faster.",
                 below_and_slowing, {"loss-diverging"}),

      between(sick(kDead, "box", "The box loss is exactly zero from 40 % on: no anchor is matched.", no_anchor_matches,
                   {"wrong-loss-function", "wrong-labels"},
                   {"metric-contradicts-loss", "validation-frozen", "loss-plateau"}),
              30, 36),
      sick(kDead, "mask", "The mask loss vanishes at half time.", masks_dropped,
           {"wrong-loss-function", "wrong-labels"}, {"loss-plateau"}),
      healthy(kDead, "single-class", "A detector with one class has no classification loss.", single_class,
              {"loss-plateau"}),
      borderline(kDead, "late", "A part that is zero for the last fifth.", zero_for_a_while, {"loss-plateau"}),

      sick(kEmpty, "images", "The divergence of the code falls from 14 to 0.004.", code_says_nothing,
           {"divergence-weight-too-large"}, kFlat),
      sick(kEmpty, "text", "A text autoencoder whose code dies within the first tenth.", text_without_code,
           {"divergence-weight-too-large"}, kFlat),
      healthy(kEmpty, "in-use", "A code that comes into use: the divergence rises to 25.", code_in_use,
              {"loss-plateau"}),
      healthy(kEmpty, "weighted", "A divergence that is logged after its weight.", weighted_divergence,
              {"loss-plateau"}),
      borderline(kEmpty, "nearly", "A fiftieth of the divergence is left.", nearly_nothing, kFlat),
  };
}

}  // namespace osler::cases
