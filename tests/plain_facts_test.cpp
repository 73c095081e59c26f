// What anybody sees at a glance is never called healthy: properties over random scale, length, noise, rounding and
// names. Each fact is drawn many times; a draw that is judged wrongly is printed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <utility>

#include "plain_fact.h"

namespace osler {
namespace {

void ends_far_above_its_start(Log& log, Random& random) {
  const double scale = random.log_uniform(1e-3, 1e3);
  const double turn = random.uniform(0.1, 0.6);
  const double end = random.uniform(2.5, 20);
  log.add(log.loss(), random.uniform(0.01, 0.08), [=](double x) {
    const double fallen = descent(std::min(x, turn), 0.4, 20);
    return scale * (x < turn ? fallen : fallen + (end - fallen) * std::min(1.0, (x - turn) / (0.6 * (1 - turn))));
  });
}

void at_chance_by_loss_and_accuracy(Log& log, Random& random) {
  const int classes = random.pick({2, 3, 5, 10, 20, 100});
  const double noise = random.uniform(0.001, 0.008);
  log.add(log.loss(), noise, [=](double) { return std::log(classes); });
  log.add(log.accuracy(), 0.05, [=](double) { return 1.0 / classes; });
}

void area_under_the_curve_of_a_half(Log& log, Random& random) {
  const std::size_t every = std::max<std::size_t>(1, log.points() / 12);
  log.add(log.loss(), random.uniform(0.002, 0.01), [](double) { return std::numbers::ln2; });
  log.evaluate("val_auc", every, 0.008, [](double) { return 0.5; });
}

void a_nan_that_stays(Log& log, Random& random) {
  const double scale = random.log_uniform(1e-3, 1e3);
  const double from = random.uniform(0.15, 0.85);
  log.add(log.loss(), random.uniform(0.01, 0.1),
          [=](double x) { return x < from ? scale * descent(x, 0.2, 20) : std::numeric_limits<double>::quiet_NaN(); });
}

void infinite_gradients_and_a_risen_loss(Log& log, Random& random) {
  const double from = random.uniform(0.3, 0.7);
  const double high = random.uniform(4, 12);
  log.add(log.loss(), 0.03, [=](double x) { return x < from ? descent(x, 0.3, 20) : high; });
  log.add(log.norm(), 0.1, [=](double x) { return x < from ? 1.0 : std::numeric_limits<double>::infinity(); });
}

void a_gradient_norm_that_no_loss_can_have(Log& log, Random& random) {
  log.lengthen(60);
  const double level = random.log_uniform(0.01, 50);
  const double highest = random.log_uniform(1e8, 1e16);
  const double at = random.uniform(0.5, 0.95);
  bool leapt = false;
  log.add(log.loss(), 0.03, [](double x) { return descent(x, 0.3, 20); });
  log.add(log.norm(), 0.2, [=](double x) mutable { return x < at || std::exchange(leapt, true) ? level : highest; });
}

void cross_entropy_beyond_any_chance(Log& log, Random& random) {
  const double level = random.log_uniform(60, 9000);
  const int classes = random.pick({2, 5, 10, 50});
  log.add(log.loss(), 0.2, [=](double x) { return level * (1.3 - 0.3 * x); });
  log.add(log.accuracy(), 0.08, [=](double) { return 1.05 / classes; });
}

void gradient_norm_in_proportion_to_the_step(Log& log, Random& random) {
  const double unit = random.log_uniform(0.5, 20);
  log.add(log.loss(), 0.05, [](double x) { return descent(x, 0.6, 6); });
  log.add(log.norm(), 0.02, [=](double x) { return unit * (0.02 + 50 * x); });
}

void a_layer_without_gradient(Log& log, Random& random) {
  const int dead = static_cast<int>(random.integer(1, 4));
  log.add(log.loss(), 0.02, [](double x) { return descent(x, 0.7, 8); });
  for (int layer = 0; layer < 6; ++layer) {
    const double size = random.log_uniform(0.05, 2);
    log.add(fmt::format("grad_norm/layer{}.weight", layer), 0.2, [=](double) { return layer == dead ? 0.0 : size; });
  }
}

void weights_that_never_change(Log& log, Random& random) {
  const int frozen = static_cast<int>(random.integer(0, 5));
  log.add(log.loss(), 0.02, [](double x) { return descent(x, 0.6, 8); });
  for (int layer = 0; layer < 6; ++layer) {
    const double size = random.uniform(3, 40);
    const double grows = random.uniform(0.05, 0.4);
    log.add(fmt::format("grad_norm/layer{}", layer), 0.2, [](double) { return 0.4; });
    log.add(fmt::format("weight_norm/layer{}", layer), 0,
            [=](double x) { return layer == frozen ? size : size * (1 + grows * x); });
  }
}

void validation_exactly_repeated(Log& log, Random& random) {
  const std::size_t every = std::max<std::size_t>(1, log.points() / 20);
  const double value = 0.6 + 0.0137 * random.uniform();
  log.add(log.loss(), 0.02, [](double x) { return descent(x, 0.2, 15); });
  log.evaluate(log.validation_loss(), every, 0, [=](double) { return value; });
}

void a_softmax_applied_twice(Log& log, Random& random) {
  const int classes = random.pick({5, 10, 20, 100});
  const double floor = std::log1p((classes - 1) / std::numbers::e);
  const double start = std::log(classes);
  log.add(log.loss(), 0.002, [=](double x) { return floor + (start - floor) * (0.02 + 0.98 * std::exp(-9 * x)); });
  log.add(log.accuracy(), 0.004, [=](double x) { return 0.98 - (0.98 - 1.0 / classes) * std::exp(-9 * x); });
  log.configure("num_classes", std::to_string(classes));
}

void a_rate_that_restarts(Log& log, Random& random) {
  const double from = random.uniform(0.45, 0.75);
  const double peak = random.log_uniform(1e-4, 1e-2);
  log.add(log.rate(), 0, [=](double x) { return peak * (x < from ? 1 - 0.97 * x / from : 1.0); });
  log.add(log.loss(), 0.01, [=](double x) { return x < from ? descent(x, 0.1, 30) : 0.75; });
}

void a_loss_that_comes_down_to_guessing(Log& log, Random& random) {
  const double start = random.log_uniform(5, 500);
  const std::size_t every = std::max<std::size_t>(1, log.points() / 12);
  log.add(log.loss(), 0.004, [=](double x) { return std::numbers::ln2 + start * std::exp(-25 * x); });
  log.evaluate("val_auc", every, 0.008, [](double) { return 0.5; });
}

void an_area_under_the_curve_turned_round(Log& log, Random& random) {
  const std::size_t every = std::max<std::size_t>(1, log.points() / 12);
  const double area = random.uniform(0.02, 0.2);
  log.add(log.loss(), 0.02, [](double x) { return 0.69 * descent(x, 0.3, 15); });
  log.evaluate("val_auc", every, 0.02, [=](double x) { return area + (0.5 - area) * std::exp(-12 * x); });
}

void a_configured_cross_entropy_beyond_guessing(Log& log, Random& random) {
  const int classes = random.pick({2, 5, 10});
  const double factor = random.uniform(2.5, 6);
  log.configure("loss", classes == 2 ? "binary-cross-entropy" : "cross_entropy");
  if (classes > 2) log.configure("num_classes", std::to_string(classes));
  log.configure("batch_size", random.pick<std::string>({"128", "256", "512"}));
  log.add(log.loss(), 0.01, [=](double x) { return factor * std::log(classes) * (1 + 2 * std::exp(-3 * x)); });
}

void a_rate_far_beyond_what_is_usual(Log& log, Random& random) {
  const double rate = random.log_uniform(0.1, 1);
  const double level = random.uniform(1, 8);
  log.configure("optimizer", random.pick<std::string>({"adam", "AdamW"}));
  log.add(log.rate(), 0, [=](double) { return rate; });
  log.add(log.loss(), 0, [=, &random](double) { return level * std::exp(0.9 * random.normal()); });
}

void a_generator_without_a_chance(Log& log, Random& random) {
  const double lost = random.uniform(5.5, 12);
  const double sure = random.log_uniform(1e-3, 0.06);
  log.add("g_loss", 0.08, [=](double) { return lost; });
  log.add("d_loss", 0.15, [=](double) { return sure; });
}

void at_rest_at_the_loss_of_guessing(Log& log, Random& random) {
  const double early = 0.02 + 0.05 * random.uniform();
  log.lengthen(60);
  log.add(log.loss(), 0.005, [=](double x) { return x < early ? 0.9 : std::numbers::ln2; });
}

void a_game_in_which_nobody_moves(Log& log, Random& random) {
  log.lengthen(120);
  const double scale = random.log_uniform(0.5, 20);
  for (const char* name : {"D_A", "G_A", "cycle_A", "idt_A"}) {
    const double level = scale * random.uniform(0.5, 2);
    log.add(name, 0.02, [=](double) { return level; });
  }
}

/// Targets that nobody scaled: error and R2 get better together and never get good.
void a_regression_below_the_mean(Log& log, Random& random) {
  const double worst = random.log_uniform(5, 1e6);
  const std::size_t every = std::max<std::size_t>(1, log.points() / random.pick<std::size_t>({8, 20}));
  const auto error = [=](double x) { return 1.3 + worst * descent(x, 0.05, 12); };
  log.add("train_mse", 0.03, error);
  log.evaluate("val_r2", every, 0.02, [=](double x) { return 1 - error(x); });
}

/// The accuracy is counted on the wrong outputs.
void an_accuracy_that_never_rises(Log& log, Random& random) {
  const int classes = static_cast<int>(random.pick({4, 5, 8, 20}));
  const std::size_t every = std::max<std::size_t>(1, log.points() / random.pick<std::size_t>({8, 20}));
  log.add(log.loss(), 0.03, [=](double x) { return std::log(classes) * descent(x, 0.1, 20); });
  log.evaluate(log.validation_loss(), every, 0.01, [=](double x) { return std::log(classes) * descent(x, 0.12, 20); });
  log.evaluate(log.validation_accuracy(), every, 0.06, [=](double) { return 1.0 / classes; });
}

/// Four evaluations of a copy that is no longer trained.
void a_few_evaluations_of_a_stale_copy(Log& log, Random& random) {
  log.lengthen(60);
  const double level = 0.01 * std::floor(random.uniform(31, 270)) + 0.00137;  // of more digits than rounding leaves
  const std::size_t every = std::max<std::size_t>(1, log.points() / 7);
  log.add(log.loss(), 0.01, [](double x) { return 2.9 * descent(x, 0.1, 5); });
  log.evaluate(log.validation_loss(), every, 0, [=](double x) { return x < 0.4 ? level * (1.2 - 0.3 * x) : level; });
}

/// Steps as long as the weights are large, whatever the loss makes of it.
void a_rate_larger_than_weights(Log& log, Random& random) {
  const double rate = random.log_uniform(0.2, 3);
  log.configure("optimizer", random.pick<std::string>({"adam", "AdamW", "RMSprop", "Lion"}));
  log.configure("loss", "cross-entropy");
  log.add(log.loss(), 0.15, [](double x) { return 2.3 * descent(x, 0.5, 12); });
  log.add(log.rate(), 0, [=](double) { return rate; });
}

/// Flung out before anything is learned, and long on the way back.
void a_loss_flung_out_at_first(Log& log, Random& random) {
  const double first = random.log_uniform(0.1, 50);
  const double high = random.log_uniform(12, 400);
  log.lengthen(40);
  log.add(log.loss(), 0.04, [=](double x) {
    return first * (0.45 + (x == 0 ? 0.55 : (high - 0.45) * std::exp(-std::log(high) * 5 * x)));
  });
}

/// The head that tells classes apart guesses, unheard beside another one.
void a_part_that_guesses(Log& log, Random& random) {
  const int classes = random.pick({10, 20, 100, 200, 1000});
  const double loud = random.log_uniform(50, 5000);
  log.add("train_classification_loss", 0.002, [=](double) { return std::log(classes); });
  log.add("train_regression_loss", 0.1, [=](double x) { return loud * descent(x, 0.7, 8); });
}

/// More wrong answers than the cross-entropy of the same samples has room for.
void an_accuracy_that_arithmetic_forbids(Log& log, Random& random) {
  const int classes = random.pick({2, 3, 5, 10});
  log.add(log.loss(), 0.02, [=](double x) { return std::log(classes) * descent(x, 0.02, 40); });
  log.add(log.accuracy(), 0.05, [=](double x) { return 1.0 / classes + 0.15 * x; });
}

/// Ten evaluations of a copy, at a rate that moves the weights, though training no longer falls.
void validation_repeated_beside_a_flat_training(Log& log, Random& random) {
  log.lengthen(36);
  const double level = random.uniform(0.41237, 2.71243);
  const std::size_t every = std::max<std::size_t>(1, log.points() / 36);
  log.add(log.loss(), random.uniform(0.01, 0.05), [=](double x) { return level * (0.8 + 2 * std::exp(-9 * x)); });
  log.add(log.rate(), 0, [](double) { return 1e-3; });
  log.evaluate(log.validation_loss(), every, 0,
               [=](double x) { return level * (1 + 2 * std::exp(-9 * std::min(x, 0.6))); });
}

/// A classifier of two that has come down to a guess, its batches small enough to blur where it stands.
void rests_at_two_classes_in_noise(Log& log, Random& random) {
  log.lengthen(300);
  const double first = random.uniform(1.1, 4);
  log.add(log.loss(), random.uniform(0.01, 0.03),
          [=](double x) { return std::numbers::ln2 * (1 + (first - 1) * std::exp(-60 * x)); });
}

void an_area_that_is_never_above_a_half(Log& log, Random& random) {
  const std::size_t every = std::max<std::size_t>(1, log.points() / 8);
  const double level = random.uniform(0.3, 0.48);
  log.add(log.loss(), 0.004, [](double x) { return 0.7 - 0.02 * x; });
  log.evaluate("val_auc", every, 0.01, [=](double) { return level; });
}

void a_loss_that_an_area_contradicts(Log& log, Random& random) {
  log.lengthen(80);
  const double level = random.log_uniform(8, 4000);
  const double area = random.uniform(0.52, 0.75);
  const std::size_t every = std::max<std::size_t>(1, log.points() / 16);
  log.add(log.loss(), 0.1, [=](double x) { return level * (0.25 + 2 * std::exp(-6 * x)); });
  log.evaluate(log.validation_loss(), every, 0.03, [=](double x) { return level * (0.3 + 2 * std::exp(-6 * x)); });
  log.evaluate("val_auc", every, 0.01, [=](double x) { return 0.5 + (area - 0.5) * std::min(1.0, 2 * x); });
}

void a_classifier_that_leaves_its_first_value_for_good(Log& log, Random& random) {
  const double first = random.log_uniform(0.5, 3);
  const double high = random.uniform(4, 9);
  const double begin = random.uniform(0.4, 0.6);
  log.add(log.loss(), 0.04, [=](double x) { return first * (x == 0 ? 1 : 1.6 + (high - 1.6) * std::min(1.0, 3 * x)); });
  log.add(log.accuracy(), 0.05, [=](double) { return begin; });
}

void an_entropy_below_zero(Log& log, Random& random) {
  log.lengthen(40);
  const double depth = random.log_uniform(8, 100);
  log.configure("loss", "cross-entropy");
  log.add(log.loss(), 0.03, [=](double x) { return -depth * (0.3 + 0.7 * std::min(1.0, 2 * x)); });
}

/// Down twice, and from there back to where the plan began: its state was not restored.
void a_rate_that_starts_over_after_two_steps_down(Log& log, Random& random) {
  log.lengthen(60);
  const double rate = random.log_uniform(1e-4, 1e-2);
  const double factor = random.pick({5, 10});
  const auto plan = [=](double x) {
    return rate * (x < 0.3 ? 1 : x < 0.5 ? 1 / factor : x < 0.7 ? 1 / factor / factor : 1);
  };
  log.add(log.loss(), 0.02, [](double x) { return x < 0.7 ? descent(x, 0.2, 20) : descent(0.3, 0.2, 20) * 1.4; });
  log.add(log.rate(), 0, plan);
}

/// The answers collapse to those of a constant guess and stay there; no loss is in the log.
void answers_that_collapse_alone(Log& log, Random& random) {
  log.lengthen(40);
  const double best = random.uniform(0.4, 0.9);
  const double from = random.uniform(0.6, 0.8);
  const int classes = random.pick({10, 20, 100});
  log.add(log.validation_accuracy(), 0.01,
          [=](double x) { return x < from ? best * (1 - std::exp(-5 * x - 0.1)) : 1.0 / classes; });
}

/// Far down and then back up by a multiple, though far below its start: what was learned last is lost again.
void climbs_by_multiples_from_far_below(Log& log, Random& random) {
  log.lengthen(60);
  const double scale = random.log_uniform(1e-2, 1e2);
  const double lowest = random.uniform(0.015, 0.04);
  const double turn = random.uniform(0.55, 0.75);
  const double rise = std::log(random.uniform(7, 12));
  log.add(log.loss(), 0.03, [=](double x) {
    return scale * (x < turn ? std::pow(lowest, x / turn) : lowest * std::exp(rise * (x - turn) / (1 - turn)));
  });
}

/// The answers stand since the first third of the run while training goes on to know its samples by heart.
void answers_that_stand_while_training_goes_on(Log& log, Random& random) {
  log.lengthen(40);
  const double right = random.uniform(0.45, 0.75);
  const double first = random.uniform(0.7, 2.5);
  log.add(log.loss(), 0.03, [=](double x) { return first * (0.01 + 0.99 * std::exp(-6 * x)); });
  log.add(log.validation_accuracy(), 0.01, [=](double x) { return right * (1 - 0.6 * std::exp(-14 * x)); });
}

/// A sixth of the loss is gained in the first epochs, and nothing in all that follow.
void rests_near_its_start(Log& log, Random& random) {
  log.lengthen(80);
  const double scale = random.log_uniform(0.3, 3);
  const double gained = random.uniform(0.1, 0.17);
  log.add(log.loss(), random.uniform(0.002, 0.006),
          [=](double x) { return scale * (1 - gained * (1 - std::exp(-50 * x))); });
}

/// Of several losses without a sum one has no floor, and the others hide it.
void a_part_without_a_floor(Log& log, Random& random) {
  log.lengthen(60);
  const double others = random.log_uniform(20, 200);
  const double first = random.uniform(0.3, 1.5);
  const double depth = random.uniform(30, 60);
  log.add("decoder_loss", 0.02, [=](double x) { return others * descent(x, 0.3, 10); });
  log.add("encoder_loss", 0.02, [=](double x) { return first - depth * x * x * x; });
}

/// A handful of epochs: the loss leaps in the third and stays, and answers are lost with it.
void everything_got_worse_in_a_few_epochs(Log& log, Random& random) {
  log.shorten(static_cast<std::size_t>(random.integer(6, 7)), 1);
  const double first = random.uniform(0.5, 2);
  const double high = random.uniform(1.5, 3);
  const double right = random.uniform(0.6, 0.9);
  log.add(log.loss(), 0.03, [=](double x) { return x < 0.3 ? first : first * high; });
  log.add(log.accuracy(), 0.01, [=](double x) { return x < 0.3 ? right : right - 0.25; });
}

/// A figure of merit that is the same in nearly every evaluation, but for the last digit of single precision.
void a_figure_the_same_in_single_precision(Log& log, Random& random) {
  log.lengthen(30);
  const double overlap = 0.01 * std::floor(random.uniform(20, 70)) + 0.005467;
  log.add(log.loss(), 0.01, [](double x) { return 1.4 * descent(x, 0.1, 12); });
  log.add("val_mean_iou", 4e-8, [=](double) { return overlap; });
}

/// The answers stay as good as they are, and the loss of those that are wrong grows by a fifth and more.
void sureness_at_the_cost_of_the_loss(Log& log, Random& random) {
  log.lengthen(30);
  const double right = random.uniform(0.8, 0.92);
  const double lowest = random.uniform(0.25, 0.6);
  const double rise = random.uniform(0.2, 0.45);
  log.add(log.loss(), 0.01, [=](double x) { return 1.5 * lowest * std::exp(-3 * x); });
  log.add(log.validation_loss(), 0.01,
          [=](double x) { return lowest * (1 + 0.8 * std::exp(-18 * x) + rise * std::max(0.0, x - 0.3) / 0.7); });
  log.add(log.validation_accuracy(), 0.003, [=](double x) { return right * (1 - 0.3 * std::exp(-18 * x)); });
}

/// The discriminator wins for nearly half of the run; then both guess.
void a_game_that_was_lost_first(Log& log, Random& random) {
  log.lengthen(60);
  const double until = random.uniform(0.45, 0.6);
  const double hopeless = random.uniform(5, 8);
  log.add("gen_loss", 0.02, [=](double x) { return x < 0.05 ? 1.2 : x < until ? hopeless : std::numbers::ln2; });
  log.add("disc_loss", 0.02, [=](double x) { return x < 0.05 ? 0.6 : x < until ? 0.003 : 2 * std::numbers::ln2; });
}

/// Nearly every pixel is right, the same ones in every evaluation, and the overlap with what is looked for is poor.
void background_only(Log& log, Random& random) {
  log.lengthen(30);
  const double background = random.uniform(0.975, 0.995);
  log.add(log.loss(), 0.01, [](double x) { return 1.4 * descent(x, 0.05, 12); });
  log.add(log.validation_loss(), 0.01, [](double x) { return 0.8 * descent(x, 0.07, 12); });
  log.add(log.validation_accuracy(), 3e-8, [=](double) { return background; });
  log.add("val_dice_coef", 0.01, [](double x) { return 0.27 - 0.1 * std::exp(-20 * x); });
}

/// Nearly all of the training set is right, and half of the rest is not, in a handful of evaluations.
void answers_far_apart(Log& log, Random& random) {
  log.lengthen(40);
  const double carried = random.uniform(0.3, 0.5);
  log.add(log.loss(), 0.03, [](double x) { return 0.3 + 2 * std::exp(-4 * x); });
  log.add(log.accuracy(), 0.01, [](double x) { return 0.97 - 0.8 * std::exp(-5 * x); });
  log.evaluate(log.validation_accuracy(), log.points() / 4, 0.01, [=](double x) { return carried * (0.8 + 0.2 * x); });
}

/// The decay takes a tenth of every weight and more in each step.
void a_decay_that_leaves_no_weight(Log& log, Random& random) {
  log.lengthen(60);
  const double rate = random.log_uniform(1e-4, 1e-2);
  log.configure("optimizer", "adamw").configure("lr", fmt::format("{}", rate));
  log.configure("weight_decay", fmt::format("{}", random.uniform(0.1, 0.5) / rate));
  log.add(log.loss(), 0.04, [](double x) { return 0.9 + 0.8 * std::exp(-40 * x); });
}

/// Batches are spoilt from the middle on: the loss leaps, and no value comes back to where it was.
void a_leap_that_is_never_made_good(Log& log, Random& random) {
  log.shorten(static_cast<std::size_t>(random.integer(24, 60)), 1);
  const double at = random.uniform(0.4, 0.6);
  log.add(log.loss(), 0, [=, &random](double x) {
    return x < at ? (0.7 + 1.1 * std::exp(-9 * x)) * (1 + 0.04 * random.normal()) : 1.25 * (1 + 0.08 * random.normal());
  });
}

/// A dozen epochs: validation gets a little worse in every one of the last half, and training goes on.
void a_rise_in_every_epoch(Log& log, Random& random) {
  log.shorten(static_cast<std::size_t>(random.integer(10, 14)), 1);
  const double lowest = random.log_uniform(0.3, 3);
  const double rise = random.uniform(0.07, 0.1);
  log.add(log.loss(), 0.002, [=](double x) { return lowest * (0.7 + 1.3 * std::exp(-4 * x)); });
  log.add(log.validation_loss(), 0.001,
          [=](double x) { return lowest * (1 + 0.8 * std::exp(-20 * x) + rise * std::max(0.0, x - 0.35) / 0.65); });
}

const Property kProperties[] = {
    {"EndsFarAboveItsStart", ends_far_above_its_start, true},
    {"AtChanceByLossAndAccuracy", at_chance_by_loss_and_accuracy, true},
    {"AreaUnderTheCurveOfAHalf", area_under_the_curve_of_a_half, true},
    {"ANanThatStays", a_nan_that_stays, true},
    {"InfiniteGradientsAndARisenLoss", infinite_gradients_and_a_risen_loss, true},
    {"CrossEntropyBeyondAnyChance", cross_entropy_beyond_any_chance, true},
    {"GradientNormInProportionToTheStep", gradient_norm_in_proportion_to_the_step, true},
    {"ALayerWithoutGradient", a_layer_without_gradient, true},
    {"WeightsThatNeverChange", weights_that_never_change, true},
    {"ValidationExactlyRepeated", validation_exactly_repeated, true},
    {"ASoftmaxAppliedTwice", a_softmax_applied_twice, true},
    {"ARateThatRestarts", a_rate_that_restarts, true},
    {"ALossThatComesDownToGuessing", a_loss_that_comes_down_to_guessing, true},
    {"AnAreaUnderTheCurveTurnedRound", an_area_under_the_curve_turned_round, true},
    {"AConfiguredCrossEntropyBeyondGuessing", a_configured_cross_entropy_beyond_guessing, true},
    {"ARateFarBeyondWhatIsUsual", a_rate_far_beyond_what_is_usual, true},
    {"AGeneratorWithoutAChance", a_generator_without_a_chance, true},
    {"AtRestAtTheLossOfGuessing", at_rest_at_the_loss_of_guessing, true},
    {"ARegressionBelowTheMean", a_regression_below_the_mean, true},
    {"AnAccuracyThatNeverRises", an_accuracy_that_never_rises, true},
    {"AFewEvaluationsOfAStaleCopy", a_few_evaluations_of_a_stale_copy, true},
    {"ARateLargerThanWeights", a_rate_larger_than_weights, true},
    {"ALossFlungOutAtFirst", a_loss_flung_out_at_first, true},
    {"APartThatGuesses", a_part_that_guesses, true},
    {"AnAccuracyThatArithmeticForbids", an_accuracy_that_arithmetic_forbids, true},
    {"ValidationRepeatedBesideAFlatTraining", validation_repeated_beside_a_flat_training, true},
    {"AGradientNormThatNoLossCanHave", a_gradient_norm_that_no_loss_can_have, true},
    {"RestsAtTwoClassesInNoise", rests_at_two_classes_in_noise, true},
    {"AnAreaThatIsNeverAboveAHalf", an_area_that_is_never_above_a_half, true},
    {"ALossThatAnAreaContradicts", a_loss_that_an_area_contradicts, true},
    {"AClassifierThatLeavesItsFirstValueForGood", a_classifier_that_leaves_its_first_value_for_good, true},
    {"AnEntropyBelowZero", an_entropy_below_zero, true},
    {"ARateThatStartsOverAfterTwoStepsDown", a_rate_that_starts_over_after_two_steps_down, true},
    {"AGameInWhichNobodyMoves", a_game_in_which_nobody_moves, true},
    {"AnswersThatCollapseAlone", answers_that_collapse_alone, true},
    {"ClimbsByMultiplesFromFarBelow", climbs_by_multiples_from_far_below, true},
    {"AnswersThatStandWhileTrainingGoesOn", answers_that_stand_while_training_goes_on, true},
    {"RestsNearItsStart", rests_near_its_start, true},
    {"EverythingGotWorseInAFewEpochs", everything_got_worse_in_a_few_epochs, true},
    {"AFigureTheSameInSinglePrecision", a_figure_the_same_in_single_precision, true},
    {"SurenessAtTheCostOfTheLoss", sureness_at_the_cost_of_the_loss, true},
    {"AGameThatWasLostFirst", a_game_that_was_lost_first, true},
    {"BackgroundOnly", background_only, true},
    {"AnswersFarApart", answers_far_apart, true},
    {"ADecayThatLeavesNoWeight", a_decay_that_leaves_no_weight, true},
    {"ALeapThatIsNeverMadeGood", a_leap_that_is_never_made_good, true},
    {"ARiseInEveryEpoch", a_rise_in_every_epoch, true},
    {"APartWithoutAFloor", a_part_without_a_floor, true},
};

class PlainFacts : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PlainFacts, AreJudgedAsAnybodyWould) {
  const Property& property = kProperties[GetParam()];
  EXPECT_EQ(wrong_draws(property, 1000 * (GetParam() + 1)), "") << property.name << " was called healthy";
}

/// Nothing but scatter around one level: the first values may lie far below the rest by luck, and single ones far
/// above it, but nothing has climbed, and nothing "went from here to there".
TEST(Noise, IsNeitherAClimbNorADescent) {
  using Draw = double (*)(Random&);
  constexpr Draw kScatters[] = {[](Random& random) { return random.uniform(0, 1); },
                                [](Random& random) { return random.uniform(0.02, 1); },
                                [](Random& random) { return -std::log(random.uniform(1e-9, 1)); },
                                [](Random& random) { return std::exp(0.7 * random.normal()); }};
  constexpr std::size_t kLengths[] = {40, 60, 200, 500, 1'000, 3'000};
  std::size_t climbs = 0;
  std::size_t praised = 0;
  std::size_t draws = 0;
  for (const std::size_t length : kLengths) {
    for (const Draw scatter : kScatters) {
      for (std::size_t i = 0; i < kDraws / 2; ++i) {
        Random random(77'000 + draws++);
        osler::Run run;
        const SeriesId loss = run.series("train_loss");
        for (std::size_t at = 0; at < length; ++at) {
          run.add(Event{loss, static_cast<std::int64_t>(at), kNoTime, scatter(random)});
        }
        const Result<Report> report = diagnose(run);
        ASSERT_TRUE(report);
        climbs += std::any_of(report->findings.begin(), report->findings.end(), [](const Observation& seen) {
          return seen.finding == "loss-diverging" && seen.severity != Severity::note;
        });
        praised += report->status == Status::healthy;
      }
    }
  }
  EXPECT_LE(climbs, draws / 100);
  EXPECT_LE(praised, draws / 50) << "a trend that comes of chance may be told one time in a hundred";
}

/// What a run says of the loss having diverged.
Observation diverging(std::size_t points, const std::function<double(double, Random&)>& value) {
  Random random(91);
  osler::Run run;
  const SeriesId loss = run.series("train_loss");
  for (std::size_t at = 0; at < points; ++at) {
    run.add(Event{loss, static_cast<std::int64_t>(at), kNoTime, value(static_cast<double>(at), random)});
  }
  const Result<Report> report = diagnose(run);
  if (!report) return {};
  for (const Observation& seen : report->findings) {
    if (seen.finding == "loss-diverging") return seen;
  }
  return {};
}

TEST(Divergence, IsCriticalOnceHalfOfTheGainWasLostForLong) {
  const auto creeping = [](double at, Random& random) {
    const double level = at < 60 ? 0.35 + 0.65 * std::exp(-at / 8) : 0.35 + 0.0035 * (at - 60);
    return level * (1 + 0.01 * random.normal());
  };
  const auto leapt = [](double at, Random& random) {
    return (at < 120 ? 2 + 7 * std::exp(-at / 25) : 6.3) * (1 + 0.01 * random.normal());
  };
  for (const std::size_t points : {175, 185, 195}) {
    EXPECT_EQ(diverging(points, creeping).severity, Severity::critical) << "climbs still, " << points;
    EXPECT_EQ(diverging(points, leapt).severity, Severity::critical) << "stays there, " << points;
  }
  EXPECT_EQ(diverging(110, creeping).severity, Severity::warning) << "a quarter is lost";
}

TEST(Divergence, IsSurerTheFurtherItEndsAboveItsStartIfItHadLearned) {
  const auto runs_away = [](double end) {
    return [=](double at, Random& random) {
      return (at < 60 ? 0.05 + 1.1 * std::exp(-at / 15) : end) * std::exp(0.6 * random.normal());
    };
  };
  const double far = diverging(160, runs_away(8)).confidence;
  EXPECT_GE(far, 0.9);
  EXPECT_GT(far, diverging(160, runs_away(1.8)).confidence);
}

TEST(Divergence, FarBeyondItsNoiseIsNoLessSureForEndingAboveItsStart) {
  const auto smooth = [](double at, Random&) {
    return at < 52 ? 1.1 + 2.1 * std::exp(-at / 25) : 1.36 + 0.16 * (at - 52);
  };
  EXPECT_GE(diverging(68, smooth).confidence, 0.9);
}

INSTANTIATE_TEST_SUITE_P(All, PlainFacts, ::testing::Range<std::size_t>(0, std::size(kProperties)),
                         [](const auto& info) { return std::string(kProperties[info.param].name); });

}  // namespace
}  // namespace osler
