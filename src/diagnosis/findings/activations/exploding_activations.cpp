// exploding-activations: activations grow beyond any sensible size.
#include "diagnosis/recorded.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The largest output of a layer is far beyond what networks compute with.

## Signature
The largest magnitude of a layer's outputs, as the median over the last third, is above `warning`; above `critical` it
is critical, unless training clearly improves.

## Why it matters
The loss and the gradients grow with the activations; half precision ends at 65504, and a step later they are infinite.

## When it is harmless
Inputs or targets of that size on purpose, such as prices or counts that were not scaled; then say so to the optimizer
too.

## References
- He, Zhang, Ren, Sun 2015, Delving Deep into Rectifiers.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  return judge_layers(patient, {"max", true, settings["warning"], settings["critical"], settings["fewest"],
                                [](const std::string& layer, double value) {
                                  return "The outputs of " + layer + " reach " + number(value);
                                },
                                "no activations were recorded: the monitor in the training process does that"});
}

}  // namespace

Finding exploding_activations() {
  return {
      "exploding-activations",
      "Activations are huge",
      {Need::activation},
      kDoc,
      {{"warning", 1e3, "largest magnitude that is a warning: the product of two such values overflows half precision"},
       {"critical", 1e6,
        "magnitude from which overflow in half precision and lost digits in single precision are certain"},
       {"fewest", 3, "recorded values needed to call it lasting"}},
      check};
}

}  // namespace osler::catalogue
