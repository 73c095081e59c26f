// collapsed-representation: all samples look the same inside the network.
#include "diagnosis/recorded.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
A layer maps every sample of a batch to nearly the same outputs.

## Signature
The sum of squared distances of the samples from their mean over the sum of their squared norms, as the median over the
last third, is below `warning`; below `critical` it is critical, unless training clearly improves.

## Why it matters
What all samples share says nothing about any of them. Networks that learn by comparing views of a sample collapse this
way, and so do classifiers that predict the prior.

## When it is harmless
Positional or token embeddings that do not depend on the sample, and networks before the first step whose biases
dominate.

## References
- Jing, Vincent, LeCun, Tian 2022, Understanding Dimensional Collapse in Contrastive Self-supervised Learning.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  return judge_layers(patient, {"spread", false, settings["warning"], settings["critical"], settings["fewest"],
                                [](const std::string& layer, double value) {
                                  return "The outputs of " + layer + " differ between samples by only " +
                                         per_cent(value) + " of their size";
                                },
                                "no activations were recorded: the monitor in the training process does that"});
}

}  // namespace

Finding collapsed_representation() {
  return {
      "collapsed-representation",
      "Every sample maps to nearly the same activations",
      {Need::activation},
      kDoc,
      {{"warning", 1e-4, "share of the size that differs between samples; healthy layers have a few per cent and more"},
       {"critical", 1e-8, "samples are equal up to rounding"},
       {"fewest", 3, "recorded values needed to call it lasting"}},
      check};
}

}  // namespace osler::catalogue
