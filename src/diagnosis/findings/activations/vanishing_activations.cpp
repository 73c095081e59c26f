// vanishing-activations: the signal fades to nothing inside the network.
#include "diagnosis/recorded.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The outputs of a layer are practically one number: their standard deviation is next to zero.

## Signature
The standard deviation over all elements, as the median over the last third of the run, is below `warning`; below
`critical` it is critical, unless training clearly improves.

## Why it matters
What does not vary carries no information about the input, and no gradient comes back through it.

## When it is harmless
An output layer of a task whose targets are tiny by nature.

## References
- Glorot, Bengio 2010, Understanding the Difficulty of Training Deep Feedforward Neural Networks.
- He, Zhang, Ren, Sun 2015, Delving Deep into Rectifiers.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  return judge_layers(patient, {"std", false, settings["warning"], settings["critical"], settings["fewest"],
                                [](const std::string& layer, double value) {
                                  return "The outputs of " + layer + " have a spread of only " + number(value);
                                },
                                "no activations were recorded: the monitor in the training process does that"});
}

}  // namespace

Finding vanishing_activations() {
  return {
      "vanishing-activations",
      "Activations have no spread",
      {Need::activation},
      kDoc,
      {{"warning", 1e-6, "standard deviation that is a warning, a millionth of what initialisation aims at (chosen)"},
       {"critical", 1e-12, "standard deviation of a constant, up to rounding"},
       {"fewest", 3, "recorded values needed to call it lasting"}},
      check};
}

}  // namespace osler::catalogue
