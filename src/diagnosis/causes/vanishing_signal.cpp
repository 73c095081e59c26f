// vanishing-signal: depth and activation shrink the gradient before it reaches the early layers.
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Going backward, each layer multiplies the gradient by the slope of its activation and by its weights. With sigmoid or
tanh, small weights or great depth the product shrinks exponentially, and the early layers receive nothing.

## How it shows
The loss stands still from the start or creeps; the global gradient norm is tiny, or the early layers' norms lie orders
of magnitude below the late layers'.

## What else looks like it
A learning rate that is too low (the gradient is healthy), frozen parameters or a detached graph (gradients exactly
zero), dead units, a loss at its floor.

## References
- Hochreiter 1991; Glorot and Bengio 2010; He et al. 2015.
)";

std::vector<Remedy> remedies(const Patient&, const Findings&) {
  return {advice("Add residual connections, so that the gradient has a path around each layer."),
          advice("Use ReLU, GELU or SiLU in place of sigmoid or tanh."),
          advice("Initialise for the activation: He (std sqrt(2 / fan_in)) for ReLU, Xavier for tanh."),
          advice("Normalise between layers (LayerNorm, BatchNorm).")};
}

}  // namespace

Cause vanishing_signal() {
  return {"vanishing-signal",
          "The gradient fades on its way through the layers",
          kDoc,
          -1.8,
          {{"vanishing-gradients", 3.5, -1.5, "the gradient is practically zero"},
           {"loss-stuck-from-start", 1.3, -0.3, "the early layers receive no signal, so nothing is learned"},
           {"exploding-gradients", -2.0, 0, "the gradient grows, it does not fade"}},
          "signal-propagation",
          "Look at the gradient norm per layer: early layers a thousand times below late ones confirm it.",
          nullptr,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue
