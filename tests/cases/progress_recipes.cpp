// Cases of losses that diverge, never move, stop or crawl.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

const std::string kDiverging = "loss-diverging";
const std::string kStuck = "loss-stuck-from-start";
const std::vector<std::string> kUnstable = {"exploding-gradients", "loss-spikes", "late-loss-variance",
                                            "loss-oscillating", "gradient-norm-oscillating"};
const std::vector<std::string> kFlat = {"loss-plateau", "loss-too-slow", "underfitting"};

Table rate_too_high(simulate::Random& random) {
  Table table(random, 160, 10);
  table.add(
      "train_loss",
      [](double x) {
        return x < 0.3 ? 6e3 + 1.4e4 * std::exp(-12.0 * x) : 6e3 + 3e5 * (1.0 - std::exp(-8.0 * (x - 0.3)));
      },
      0.05);
  return table.add("lr", 0.5);
}

Table late_divergence(simulate::Random& random) {
  Table table(random, 300, 50);
  table.add(
      "train/loss",
      [](double x) {
        return x < 0.7 ? 3.2 + 7.6 * std::pow(1.0 + 150.0 * x, -0.7) : 7.4 + 0.6 * std::exp(-60.0 * (x - 0.7));
      },
      0.012);
  table.add(
      "train/grad_norm", [](double x) { return x < 0.7 ? 0.6 : 6.0; }, 0.2);
  return table.add("train/learning_rate", [](double x) { return 6e-4 * 0.5 * (1.0 + std::cos(3.14159 * x)); });
}

Table short_divergence(simulate::Random& random) {
  Table table(random, 20, 1, 1);
  return table
      .put("loss", {2.31, 1.95, 1.72, 1.66, 1.64, 1.81, 2.40, 3.22, 4.10, 5.90,
                    7.71, 9.02, 11.4, 13.1, 13.9, 15.2, 14.8, 15.9, 16.3, 16.1},
           0.01)
      .add("lr", 0.1);
}

Table negative_divergence(simulate::Random& random) {
  Table table(random, 120);
  return table.add(
      "loss", [](double x) { return x < 0.4 ? -120.0 + 160.0 * std::exp(-10.0 * x) : -120.0 + 1000.0 * (x - 0.4); },
      0.02);
}

Table tiny_divergence(simulate::Random& random) {
  Table table(random, 200, 5);
  return table.add(
      "train_mse",
      [](double x) { return x < 0.5 ? 1e-4 * (1.0 + 8.0 * std::exp(-9.0 * x)) : 1e-4 * std::exp(9.0 * (x - 0.5)); },
      0.06);
}

Table leap_not_won_back(simulate::Random& random) {
  Table table(random, 300, 10);
  return table.add(
      "lm loss",
      [](double x) {
        const double descent = 4.0 + 6.0 * std::exp(-4.0 * std::min(x, 0.55));
        return x < 0.55 ? descent : descent + 1.1 + 1.5 * std::exp(-80.0 * (x - 0.55));
      },
      0.012);
}

Table scattered_divergence(simulate::Random& random) {
  Table table(random, 90, 20);
  simulate::Levels loss(90);
  for (std::size_t row = 0; row < loss.size(); ++row) {
    const double x = table.axis().progress(row);
    const double level = x < 0.5 ? 0.28 + 0.3 * std::exp(-9.0 * x) : 1.1;
    loss[row] = level * std::exp((x < 0.5 ? 0.15 : 0.35) * random.normal());
  }
  return table.put("train/loss", loss);
}

Table warm_restarts(simulate::Random& random) {
  Table table(random, 240);
  const auto rate = [](double x) {
    const double turn = 4.0 * std::min(x, 0.9999);
    return 0.5 * (1.0 + std::cos(std::numbers::pi * (turn - std::floor(turn))));
  };
  table.add(
      "train_loss", [&](double x) { return 0.35 + 1.9 * std::exp(-6.0 * x) + 0.25 * rate(x); }, 0.02);
  return table.add("lr", [&](double x) { return 0.1 * rate(x); });
}

Table warmup_bump(simulate::Random& random) {
  Table table(random, 200, 20);
  table.add(
      "loss",
      [](double x) {
        return 3.0 + 5.0 * std::pow(1.0 + 30.0 * x, -0.8) + 3.0 * std::exp(-std::pow((x - 0.05) / 0.02, 2.0));
      },
      0.02);
  return table.add("lr", [](double x) { return 1e-3 * std::min(1.0, x / 0.06); });
}

Table curriculum(simulate::Random& random) {
  Table table(random, 200, 10);
  table.add(
      "loss",
      [](double x) {
        const double base = 1.5 + 2.5 * std::exp(-5.0 * x);
        return x < 0.5 ? base : base + 0.6 * std::exp(-9.0 * (x - 0.5));
      },
      0.02);
  return table.add("seqlen", [](double x) { return x < 0.5 ? 128.0 : 512.0; });
}

