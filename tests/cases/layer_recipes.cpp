// Cases of per-layer values in a log.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

constexpr int kLayers = 8;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double fall(double x) {
  return 0.4 + 1.9 * std::exp(-4.0 * x);
}

std::string layer(const std::string& what, int number) {
  return what + "/layers." + std::to_string(number) + ".weight";
}

/// A run that learns, with the gradient norms `norm(layer, progress)` of eight layers.
template <typename Norm>
Table with_gradients(simulate::Random& random, Norm norm) {
  Table table(random, 60, 10);
  table.add("loss", fall, 0.02);
  for (int i = 0; i < kLayers; ++i) {
    table.add(
        layer("grad_norm", i), [&](double x) { return norm(i, x); }, 0.1);
  }
  return table;
}

Table starved(simulate::Random& random) {
  return with_gradients(random, [](int i, double) { return std::pow(10.0, i - 8.0); });
}

Table even_depth(simulate::Random& random) {
  return with_gradients(random, [](int i, double) { return 0.2 + 0.05 * i; });
}

Table hundredfold(simulate::Random& random) {
  return with_gradients(random, [](int i, double) { return std::pow(10.0, 0.4 * (i - 7.0)); });
}

Table cut_off(simulate::Random& random) {
  return with_gradients(random, [](int i, double) { return i == 3 ? 0.0 : 0.3; });
}

Table frozen_backbone(simulate::Random& random) {
  return with_gradients(random, [](int i, double) { return i < 4 ? 0.0 : 0.3; });
}

Table dies_late(simulate::Random& random) {
  return with_gradients(random, [](int i, double x) { return i == 5 && x > 0.93 ? 0.0 : 0.3; });
}

Table all_alive(simulate::Random& random) {
  return with_gradients(random, [](int, double) { return 0.3; });
}

template <typename Share>
Table with_zeros(simulate::Random& random, Share share) {
  Table table(random, 60, 10);
  table.add("loss", fall, 0.02);
  for (int i = 0; i < 4; ++i) table.add(layer("gradients", i) + "#zero-share", share(i), 0.02);
  return table;
}

Table mostly_zero(simulate::Random& random) {
  return with_zeros(random, [](int i) { return i == 2 ? 0.85 : 0.2; });
}

Table few_zeros(simulate::Random& random) {
  return with_zeros(random, [](int) { return 0.15; });
}

Table half_zeros(simulate::Random& random) {
  return with_zeros(random, [](int i) { return i == 2 ? 0.5 : 0.2; });
}

Table nonfinite_layer(simulate::Random& random) {
  Table table(random, 60, 10);
  table.add("loss", fall, 0.02);
  for (int i = 0; i < 4; ++i) {
    table.add(layer("grad_norm", i), 0.3, 0.1);
    if (i == 3) table.replace(45, 60, kNan);
  }
  return table;
}

Table nonfinite_often(simulate::Random& random) {
  Table table(random, 200);
  table.add("loss", fall, 0.02).add("grad_norm", 0.8, 0.2);
  for (std::size_t row = 40; row < 200; row += 4) table.replace(row, row + 1, kNan);
  return table;
}

Table finite(simulate::Random& random) {
  Table table(random, 200);
  return table.add("loss", fall, 0.02).add("grad_norm", 0.8, 0.2);
}

Table nonfinite_once(simulate::Random& random) {
  Table table(random, 200);
  return table.add("loss", fall, 0.02).add("grad_norm", 0.8, 0.2).replace(120, 121, kNan);
}

/// Weight norms of four layers; the third follows `norm(progress)`.
template <typename Norm>
Table with_weights(simulate::Random& random, Norm norm) {
  Table table(random, 100, 10);
  table.add("loss", fall, 0.02);
  for (int i = 0; i < 4; ++i) {
    table.add(
        layer("weights", i) + "#norm", [&](double x) { return i == 2 ? norm(x) : 12.0 + 0.5 * x; }, 0.002);
  }
  return table;
}

Table weights_explode(simulate::Random& random) {
  return with_weights(random, [](double x) { return 12.0 * std::pow(10.0, 4.0 * x); });
}

Table weights_grow(simulate::Random& random) {
  return with_weights(random, [](double x) { return 12.0 * (1.0 + 0.4 * std::sqrt(x)); });
}

Table weights_grow_fast(simulate::Random& random) {
  return with_weights(random, [](double x) { return 12.0 * (1.0 + 7.0 * x); });
}

Table weights_collapse(simulate::Random& random) {
  return with_weights(random, [](double x) { return 12.0 * std::pow(10.0, -4.0 * x); });
}

Table weights_shrink(simulate::Random& random) {
  return with_weights(random, [](double x) { return 12.0 * (1.0 - 0.3 * x); });
}

