// disconnected-graph: the loss does not reach the parameters.
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Somewhere between parameters and loss the graph is cut: a detach, a conversion to a plain number or array, an argmax, a
no-grad block left open, a tensor rebuilt from its values. Gradients never arrive, or only in part of the model.

## How it shows
A gradient norm of exactly zero, or layers whose gradient is missing; a loss that does not move at all, or moves
with the batches only.

## What else looks like it
Frozen parameters (the gradient is there, the update is not), dead units (zeros from the activation), fading gradients
(small, not zero).

## References
- Paszke et al. 2019, PyTorch: An Imperative Style, High-Performance Deep Learning Library.
- Islam et al. 2019, A Comprehensive Study on Deep Learning Bug Characteristics.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (norms_all_zero(patient)) found.push_back({2.0, "every gradient norm is exactly zero"});
  if (verdicts.found("dead-layer") != nullptr && monitored(patient) && verdicts.absent("dead-neurons")) {
    found.push_back({1.5, "the optimizer holds the layer and its units are active, yet no gradient comes back"});
  }
  const Reading* training = patient.training();
  if (training != nullptr && exactly_constant(*training) && verdicts.found("loss-exactly-zero") == nullptr) {
    found.push_back({2.0, training->name + " repeats to the last digit"});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts& verdicts) {
  const auto norm = usual_norm(patient);
  const bool partly = verdicts.found("dead-layer") != nullptr || verdicts.found("gradients-mostly-zero") != nullptr;
  if (partly || !norm || !norms_ordinary(patient, verdicts)) return std::nullopt;
  return "gradients arrive: their norm is " + number(*norm) + " in the median";
}

std::vector<Remedy> remedies(const Patient&, const Verdicts& verdicts) {
  std::vector<Remedy> list;
  const Observation* dead = verdicts.found("dead-layer");
  if (dead != nullptr && !dead->layers.empty()) {
    list.push_back(advice("Follow the graph from the loss to " + dead->layers.front() + ": that is where it is cut."));
  }
  list.push_back(switch_to("Look for detach, item, numpy, argmax, a rebuilt tensor or a no-grad block on the way.",
                           "connected", "on"));
  list.push_back(advice("After backward, list the parameters whose gradient is missing or zero."));
  return list;
}

}  // namespace

Cause disconnected_graph() {
  return {"disconnected-graph",
          "The loss is not connected to the parameters",
          kDoc,
          -2.9,
          {{"cannot-overfit-one-batch", 1.2, 0, "without gradients nothing is memorised"},
           {"dead-layer", 4.2, -1.1, "a layer without any gradient is not part of the graph"},
           {"silent-layer", -0.8, 0, "the gradient is tiny but there: the layer is part of the graph"},
           {"loss-stuck-from-start", 0.6, 0, "without gradients nothing moves"},
           {"gradients-mostly-zero", 1.2, 0, "large parts of the model receive nothing"},
           {"vanishing-gradients", 1.2, 0, "a graph that is cut gives no gradient"},
           {"loss-exactly-zero", 1.2, 0, "a constant in place of the loss has no gradient"},
           {"validation-frozen", 0.3, 0, "weights that never move give the same result every time"},
           {"underfitting", 0.9, 0, "only part of the model learns"},
           {"poor-initialization", -3.0, 0, "the first weights explain why no gradient comes back"},
           {"dead-neurons", -2.0, 0, "units that are silent explain the missing gradient"},
           {"exploding-gradients", -2.5, 0, "gradients do arrive"},
           {"clipping-always", -2.5, 0, "gradients do arrive"},
           {"overfitting", -2.0, 0, "the model learns its training set"},
           {"reward-without-variance", -3.0, 0, "answers that earn alike give no gradient, whatever the network"}},
          "checkup",
          "Check that every trainable parameter has a gradient after one backward pass.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
