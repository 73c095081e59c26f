// Cases of learning rates, clipping, loss scales and the clock.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

const std::vector<std::string> kFlat = {"loss-plateau", "loss-stuck-from-start", "loss-stuck-after-drop",
                                        "loss-too-slow", "underfitting"};

double fall(double x) {
  return 0.4 + 1.9 * std::exp(-4.0 * x);
}
double cosine(double x) {
  return 0.5 * (1.0 + std::cos(std::numbers::pi * std::clamp(x, 0.0, 1.0)));
}

// learning-rate-spent

Table spent(simulate::Random& random) {
  Table table(random, 200, 10);
  table.add(
      "train_loss", [](double x) { return 4.0 - 6.0 * std::min(x, 0.2); }, 0.01);
  return table.add("lr", [](double x) { return std::max(1e-8, 1e-3 * cosine(x / 0.2)); });
}

Table ends_with_training(simulate::Random& random) {
  Table table(random, 200, 10);
  return table.add("train_loss", fall, 0.02).add("lr", [](double x) { return 1e-3 * cosine(x); });
}

Table spent_late(simulate::Random& random) {
  Table table(random, 200, 10);
  table.add(
      "train_loss", [](double x) { return 0.4 + 1.9 * std::exp(-4.0 * std::min(x, 0.75)); }, 0.01);
  return table.add("lr", [](double x) { return std::max(1e-8, 1e-3 * cosine(x / 0.75)); });
}

// learning-rate-jump

Table resumed(simulate::Random& random) {
  Table table(random, 200, 10);
  table.add(
      "train_loss", [](double x) { return fall(x) + (x > 0.6 ? 0.5 * std::exp(-8.0 * (x - 0.6)) : 0.0); }, 0.015);
  return table.add("lr", [](double x) { return 3e-4 * (x <= 0.6 ? cosine(x) : cosine(x - 0.6)); });
}

Table restarts(simulate::Random& random) {
  Table table(random, 240, 10);
  const auto turn = [](double x) { return 4.0 * std::min(x, 0.9999) - std::floor(4.0 * std::min(x, 0.9999)); };
  table.add(
      "train_loss", [&](double x) { return fall(x) + 0.15 * cosine(turn(x)); }, 0.015);
  return table.add("lr", [&](double x) { return 0.05 * cosine(turn(x)); });
}

Table doubled_once(simulate::Random& random) {
  Table table(random, 200, 10);
  return table.add("train_loss", fall, 0.02).add("lr", [](double x) { return x < 0.5 ? 1e-4 : 2e-4; });
}

// learning-rate-zero

Table always_zero(simulate::Random& random) {
  Table table(random, 80);
  return table.add("loss", 2.3, 0.02).add("lr", 0.0);
}

Table zero_from_start_long(simulate::Random& random) {
  Table table(random, 200, 50);
  return table.add("train/loss", 7.4e3, 0.01).add("train/learning_rate", 0.0).add("train/grad_norm", 12.0, 0.2);
}

Table zero_first_and_last(simulate::Random& random) {
  Table table(random, 150);
  table.add("loss", fall, 0.02);
  return table.add("lr", [](double x) { return x > 0.995 ? 0.0 : 1e-3 * std::max(0.0, std::min(20.0 * x, 1.0 - x)); });
}

Table zero_half(simulate::Random& random) {
  Table table(random, 150);
  table.add(
      "loss", [](double x) { return fall(std::min(x, 0.6)); }, 0.02);
  return table.add("lr", [](double x) { return x < 0.6 ? 1e-3 * (1.0 - x / 0.6) : 0.0; });
}

// no-warmup

Table rough_start(simulate::Random& random) {
  Table table(random, 300, 10);
  simulate::Levels loss = simulate::rows_of(table.axis(), [](double x) { return 3.2 + 7.6 * std::exp(-6.0 * x); });
  simulate::Levels norms(300, 0.9);
  for (std::size_t row = 1; row < 14; ++row) {
    loss[row] += random.uniform(1.0, 6.0);
    norms[row] *= random.uniform(10.0, 60.0);
  }
  return table.put("loss", loss, 0.01).put("grad_norm", norms, 0.15).add("lr", [](double x) {
    return 1e-3 * cosine(x);
  });
}

Table warmed_up(simulate::Random& random) {
  Table table(random, 300, 10);
  table
      .add(
          "loss", [](double x) { return 3.2 + 7.6 * std::exp(-6.0 * x); }, 0.01)
      .add("grad_norm", 0.9, 0.15);
  return table.add("lr", [](double x) { return 1e-3 * std::min(1.0, x / 0.03) * cosine(x); });
}

Table slightly_rough(simulate::Random& random) {
  Table table(random, 300, 10);
  simulate::Levels loss = simulate::rows_of(table.axis(), [](double x) { return 3.2 + 7.6 * std::exp(-6.0 * x); });
  loss[2] += 1.0;
  return table.put("loss", loss, 0.01).add("lr", 1e-3);
}

// clipping

