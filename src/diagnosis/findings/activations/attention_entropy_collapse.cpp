// attention-entropy-collapse: attention rows look at one token only.
#include "diagnosis/recorded.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The rows of an attention matrix put all of their weight on one token.

## Signature
The mean entropy of the rows, as a share of the largest possible, as the median over the last third, is below `warning`;
below `critical` it is critical, unless training clearly improves.

## Why it matters
The softmax is saturated and passes no gradient to queries and keys; the loss spikes or training stalls. It goes with
query and key weights that grow without bound.

## When it is harmless
Single heads that copy the previous token do this on purpose; all heads of a layer together do not.

## References
- Zhai et al. 2023, Stabilizing Transformer Training by Preventing Attention Entropy Collapse.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  return judge_layers(patient, {"entropy", false, settings["warning"], settings["critical"], settings["fewest"],
                                [](const std::string& layer, double value) {
                                  return "The attention of " + layer + " is nearly a single token: " + per_cent(value) +
                                         " of the largest entropy";
                                },
                                "no activations were recorded: the monitor in the training process does that"});
}

}  // namespace

Finding attention_entropy_collapse() {
  return {"attention-entropy-collapse",
          "Attention has collapsed to single tokens",
          {Need::activation},
          kDoc,
          {{"warning", 0.02, "share of the largest entropy; attention that works is above 0.1"},
           {"critical", 0.001, "one token gets everything"},
           {"fewest", 5, "recorded values needed to call it lasting"}},
          check};
}

}  // namespace osler::catalogue