Table noisy_descent(simulate::Random& random) {
  Table table(random, 400);
  return table.add(
      "loss", [](double x) { return 0.4 + 1.8 * std::exp(-3.0 * x); }, 0.25);
}

Table small_rise(simulate::Random& random) {
  Table table(random, 100);
  return table.add(
      "loss", [](double x) { return 0.5 + 1.6 * std::exp(-8.0 * x) + 0.06 * std::max(0.0, x - 0.6); }, 0.01);
}

Table chance_of_ten(simulate::Random& random) {
  Table table(random, 50, 1, 1);
  table.add("loss", std::log(10.0), 0.0008).add("val_loss", std::log(10.0), 0.0004);
  return table.add("accuracy", 0.1, 0.03).add("val_accuracy", 0.1, 0.02).add("lr", 0.001);
}

Table chance_of_two_noisy(simulate::Random& random) {
  Table table(random, 300, 10);
  return table.add("train_loss", std::numbers::ln2, 0.06).add("grad_norm", 0.4, 0.2);
}

Table stuck_regression(simulate::Random& random) {
  Table table(random, 150);
  return table.add("train_loss", 3.1e4, 0.04).add("val_loss", 3.3e4, 0.01);
}

Table tiny_gradient(simulate::Random& random) {
  Table table(random, 120, 25);
  return table.add("loss", 1.61, 0.01).add("grad_norm", 3e-10, 0.3).add("lr", 0.001);
}

Table exactly_constant(simulate::Random& random) {
  Table table(random, 40);
  return table.add("train_loss", 4.605).add("val_loss", 4.605).add("lr", 0.01);
}

Table rate_too_low(simulate::Random& random) {
  Table table(random, 200, 5);
  return table.add("loss", 5.4, 0.02).add("learning_rate", 1e-9).add("grad_norm", 1.9, 0.2);
}

Table late_escape(simulate::Random& random) {
  Table table(random, 120);
  const auto level = [](double x) { return 1.386 - (0.7 + 0.5 * x) / (1.0 + std::exp(-(x - 0.3) / 0.05)); };
  return table.add("train_loss", level, 0.008)
      .add(
          "val_loss", [&](double x) { return level(x) + 0.05; }, 0.008);
}

Table fine_tuning(simulate::Random& random) {
  Table table(random, 150, 10);
  table.add(
      "loss", [](double x) { return 1.45 + 0.35 * std::exp(-3.0 * x); }, 0.03);
  return table.add("learning_rate", [](double x) { return 2e-5 * (1.0 - x); });
}

Table mean_of_targets(simulate::Random& random) {
  Table table(random, 40, 1, 1);
  table.add(
      "train_loss", [](double x) { return 1.0 + 0.35 * std::exp(-30.0 * x); }, 0.002);
  return table.add("val_loss", 1.002, 0.001);
}

Table unbounded_critic(simulate::Random& random) {
  Table table(random, 120, 100);
  table.add(
      "d_loss", [](double x) { return -3.0 * std::exp(10.0 * x); }, 0.1);
  return table.add(
      "g_loss", [](double x) { return 2.0 * std::exp(9.0 * x); }, 0.1);
}

Table bounded_critic(simulate::Random& random) {
  Table table(random, 120, 100);
  table.add(
      "d_loss", [](double x) { return -8.0 * std::exp(-4.0 * x) - 1.5; }, 0.1);
  return table.scatter(
      "g_loss", [](double x) { return -4.0 + 9.0 * x; }, 0.8);
}

Table filled_queue(simulate::Random& random) {
  Table table(random, 100);
  table.add(
      "loss", [](double x) { return x < 0.08 ? 2.0 + 6.1 * x / 0.08 : 6.6 + 1.5 * std::exp(-4.0 * (x - 0.08) / 0.92); },
      0.003);
  return table.add(
      "acc1", [](double x) { return 40.0 - 35.0 * std::exp(-3.0 * x) + (x < 0.02 ? 20.0 : 0.0); }, 0.02);
}

Table random_noise_levels(simulate::Random& random) {
  Table table(random, 1500, 1, 1);
  simulate::Levels loss(1500);
  for (double& value : loss) value = 0.12 * std::exp(0.7 * random.normal());
  return table.put("step_loss", loss).add("lr", 1e-4);
}

Table thousand_classes(simulate::Random& random) {
  Table table(random, 12);
  table.add(
      "train_loss", [](double x) { return 7.04 - 0.98 * x; }, 0.003);
  table.add(
      "val_loss", [](double x) { return 6.91 - 0.7 * x; }, 0.003);
  return table.add(
      "val_acc", [](double x) { return 0.0014 * std::exp(2.6 * x); }, 0.03);
}

Table short_descent(simulate::Random& random) {
  Table table(random, 10, 1, 1);
  return table.put("loss", {0.693, 0.671, 0.652, 0.628, 0.611, 0.583, 0.571, 0.552, 0.541, 0.523}, 0.002)
      .put("val_loss", {0.690, 0.668, 0.655, 0.634, 0.619, 0.598, 0.589, 0.577, 0.568, 0.557}, 0.002);
}