Table always_clipped(simulate::Random& random) {
  Table table(random, 200, 10);
  return table.add("loss", fall, 0.03).add("grad_norm", 14.0, 0.25).add("clip_threshold", 1.0);
}

Table clipped_values(simulate::Random& random) {
  Table table(random, 200, 10);
  return table.add("loss", fall, 0.03).add("grad_norm", 1.0).add("lr", 1e-3);
}

Table seldom_clipped(simulate::Random& random) {
  Table table(random, 200, 10);
  return table.add("loss", fall, 0.03).add("grad_norm", 0.7, 0.2).add("clip_threshold", 1.0);
}

Table half_clipped(simulate::Random& random) {
  Table table(random, 200, 10);
  return table.add("loss", fall, 0.03).add("grad_norm", 1.03, 0.2).add("clip_threshold", 1.0);
}

Table never_clipped(simulate::Random& random) {
  Table table(random, 200, 10);
  return table.add("loss", fall, 0.03).add("grad_norm", 0.02, 0.2).add("clip_threshold", 5.0);
}

// gradient-norm-oscillating

Table norm_swings(simulate::Random& random) {
  Table table(random, 200, 5);
  simulate::Levels norms(200);
  for (std::size_t row = 0; row < norms.size(); ++row) norms[row] = row % 2 == 0 ? 9.0 : 0.4;
  return table.add("loss", fall, 0.04).put("grad_norm", norms, 0.15);
}

Table steady_norm(simulate::Random& random) {
  Table table(random, 200, 5);
  return table.add("loss", fall, 0.04).add("grad_norm", 1.1, 0.15);
}

Table restless_norm(simulate::Random& random) {
  Table table(random, 200, 5);
  simulate::Levels norms(200);
  for (std::size_t row = 0; row < norms.size(); ++row) norms[row] = row % 2 == 0 ? 1.6 : 0.8;
  return table.add("loss", fall, 0.04).put("grad_norm", norms, 0.15);
}

// loss-scale-collapsing

Table scale_collapses(simulate::Random& random) {
  Table table(random, 250, 10);
  table.add("loss", fall, 0.02);
  return table.add("loss_scale", [](double x) {
    return std::max(1.0, std::pow(2.0, 16.0 - std::floor(std::max(0.0, x - 0.3) * 32.0)));
  });
}

Table scale_at_one(simulate::Random& random) {
  Table table(random, 120, 10);
  table.add("loss", fall, 0.02);
  return table.add("loss_scale", [](double x) { return std::max(1.0, std::pow(2.0, 15.0 - std::floor(x * 120.0))); });
}

Table scale_in_balance(simulate::Random& random) {
  Table table(random, 250, 10);
  table.add("loss", fall, 0.02);
  return table.add("loss_scale", [](double x) { return std::fmod(x * 10.0, 2.0) < 1.0 ? 65536.0 : 32768.0; });
}

Table scale_settles(simulate::Random& random) {
  Table table(random, 250, 10);
  table.add("loss", fall, 0.02);
  return table.add("loss_scale", [](double x) { return std::pow(2.0, 16.0 - std::min(5.0, std::floor(x * 60.0))); });
}

// step-time-cliff and training-stalled

Table slows_down(simulate::Random& random) {
  Table table(random, 200, 10);
  return table.add("loss", fall, 0.03)
      .add(
          "step_time", [](double x) { return x < 0.55 ? 0.21 : 0.95; }, 0.05);
}

Table steady_pace(simulate::Random& random) {
  Table table(random, 200, 10);
  return table.add("loss", fall, 0.03).add("step_time", 0.21, 0.1);
}

Table a_little_slower(simulate::Random& random) {
  Table table(random, 200, 10);
  return table.add("loss", fall, 0.03)
      .add(
          "step_time", [](double x) { return x < 0.55 ? 0.21 : 0.31; }, 0.05);
}

Table with_clock(simulate::Random& random, double pause_seconds) {
  Table table(random, 150, 10);
  simulate::Levels clock(150);
  double now = 1700000000.0;
  for (std::size_t row = 0; row < clock.size(); ++row) {
    now += row == 90 ? pause_seconds : 10.0;
    clock[row] = now;
  }
  return table.add("loss", fall, 0.03).put("timestamp", clock);
}

Table paused(simulate::Random& random) {
  return with_clock(random, 36000.0);
}
Table unbroken(simulate::Random& random) {
  return with_clock(random, 10.0);
}
Table short_pause(simulate::Random& random) {
  return with_clock(random, 1900.0);
}

}  // namespace

