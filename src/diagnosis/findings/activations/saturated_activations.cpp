// saturated-activations: a sigmoid or tanh layer sits at the ends of its range.
#include "diagnosis/recorded.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The outputs of a sigmoid or tanh layer are mostly at the ends of its range.

## Signature
The share of outputs beyond 0.99 of the range (below 0.01 or above 0.99 for a sigmoid, beyond 0.99 in magnitude for
tanh), as the median over the last third: above `warning` a warning, above `critical` critical. While training
clearly improves critical becomes a warning and a warning a note; where it goes well (the loss more than halved, the
accuracy at least 80 %) even a critical share is only noted.

## Why it matters
The slope is nearly zero there: hardly any gradient passes the layer, and everything before it stops learning.

## When it is harmless
The last layer of a classifier that is sure and right, and gates that are meant to be open or shut.

## References
- Glorot, Bengio 2010, Understanding the Difficulty of Training Deep Feedforward Neural Networks.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  return judge_layers(patient, {"saturated-share", true, settings["warning"], settings["critical"], settings["fewest"],
                                [](const std::string& layer, double value) {
                                  return per_cent(value) + " of the outputs of " + layer +
                                         " are at the ends of their range";
                                },
                                "no activations were recorded: the monitor in the training process does that", true});
}

}  // namespace

Finding saturated_activations() {
  return {"saturated-activations",
          "Activations are saturated",
          {Need::activation},
          kDoc,
          {{"warning", 0.1, "share beyond 0.99 of the range that is a warning (chosen)"},
           {"critical", 0.5, "share that is critical: half the layer passes next to no gradient (chosen)"},
           {"fewest", 3, "recorded values needed to call it lasting"}},
          check};
}

}  // namespace osler::catalogue
