// Cases of validation and metrics that disagree with the loss, or with good sense.
#include <algorithm>
#include <cmath>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

const std::vector<std::string> kFlat = {"loss-plateau", "loss-stuck-from-start", "loss-stuck-after-drop",
                                        "loss-too-slow", "underfitting"};

double fall(double x, double floor, double start) {
  return floor + (start - floor) * std::exp(-3.0 * x);
}

// underfitting

Table too_small(simulate::Random& random) {
  Table table(random, 100, 1, 1);
  const auto level = [](double x) { return 1.75 + 0.55 * std::exp(-15.0 * x); };
  table.add("loss", level, 0.005)
      .add(
          "val_loss", [&](double x) { return level(x) + 0.02; }, 0.003);
  table.add(
      "accuracy", [](double x) { return 0.36 - 0.26 * std::exp(-15.0 * x); }, 0.01);
  return table.add(
      "val_accuracy", [](double x) { return 0.35 - 0.25 * std::exp(-15.0 * x); }, 0.01);
}

Table answers_with_blanks(simulate::Random& random) {
  Table table(random, 40, 1, 1);
  table.add(
      "train_loss", [](double x) { return fall(12.0 * x, 2.88, 12.0); }, 0.003);
  table.add(
      "val_loss", [](double x) { return fall(12.0 * x, 2.91, 6.0); }, 0.003);
  return table.add("val_wer", 1.0);
}

Table first_words(simulate::Random& random) {
  Table table(random, 40, 1, 1);
  table.add(
      "train_loss", [](double x) { return fall(2.0 * x, 0.4, 5.0); }, 0.01);
  table.add(
      "val_loss", [](double x) { return fall(2.0 * x, 0.6, 5.0); }, 0.01);
  return table.add(
      "val_wer", [](double x) { return std::min(1.0, 1.3 - 0.9 * x); }, 0.01);
}

Table too_small_regression(simulate::Random& random) {
  Table table(random, 150);
  const auto level = [](double x) { return 820.0 + 400.0 * std::exp(-20.0 * x); };
  return table.add("train_loss", level, 0.01)
      .add(
          "val_loss", [&](double x) { return 1.01 * level(x); }, 0.005);
}

Table fits(simulate::Random& random) {
  Table table(random, 100, 1, 1);
  table.add(
      "loss", [](double x) { return fall(x, 0.1, 2.3); }, 0.01);
  table.add(
      "val_loss", [](double x) { return fall(x, 0.25, 2.3); }, 0.01);
  return table.add(
      "accuracy", [](double x) { return 0.98 - 0.88 * std::exp(-4.0 * x); }, 0.005);
}

Table half_fits(simulate::Random& random) {
  Table table(random, 100, 1, 1);
  const auto level = [](double x) { return 1.0 + 1.3 * std::exp(-10.0 * x); };
  return table.add("loss", level, 0.005)
      .add(
          "val_loss", [&](double x) { return level(x) + 0.05; }, 0.005);
}

// validation-frozen

Table frozen_loss(simulate::Random& random) {
  Table table(random, 50, 1, 1);
  table
      .add(
          "loss", [](double x) { return fall(x, 0.2, 2.3); }, 0.01)
      .add("val_loss", 2.30259);
  return table.add("val_accuracy", 0.1);
}

Table frozen_metric(simulate::Random& random) {
  Table table(random, 60);
  table.add(
      "train_loss", [](double x) { return fall(x, 1.2, 1.79); }, 0.005);
  return table
      .add(
          "val_loss", [](double x) { return fall(x, 1.3, 1.79); }, 0.005)
      .add("val_acc", 0.4806);
}

Table frozen_on_the_way(simulate::Random& random) {
  Table table(random, 60, 500);
  table.add(
      "train/loss", [](double x) { return fall(x, 0.3, 3.1); }, 0.01);
  return table.add("eval/loss", [](double x) { return x < 0.4 ? fall(x, 0.9, 3.2) : 1.32718; });
}

Table arrived_accuracy(simulate::Random& random) {
  Table table(random, 40, 1, 1);
  table.add(
      "loss", [](double x) { return fall(x, 0.02, 0.7); }, 0.02);
  return table
      .add(
          "val_loss", [](double x) { return fall(x, 0.09, 0.7); }, 0.01)
      .add("val_accuracy", [](double x) { return x < 0.1 ? 0.7 + 2.0 * x : 0.966667; });
}