Recipes rate_recipes() {
  return {
      at_least(sick("learning-rate-spent", "early", "A cosine that ends at a fifth of the run takes progress with it.",
                    spent, {"lr-decayed-too-fast"}, kFlat),
               Severity::note),
      healthy("learning-rate-spent", "ends-with-training", "The schedule ends where training ends.", ends_with_training,
              {"loss-plateau"}),
      borderline("learning-rate-spent", "late", "The schedule ends at three quarters of the run.", spent_late,
                 {"loss-plateau", "loss-stuck-after-drop"}),

      at_least(
          between(sick("learning-rate-jump", "resumed", "The cosine starts anew at 60 %, and the loss jumps with it.",
                       resumed, {"scheduler-state-lost"}, {"loss-plateau", "loss-spikes", "late-loss-variance"}),
                  1180, 1220),
          Severity::note),
      healthy("learning-rate-jump", "restarts", "Four periods of a cosine with warm restarts.", restarts,
              {"loss-plateau"}),
      borderline("learning-rate-jump", "doubled", "The rate is doubled once, by hand.", doubled_once, {"loss-plateau"}),

      sick("learning-rate-zero", "steps", "Eighty steps at a rate of zero.", always_zero, {}, kFlat),
      sick("learning-rate-zero", "long", "Ten thousand steps with gradients and without a rate.", zero_from_start_long,
           {}, kFlat),
      healthy("learning-rate-zero", "first-and-last", "Zero only where the schedule begins and ends.",
              zero_first_and_last, {"loss-plateau"}),
      borderline("learning-rate-zero", "last-part", "The schedule ends at 60 % with a rate of exactly zero.", zero_half,
                 {"loss-plateau", "learning-rate-spent", "loss-stuck-after-drop"}),

      sick("no-warmup", "rough-start", "Full rate at once: the first steps leap by up to six.", rough_start,
           {"warmup-missing", "lr-too-high"}, {"loss-spikes", "exploding-gradients", "loss-plateau"}),
      healthy("no-warmup", "warmed-up", "A short warm-up and a quiet start.", warmed_up, {"loss-plateau"}),
      borderline("no-warmup", "one-leap", "One early leap at a constant rate.", slightly_rough,
                 {"loss-spikes", "loss-plateau"}),

      at_least(sick("clipping-always", "before", "Norms of 14 against a threshold of 1, on every step.", always_clipped,
                    {"clip-threshold-too-small", "lr-too-high"}, {"loss-plateau"}),
               Severity::note),
      at_least(sick("clipping-always", "after", "The logged norm is exactly 1 on every step: it is the threshold.",
                    clipped_values, {"clip-threshold-too-small", "lr-too-high"}, {"loss-plateau"}),
               Severity::note),
      healthy("clipping-always", "seldom", "A norm of 0.7 and a threshold of 1.", seldom_clipped, {"loss-plateau"}),
      borderline("clipping-always", "half", "Every other step is clipped a little.", half_clipped, {"loss-plateau"}),

      at_least(sick("clipping-never", "far-below", "Norms of 0.02 under a threshold of 5.", never_clipped, {},
                    {"loss-plateau"}),
               Severity::note),
      healthy("clipping-never", "seldom", "A norm of 0.7 and a threshold of 1.", seldom_clipped, {"loss-plateau"}),
      borderline("clipping-never", "half", "Every other step is clipped a little.", half_clipped,
                 {"loss-plateau", "clipping-always"}),

      at_least(sick("gradient-norm-oscillating", "every-other-step", "Nine, 0.4, nine, 0.4.", norm_swings,
                    {"lr-too-high", "no-clipping", "bad-batches", "batch-too-small"}, {"loss-plateau"}),
               Severity::note),
      healthy("gradient-norm-oscillating", "steady", "A norm of 1.1 with fifteen per cent of noise.", steady_norm,
              {"loss-plateau"}),
      borderline("gradient-norm-oscillating", "restless", "Between 0.8 and 1.6.", restless_norm, {"loss-plateau"}),

      sick("loss-scale-collapsing", "keeps-falling", "The scale is halved again and again from 30 % on.",
           scale_collapses, {"fp16-overflow"}, {"loss-plateau"}),
      sick("loss-scale-collapsing", "at-one", "Down to 1 within a few rows, and there it stays.", scale_at_one,
           {"fp16-overflow"}, {"loss-plateau"}),
      healthy("loss-scale-collapsing", "in-balance", "Doubled and halved in turn, as intended.", scale_in_balance,
              {"loss-plateau"}),
      borderline("loss-scale-collapsing", "settles", "Halved five times at the start, then steady.", scale_settles,
                 {"loss-plateau"}),

      between(sick("step-time-cliff", "middle", "Steps take 0.95 s instead of 0.21 s from 55 % on.", slows_down, {},
                   {"loss-plateau"}),
              1050, 1150),
      healthy("step-time-cliff", "steady", "Ten per cent of jitter.", steady_pace, {"loss-plateau"}),
      borderline("step-time-cliff", "half-as-long-again", "Half as slow again from the middle on.", a_little_slower,
                 {"loss-plateau"}),

      at_least(sick("training-stalled", "paused", "Ten hours of silence in a log of ten-second steps.", paused, {},
                    {"loss-plateau", "step-time-cliff"}),
               Severity::note),
      healthy("training-stalled", "unbroken", "A row every ten seconds.", unbroken, {"loss-plateau"}),
      borderline("training-stalled", "half-an-hour", "Half an hour of silence, once.", short_pause,
                 {"loss-plateau", "step-time-cliff"}),
  };
}

}  // namespace osler::cases
