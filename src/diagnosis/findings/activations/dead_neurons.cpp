// dead-neurons: units of a rectified layer are zero for every sample.
#include <variant>

#include "diagnosis/facts.h"
#include "diagnosis/recorded.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Units of a layer with a rectifier (ReLU and its kin) output zero for every sample over a window of batches.

## Signature
The share of units that were silent in all of the last eight traced batches, as the median over the last third of the
run: above `warning` a warning, above `critical` critical. While training
clearly improves critical becomes a warning and a warning a note; where it goes well (the loss more than halved, the
accuracy at least 80 %) even a critical share is only noted. Below `few` it is a note wherever the loss has come down to
`learned` of its start, and in the first `first_steps` steps under a monitor; for agents and networks that play against each other it is one step less severe.

## Why it matters
A silent ReLU has a slope of zero and receives no gradient: it stays dead, and the layer is smaller than it was paid
for.

## When it is harmless
Very sparse codes on purpose, and rare features that need more than a window of batches to show.

## References
- Lu, Shin, Su, Karniadakis 2020, Dying ReLU and Initialization: Theory and Numerical Examples.
- Maas, Hannun, Ng 2013, Rectifier Nonlinearities Improve Neural Network Acoustic Models.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  Verdict verdict =
      judge_layers(patient, {"dead-share", true, settings["warning"], settings["critical"], settings["fewest"],
                             [](const std::string& layer, double value) {
                               return per_cent(value) + " of the units of " + layer + " are zero for every sample";
                             },
                             "no activations were recorded: the monitor in the training process does that", true});
  Observation* const seen = std::get_if<Observation>(&verdict);
  if (seen == nullptr) return verdict;
  // An agent has seen only the states that it came to so far; units for other states are silent, and not dead. The
  // losses of networks that play against each other do not tell how training goes.
  if (patient.reinforcement() || patient.adversarial()) {
    seen->severity = seen->severity == Severity::critical ? Severity::warning : Severity::note;
  }
  // A few silent units in a network whose loss has fallen far, perhaps to its floor, do no harm.
  const Reading* loss = patient.training();
  const bool learned = loss != nullptr && !loss->negated && loss->start > 0 &&
                       loss->end < settings["learned"] * loss->start && !loss->ends_nonfinite;
  // The first steps move the units: those of inputs above zero begin on one side.
  const bool early = monitored(patient) && static_cast<double>(patient.run().steps().last) < settings["first_steps"];
  const bool harmless = early || (learned && seen->evidence.front().observed < settings["few"]);
  if (harmless && seen->severity == Severity::warning) {
    seen->severity = Severity::note;
  }
  return verdict;
}

}  // namespace

Finding dead_neurons() {
  return {"dead-neurons",
          "Units are zero for every sample",
          {Need::activation},
          kDoc,
          {{"warning", 0.1, "share of dead units that is a warning (chosen)"},
           {"critical", 0.5, "share of dead units that is critical: half the layer is lost (chosen)"},
           {"few", 0.3, "share of dead units that is only noted where the loss has fallen far (chosen)"},
           {"learned", 0.7, "share of its start that such a loss has come down to: many have a floor (chosen)"},
           {"first_steps", 100, "steps of a monitored training within which less than a critical share is only noted"},
           {"fewest", 3, "recorded values needed to call it lasting"}},
          check};
}

}  // namespace osler::catalogue