Table moving(simulate::Random& random) {
  Table table(random, 50, 1, 1);
  table.add(
      "loss", [](double x) { return fall(x, 0.2, 2.3); }, 0.01);
  return table.add(
      "val_loss", [](double x) { return fall(x, 0.3, 2.3); }, 0.01);
}

Table perfect(simulate::Random& random) {
  Table table(random, 50, 1, 1);
  table.add(
      "loss", [](double x) { return 0.001 + 0.7 * std::exp(-10.0 * x); }, 0.02);
  table.add(
      "val_loss", [](double x) { return 0.002 + 0.7 * std::exp(-10.0 * x); }, 0.02);
  return table.add("val_accuracy", [](double x) { return x < 0.2 ? 0.9 + 0.5 * x : 1.0; });
}

Table three_digits(simulate::Random& random) {
  Table table(random, 40, 1, 1);
  table.add(
      "loss", [](double x) { return fall(x, 0.4, 0.7); }, 0.01);
  return table.add("val_acc", [](double x) { return std::round(100.0 * (0.71 + 0.02 * x)) / 100.0; });
}

// loss-beyond-chance

Table huge_outputs(simulate::Random& random) {
  Table table(random, 40, 1, 1);
  table.add(
      "loss", [](double x) { return fall(x, 400.0, 6700.0); }, 0.02);
  return table.add("accuracy", 0.12, 0.05);
}

Table sum_of_losses(simulate::Random& random) {
  Table table(random, 40, 1, 1);
  table.add(
      "loss", [](double x) { return 64.0 * fall(x, 0.3, 2.3); }, 0.01);
  return table.add(
      "accuracy", [](double x) { return 0.9 - 0.8 * std::exp(-5.0 * x); }, 0.005);
}

Table twice_chance(simulate::Random& random) {
  Table table(random, 40, 1, 1);
  table.add(
      "loss", [](double x) { return fall(x, 9.5, 12.0); }, 0.01);
  return table.add(
      "accuracy", [](double x) { return 0.002 + 0.25 * x; }, 0.02);
}

// validation-better-than-training

Table far_better(simulate::Random& random) {
  Table table(random, 60, 1, 1);
  table.add(
      "loss", [](double x) { return fall(x, 0.9, 2.3); }, 0.01);
  return table.add(
      "val_loss", [](double x) { return 0.06 * fall(x, 0.9, 2.3); }, 0.01);
}

Table usual_gap(simulate::Random& random) {
  Table table(random, 60, 1, 1);
  table.add(
      "loss", [](double x) { return fall(x, 0.5, 2.3); }, 0.01);
  return table.add(
      "val_loss", [](double x) { return fall(x, 0.6, 2.3); }, 0.01);
}

Table dropout_gap(simulate::Random& random) {
  Table table(random, 60, 1, 1);
  table.add(
      "loss", [](double x) { return fall(x, 0.6, 2.3); }, 0.01);
  return table.add(
      "val_loss", [](double x) { return 0.88 * fall(x, 0.6, 2.3); }, 0.01);
}

// overconfidence

Table surer_not_better(simulate::Random& random) {
  Table table(random, 60, 1, 1);
  table.add(
      "loss", [](double x) { return 0.01 + 2.2 * std::exp(-6.0 * x); }, 0.02);
  table.add(
      "val_loss", [](double x) { return x < 0.25 ? 0.7 + 26.0 * std::pow(0.25 - x, 2.0) : 0.7 + 1.2 * (x - 0.25); },
      0.01);
  return table.add(
      "val_accuracy", [](double x) { return 0.78 - 0.6 * std::exp(-18.0 * x); }, 0.005);
}

Table both_better(simulate::Random& random) {
  Table table(random, 60, 1, 1);
  table.add(
      "loss", [](double x) { return fall(x, 0.2, 2.3); }, 0.01);
  table.add(
      "val_loss", [](double x) { return fall(x, 0.4, 2.3); }, 0.01);
  return table.add(
      "val_accuracy", [](double x) { return 0.88 - 0.78 * std::exp(-4.0 * x); }, 0.01);
}

Table slightly_surer(simulate::Random& random) {
  Table table(random, 60, 1, 1);
  table.add(
      "loss", [](double x) { return fall(x, 0.1, 2.3); }, 0.01);
  table.add(
      "val_loss", [](double x) { return 0.7 + 1.6 * std::exp(-10.0 * x) + 0.04 * std::max(0.0, x - 0.5); }, 0.004);
  return table.add(
      "val_accuracy", [](double x) { return 0.8 - 0.7 * std::exp(-10.0 * x); }, 0.004);
}

// confidence-without-learning