Table creeping(simulate::Random& random) {
  Table table(random, 150);
  return table
      .add(
          "loss", [](double x) { return 2.303 * (1.0 - 0.012 * x); }, 0.002)
      .add("lr", 1e-5);
}

}  // namespace

Recipes progress_recipes() {
  return {
      at_least(between(sick(kDiverging, "rate-too-high", "A loss in the thousands that turns at a third and explodes.",
                            rate_too_high, {"lr-too-high", "exploding-signal", "no-clipping"}, kUnstable),
                       340, 700),
               Severity::critical),
      between(sick(kDiverging, "late", "A language model jumps from 3.3 to 7.4 at 70 % and stays there.",
                   late_divergence, {"lr-too-high", "exploding-signal", "no-clipping"}, kUnstable),
              9500, 11500),
      between(sick(kDiverging, "short", "Twenty epochs: down for five, then up sevenfold.", short_divergence,
                   {"lr-too-high", "exploding-signal", "no-clipping"}, kUnstable),
              4, 9),
      between(sick(kDiverging, "negative", "Below zero at its best, then a steady climb to +480.", negative_divergence,
                   {}, kUnstable),
              40, 65),
      between(
          sick(kDiverging, "tiny", "A squared error near 1e-4 that grows ninetyfold.", tiny_divergence, {}, kUnstable),
          450, 750),
      sick(kDiverging, "leap", "A leap at 55 % takes a fifth of the gain, and nothing of it is won back.",
           leap_not_won_back, {}, {"loss-plateau", "loss-stuck-after-drop", "loss-spikes"}),
      sick(kDiverging, "scattered", "Up fourfold at half time, with scatter that grows along.", scattered_divergence,
           {}, {"loss-stuck-from-start", "loss-oscillating", "late-loss-variance", "loss-spikes"}),
      healthy(kDiverging, "warm-restarts", "The rate restarts four times; the loss follows it up, as intended.",
              warm_restarts),
      healthy(kDiverging, "warmup-bump", "The loss peaks while the rate warms up.", warmup_bump),
      healthy(kDiverging, "curriculum", "Longer sequences from the middle on: a jump, then descent again.", curriculum),
      sick(kDiverging, "unbounded-critic", "The losses of both networks grow ten-thousandfold.", unbounded_critic),
      healthy(kDiverging, "bounded-critic", "A critic closes in while the generator's score drifts.", bounded_critic),
      healthy(kDiverging, "filled-queue",
              "A queue of negatives fills for eight epochs, then the loss descends in a bend.", filled_queue),
      healthy(kDiverging, "noisy-descent", "Noise of a quarter of the loss on a steady descent.", noisy_descent),
      borderline(kDiverging, "small-rise", "Up by five per cent of its best over the last 40 %.", small_rise,
                 {"loss-plateau", "loss-stuck-after-drop"}),

      between(sick(kStuck, "chance-of-ten", "Fifty epochs at ln 10 with an accuracy of 0.1.", chance_of_ten, {}, kFlat),
              1, 1),
      between(
          sick(kStuck, "chance-of-two-noisy", "A noisy binary classifier around ln 2.", chance_of_two_noisy, {}, kFlat),
          0, 0),
      sick(kStuck, "regression", "A squared error of 3e4 without any trend.", stuck_regression, {}, kFlat),
      sick(kStuck, "mean-of-targets", "Both squared errors rest at exactly 1 after a few epochs.", mean_of_targets, {},
           kFlat),
      sick(kStuck, "tiny-gradient", "No progress, and gradient norms of 3e-10.", tiny_gradient,
           {"vanishing-signal", "bad-initialization", "dead-units", "saturation"},
           {"loss-plateau", "loss-too-slow", "underfitting", "vanishing-gradients"}),
      sick(kStuck, "exactly-constant", "The same loss to the last digit for forty epochs.", exactly_constant,
           {"disconnected-graph", "frozen-parameters", "dead-units"},
           {"loss-plateau", "loss-too-slow", "underfitting", "validation-frozen"}),
      sick(kStuck, "rate-too-low", "Sound gradients, but a learning rate of 1e-9.", rate_too_low, {"lr-too-low"},
           kFlat),
      healthy(kStuck, "late-escape", "At ln 4 for a quarter of the run, then a good descent.", late_escape),
      healthy(kStuck, "fine-tuning", "Starts near its floor and gains a fifth.", fine_tuning),
      healthy(kStuck, "short", "Ten epochs from ln 2 down to 0.52.", short_descent),
      healthy(kStuck, "random-noise-levels",
              "Denoising at noise levels drawn anew: samples differ sevenfold, and no trend.", random_noise_levels),
      healthy(kStuck, "thousand-classes",
              "Twelve epochs from ln 1000 down to 6.0, and 1.9 % right of a thousand classes.", thousand_classes),
      borderline(kStuck, "creeping", "Down by 1.2 % in 150 epochs, clearly above the noise.", creeping,
                 {"loss-plateau", "loss-too-slow"}),
  };
}

}  // namespace osler::cases
