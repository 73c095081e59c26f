// Cases of one layer that is unlike all others, from logs that hold norms of layers and nothing else of the gradient.
#include <cmath>

#include "cases/recipe.h"

namespace osler::cases {
namespace {

constexpr int kLayers = 20;

double fall(double x) {
  return 0.4 + 1.9 * std::exp(-4.0 * x);
}

std::string layer(int number) {
  return "grad_norm/layers." + std::to_string(number) + ".weight";
}

/// A run of twenty layers with the gradient norms `norm(layer, progress)`; ordinary ones lie between 0.2 and 0.5.
template <typename Norm>
Table twenty(simulate::Random& random, bool learns, Norm norm) {
  Table table(random, 80, 10);
  table.add(
      "loss", [&](double x) { return learns ? fall(x) : 2.3; }, 0.02);
  for (int i = 0; i < kLayers; ++i) {
    table.add(
        layer(i), [&](double x) { return norm(i, x); }, 0.15);
  }
  return table;
}

double usual(int number) {
  return 0.2 + 0.3 * ((7 * number) % kLayers) / kLayers;
}

Table eighty(simulate::Random& random) {
  return twenty(random, false, [](int i, double) { return i == 7 ? 80.0 : usual(i); });
}

Table runs_away(simulate::Random& random) {
  return twenty(random, true, [](int i, double x) { return i == 12 ? usual(i) * std::pow(10.0, 4.0 * x) : usual(i); });
}

Table silent(simulate::Random& random) {
  return twenty(random, true, [](int i, double) { return i == 7 ? 1e-9 : usual(i); });
}

Table falls_silent(simulate::Random& random) {
  return twenty(random, false, [](int i, double x) { return i == 3 && x > 0.5 ? 2e-6 : usual(i); });
}

Table fiftyfold(simulate::Random& random) {
  return twenty(random, true, [](int i, double) { return i == 19 ? 15.0 : usual(i); });
}

Table three_thousandth(simulate::Random& random) {
  return twenty(random, true, [](int i, double) { return i == 0 ? 1e-4 : usual(i); });
}

/// A language model: a table that few tokens touch, biases that attention does not feel, normalisations, a large head.
Table different_by_nature(simulate::Random& random) {
  Table table(random, 80, 10);
  table.add("loss", fall, 0.02);
  table.add("grad_norm/wte.weight", 9.0, 0.3);
  table.add("grad_norm/wpe.weight", 2e-4, 0.3);
  for (int i = 0; i < 6; ++i) {
    const std::string block = "grad_norm/h." + std::to_string(i) + ".";
    table.add(block + "ln_1.weight", 0.02, 0.2);
    table.add(block + "attn.q.weight", 0.004, 0.2);
    table.add(block + "attn.v.weight", 0.3, 0.2);
    table.add(block + "attn.k.bias", 3e-9, 0.4);
    table.add(block + "attn.v.bias", 0.01, 0.2);
    table.add(block + "mlp.weight", 0.5, 0.2);
  }
  table.add("grad_norm/logit_scale", 40.0, 0.2);
  table.add("grad_norm/lm_head.weight", 4.0, 0.2);
  return table;
}

/// Adapters: A has hardly any gradient while B is near zero, and the head learns from scratch.
Table adapters(simulate::Random& random) {
  Table table(random, 80, 10);
  table.add("loss", fall, 0.02);
  for (int i = 0; i < 8; ++i) {
    const std::string block = "grad_norm/layers." + std::to_string(i) + ".q_proj.";
    table.add(
        block + "lora_A.weight", [](double x) { return 1e-7 + 2e-3 * x; }, 0.2);
    table.add(block + "lora_B.weight", 0.8, 0.2);
  }
  table.add("grad_norm/score.weight", 6.0, 0.2);
  return table;
}

}  // namespace

Recipes lone_layer_recipes() {
  const std::vector<std::string> kFlat = {"loss-plateau"};
  return {
      sick("exploding-layer", "eighty-among-thirds",
           "One of twenty layers at 80, the others at 0.3; nothing is learned.", eighty,
           {"exploding-signal", "bad-initialization", "lr-too-high"}, {"loss-plateau", "loss-stuck-from-start"}),
      sick("exploding-layer", "runs-away", "One of twenty layers grows ten thousandfold while the loss still falls.",
           runs_away, {"exploding-signal", "lr-too-high", "no-clipping"}, {"loss-plateau", "exploding-gradients"}),
      healthy("exploding-layer", "different-by-nature",
              "Table, head, biases, normalisations and a temperature of a language model.", different_by_nature, kFlat),
      borderline("exploding-layer", "fiftyfold", "The head's gradient is fifty times the others'.", fiftyfold, kFlat),

      sick("silent-layer", "one-in-twenty", "One of twenty layers at 1e-9, the others at 0.3; the loss falls.", silent,
           {"vanishing-signal", "dead-units", "bad-initialization", "saturation", "disconnected-graph"}, kFlat),
      between(sick("silent-layer", "falls-silent", "One layer falls to 2e-6 half-way; nothing is learned.",
                   falls_silent, {}, {"loss-plateau", "loss-stuck-from-start"}),
              380, 430),
      healthy("silent-layer", "adapters", "LoRA: A hardly has a gradient at first.", adapters, kFlat),
      borderline("silent-layer", "three-thousandth", "The first layer has a three-thousandth of the others'.",
                 three_thousandth, kFlat),
  };
}

}  // namespace osler::cases
