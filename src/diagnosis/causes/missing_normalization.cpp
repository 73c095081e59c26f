// missing-normalization: nothing keeps the activations of a deep network at one scale.
#include "diagnosis/configured.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Without BatchNorm, LayerNorm or a careful substitute the scale of the activations drifts from layer to layer and from
step to step. The surface gets rough, only small learning rates are stable, and depth works against the model.

## How it shows
Early layers that lag far behind, weights that keep growing, gradients that run away at rates other models bear, slow
progress at the rates that are left.

## What else looks like it
A learning rate that is too high, bad initialisation, inputs that are not scaled.

## References
- Ioffe and Szegedy 2015, Batch Normalization.
- Ba, Kiros, Hinton 2016, Layer Normalization.
- Santurkar et al. 2018, How Does Batch Normalization Help Optimization?
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  const auto flag = configured_flag(patient, {"batch_norm", "batchnorm", "use_bn", "layer_norm", "use_norm", "norm"});
  const auto kind = configured_text(patient, {"normalization", "norm_layer", "norm_type"});
  const auto depth = configured_number(patient, {"depth", "num_layers", "n_layer", "num_hidden_layers"});
  constexpr double kDeep = 8;
  if (kind == "none" && depth && *depth >= kDeep) {
    found.push_back({1.2, number(*depth) + " layers and no normalisation between them"});
  } else if (kind && *kind != "none") {
    found.push_back({-2.5, "the configuration has normalisation: " + std::string(*kind)});
  }
  if (const auto signal = first_signal(patient); signal && (signal->fades() || signal->grows())) {
    found.push_back({1.5, signal->in_words()});
  }
  if (flag == true) found.push_back({-1.2, "the configuration switches normalisation on"});
  if (flag == false) found.push_back({1.2, "the configuration switches normalisation off"});
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  return {normalise_layers(),
          advice("With batches below 16, use GroupNorm or LayerNorm: BatchNorm's statistics are too noisy there."),
          add_residual_connections(), divide_learning_rate(patient, 3)};
}

}  // namespace

Cause missing_normalization() {
  return {"missing-normalization",
          "The network lacks normalisation layers",
          kDoc,
          -3.2,
          {{"vanishing-by-depth", 1.8, 0, "nothing keeps the scale from layer to layer"},
           {"weight-norm-exploding", 1.5, 0, "nothing bounds the scale of the weights"},
           {"exploding-gradients", 0.9, 0, "the scale of the signal is free to grow"},
           {"initial-loss-wrong", 1.1, 0, "outputs of any scale give a first loss of any size"},
           {"loss-too-slow", 0.5, 0, "a rough surface allows only short steps"},
           {"loss-stuck-from-start", 1.0, 0, "the signal can die out over unnormalised layers"},
           {"vanishing-gradients", 0.5, 0, "the signal can die out over unnormalised layers"},
           {"loss-spikes", 0.2, 0, "a surface that is rough makes leaps likely"},
           {"loss-diverging", 0.2, 0, "ordinary rates are already too high for a rough surface"}},
          "signal-propagation",
          "Send random inputs through: activations whose scale grows or shrinks with depth confirm it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