Table weights_shrink_fast(simulate::Random& random) {
  return with_weights(random, [](double x) { return 12.0 * std::exp(-2.2 * x); });
}

/// Updates of four layers at `ratio` of their weights; the loss falls, or stays at `stuck`.
Table with_updates(simulate::Random& random, double ratio, double stuck = 0) {
  Table table(random, 60, 10);
  table.add(
      "loss", [&](double x) { return stuck > 0.0 ? stuck : fall(x); }, 0.02);
  for (int i = 0; i < 4; ++i) {
    table.add(layer("weights", i) + "#norm", 12.0, 0.002);
    table.add(layer("updates", i) + "#norm", 12.0 * ratio, 0.1);
  }
  return table;
}

Table updates_tiny(simulate::Random& random) {
  return with_updates(random, 1e-7, 2.3);
}
Table updates_usual(simulate::Random& random) {
  return with_updates(random, 1e-3);
}
Table updates_small(simulate::Random& random) {
  return with_updates(random, 2e-5);
}
Table updates_huge(simulate::Random& random) {
  return with_updates(random, 0.5);
}
Table updates_large(simulate::Random& random) {
  return with_updates(random, 0.05);
}

}  // namespace

Recipes layer_recipes() {
  const std::vector<std::string> kFlat = {"loss-plateau"};
  return {
      sick("vanishing-by-depth", "seven-decades", "A factor of ten per layer, from 0.1 down to 1e-8.", starved,
           {"vanishing-signal", "bad-initialization", "saturation"}, kFlat),
      healthy("vanishing-by-depth", "even", "All layers within a factor of three.", even_depth, kFlat),
      borderline("vanishing-by-depth", "six-hundredfold", "A factor of 600 from last to first.", hundredfold, kFlat),

      sick("dead-layer", "between-others", "The fourth of eight layers never receives a gradient.", cut_off,
           {"disconnected-graph", "dead-units", "frozen-parameters"}, kFlat),
      healthy("dead-layer", "all-alive", "Every layer receives its share.", all_alive, kFlat),
      healthy("dead-layer", "frozen-backbone", "The first half is frozen, as in fine-tuning.", frozen_backbone, kFlat),
      borderline("dead-layer", "last-rows", "One layer without gradient in the last four rows.", dies_late, kFlat),

      sick("gradients-mostly-zero", "one-layer", "85 % exact zeros in one layer.", mostly_zero, {"dead-units"}, kFlat),
      healthy("gradients-mostly-zero", "few", "Fifteen per cent of zeros, as ReLU makes them.", few_zeros, kFlat),
      borderline("gradients-mostly-zero", "half", "About half of one layer.", half_zeros, kFlat),

      between(sick("gradient-nonfinite", "layer", "The last layer's gradient turns NaN at three quarters.",
                   nonfinite_layer, {}, {"loss-plateau", "dead-layer"}),
              450, 450),
      sick("gradient-nonfinite", "often", "Every fourth norm is NaN.", nonfinite_often, {}, kFlat),
      healthy("gradient-nonfinite", "finite", "Only numbers.", finite, kFlat),
      borderline("gradient-nonfinite", "once", "One NaN in 200 steps: a skipped step.", nonfinite_once, kFlat),

      sick("weight-norm-exploding", "four-decades", "One layer's norm grows by 10 000.", weights_explode, {}, kFlat),
      healthy("weight-norm-exploding", "slow-growth", "Forty per cent over the run.", weights_grow, kFlat),
      borderline("weight-norm-exploding", "eightfold", "Eight times its first norm, in a straight line.",
                 weights_grow_fast, kFlat),

      sick("weight-norm-collapsing", "four-decades", "One layer's norm shrinks by 10 000.", weights_collapse, {},
           kFlat),
      healthy("weight-norm-collapsing", "decay", "Thirty per cent less at the end.", weights_shrink, kFlat),
      borderline("weight-norm-collapsing", "ninefold", "Down to a ninth.", weights_shrink_fast, kFlat),

      sick("updates-too-small", "all-layers", "Updates of 1e-7 of the weights, and no progress.", updates_tiny, {},
           {"loss-plateau", "loss-stuck-from-start"}),
      healthy("updates-too-small", "usual", "Updates of a thousandth of the weights.", updates_usual, kFlat),
      borderline("updates-too-small", "near", "Updates of 2e-5 of the weights.", updates_small, kFlat),

      sick("updates-too-large", "all-layers", "Every update is half as large as the weights.", updates_huge, {}, kFlat),
      healthy("updates-too-large", "usual", "Updates of a thousandth of the weights.", updates_usual, kFlat),
      borderline("updates-too-large", "near", "Updates of five per cent of the weights.", updates_large, kFlat),
  };
}

}  // namespace osler::cases