Table no_accuracy(simulate::Random& random) {
  Table table(random, 80, 1, 1);
  table
      .add(
          "loss", [](double x) { return fall(x, 0.5, 2.3); }, 0.01)
      .add("accuracy", 0.31, 0.015);
  return table
      .add(
          "val_loss", [](double x) { return fall(x, 0.6, 2.3); }, 0.01)
      .add("val_accuracy", 0.3, 0.015);
}

Table late_accuracy(simulate::Random& random) {
  Table table(random, 80, 1, 1);
  table.add(
      "loss", [](double x) { return fall(x, 0.3, 0.69); }, 0.005);
  return table.add(
      "accuracy", [](double x) { return 0.5 + 0.4 * x; }, 0.01);
}

Table little_accuracy(simulate::Random& random) {
  Table table(random, 80, 1, 1);
  table.add(
      "loss", [](double x) { return fall(x, 0.8, 2.3); }, 0.01);
  return table.add(
      "accuracy", [](double x) { return 0.30 + 0.04 * x; }, 0.02);
}

// accuracy-outruns-loss

Table accuracy_first(simulate::Random& random) {
  Table table(random, 80, 1, 1);
  table.add(
      "loss", [](double x) { return 1.25 + 1.0 * std::exp(-18.0 * x); }, 0.004);
  return table.add(
      "accuracy", [](double x) { return 0.45 + 0.4 * x; }, 0.006);
}

Table together(simulate::Random& random) {
  Table table(random, 80, 1, 1);
  table.add(
      "loss", [](double x) { return 2.3 - 1.6 * x; }, 0.01);
  return table.add(
      "accuracy", [](double x) { return 0.1 + 0.7 * x; }, 0.02);
}

Table a_little_ahead(simulate::Random& random) {
  Table table(random, 80, 1, 1);
  table.add(
      "loss", [](double x) { return 1.25 + 1.0 * std::exp(-10.0 * x) - 0.03 * x; }, 0.004);
  return table.add(
      "accuracy", [](double x) { return 0.55 + 0.06 * x; }, 0.01);
}

// metric-contradicts-loss

Table opposite(simulate::Random& random) {
  Table table(random, 80, 1, 1);
  table.add(
      "train_loss", [](double x) { return fall(x, 0.3, 2.3); }, 0.01);
  table.add(
      "val_loss", [](double x) { return fall(x, 0.4, 2.3); }, 0.01);
  return table.add(
      "val_f1", [](double x) { return 0.8 - 0.4 * x; }, 0.015);
}

Table agreeing(simulate::Random& random) {
  Table table(random, 80, 1, 1);
  table.add(
      "train_loss", [](double x) { return fall(x, 0.3, 2.3); }, 0.01);
  table.add(
      "val_loss", [](double x) { return fall(x, 0.4, 2.3); }, 0.01);
  return table.add(
      "val_f1", [](double x) { return 0.85 - 0.5 * std::exp(-3.0 * x); }, 0.015);
}

Table slightly_opposite(simulate::Random& random) {
  Table table(random, 80, 1, 1);
  table.add(
      "train_loss", [](double x) { return fall(x, 0.3, 2.3); }, 0.01);
  table.add(
      "val_loss", [](double x) { return fall(x, 0.4, 2.3); }, 0.01);
  return table.add(
      "val_f1", [](double x) { return 0.8 - 0.04 * x; }, 0.02);
}

}  // namespace

Recipes metric_recipes() {
  return {
      sick("underfitting", "classifier", "36 % accuracy, both losses flat at 1.75 since epoch 20.", too_small,
           {"model-too-small", "too-much-regularization"}, kFlat),
      sick("underfitting", "answers-with-blanks",
           "The loss comes down from 12 to 2.9 and rests; every word stays wrong.", answers_with_blanks, {}, kFlat),
      healthy("underfitting", "first-words", "Every word is wrong for a third of the run, then fewer and fewer.",
              first_words),
      healthy("underfitting", "regression",
              "Both errors flat at 820; without a figure of merit nobody knows the floor.", too_small_regression),
      healthy("underfitting", "fits", "Falls to a tenth with an accuracy of 98 %.", fits, {"loss-plateau"}),
      borderline("underfitting", "half-way", "Flat at less than half of the first loss.", half_fits,
                 {"loss-plateau", "loss-stuck-after-drop"}),

      sick("validation-frozen", "loss", "Validation at ln 10 to the last digit while training learns.", frozen_loss,
           {"validation-pipeline-bug", "stale-checkpoint", "metric-bug", "eval-mode-left-on"},
           {"loss-plateau", "loss-stuck-from-start", "confidence-without-learning", "overfitting",
            "metric-contradicts-loss"}),
      sick("validation-frozen", "metric", "The accuracy is 0.4806 in all of 60 epochs: the majority class.",
           frozen_metric, {},
           {"loss-plateau", "confidence-without-learning", "metric-contradicts-loss", "predicts-one-class"}),
      sick("validation-frozen", "on-the-way", "Validation follows for two fifths of the run, then repeats itself.",
           frozen_on_the_way, {"stale-checkpoint", "validation-pipeline-bug"}, {"loss-plateau", "overfitting"}),
      healthy("validation-frozen", "arrived", "29 of 30 samples right since the fourth epoch.", arrived_accuracy,
              {"loss-plateau"}),
      healthy("validation-frozen", "moving", "Validation moves with training.", moving, {"loss-plateau"}),
      healthy("validation-frozen", "perfect", "An accuracy of 1.0 can only repeat itself.", perfect, {"loss-plateau"}),
      borderline("validation-frozen", "three-digits", "An accuracy printed to two digits that hardly moves.",
                 three_digits, {"loss-plateau", "confidence-without-learning", "metric-contradicts-loss"}),

      at_least(sick("validation-better-than-training", "far", "Validation at a sixteenth of training throughout.",
                    far_better, {}, {"loss-plateau"}),
               Severity::note),
      healthy("validation-better-than-training", "usual-gap", "Validation a little above training.", usual_gap,
              {"loss-plateau"}),
      borderline("validation-better-than-training", "dropout", "Twelve per cent below, as dropout makes it.",
                 dropout_gap, {"loss-plateau"}),

      sick("loss-beyond-chance", "huge-outputs", "A cross-entropy of thousands with one answer in eight right.",
           huge_outputs, {"bad-initialization", "data-not-normalized", "lr-too-high", "exploding-signal"},
           {"initial-loss-wrong", "underfitting", "loss-stuck-after-drop", "confidence-without-learning"}),
      healthy("loss-beyond-chance", "sum", "A loss summed over 64 samples whose answers become right.", sum_of_losses,
              {"initial-loss-wrong"}),
      borderline("loss-beyond-chance", "vocabulary", "Ten nats among tokens, a quarter of them right at the end.",
                 twice_chance, {"loss-too-slow", "accuracy-outruns-loss", "initial-loss-wrong"}),

      sick("overconfidence", "surer-not-better", "Validation loss more than doubles, accuracy stays at 78 %.",
           surer_not_better, {"too-little-data", "model-too-large"}, {"overfitting", "loss-plateau"}),
      healthy("overconfidence", "both-better", "Validation loss and accuracy improve together.", both_better,
              {"loss-plateau"}),
      borderline("overconfidence", "slightly", "Validation loss up by three per cent, accuracy flat.", slightly_surer,
                 {"overfitting", "loss-plateau"}),

      at_least(
          sick("confidence-without-learning", "flat-accuracy", "The loss falls to a quarter, accuracy stays at 0.31.",
               no_accuracy, {}, {"loss-plateau", "validation-frozen", "metric-contradicts-loss"}),
          Severity::note),
      healthy("confidence-without-learning", "together", "Accuracy rises as the loss falls.", late_accuracy,
              {"loss-plateau"}),
      borderline("confidence-without-learning", "little", "Accuracy gains four points while the loss falls by half.",
                 little_accuracy, {"loss-plateau", "metric-contradicts-loss"}),

      at_least(sick("accuracy-outruns-loss", "flat-loss", "Accuracy from 45 % to 85 % at a constant loss.",
                    accuracy_first, {}, kFlat),
               Severity::note),
      healthy("accuracy-outruns-loss", "together", "Both improve in step.", together),
      borderline("accuracy-outruns-loss", "a-little", "Six points of accuracy at a nearly constant loss.",
                 a_little_ahead, kFlat),

      sick("metric-contradicts-loss", "opposite", "Validation loss falls fivefold, F1 falls by half.", opposite,
           {"metric-bug", "wrong-loss-function", "wrong-labels"},
           {"overfitting", "loss-plateau", "confidence-without-learning"}),
      healthy("metric-contradicts-loss", "agreeing", "F1 rises as the loss falls.", agreeing, {"loss-plateau"}),
      borderline("metric-contradicts-loss", "slightly", "F1 loses four points while the loss falls.", slightly_opposite,
                 {"overfitting", "loss-plateau", "confidence-without-learning"}),
  };
}

}  // namespace osler::cases
