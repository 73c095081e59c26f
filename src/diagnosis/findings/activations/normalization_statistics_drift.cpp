// normalization-statistics-drift: running statistics of a normalisation are far from the batch's.
#include "diagnosis/recorded.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The running mean and variance of a batch normalisation, which evaluation will use, are far from those of the batches.

## Signature
Over the channels, the mean distance between the batch's and the running mean (or deviation), in running standard
deviations, as the median over the last third, is above `warning`; above `critical` it is critical, unless training clearly improves.

## Why it matters
In evaluation the layer computes something else than in training: validation is bad although training goes well.

## When it is harmless
The first steps, in which the running values still come from their start of 0 and 1; very small batches, whose own
statistics are noise.

## References
- Ioffe, Szegedy 2015, Batch Normalization.
- Wu, Johnson 2021, Rethinking Batch in BatchNorm.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  return judge_layers(patient, {"drift", true, settings["warning"], settings["critical"], settings["fewest"],
                                [](const std::string& layer, double value) {
                                  return "The running statistics of " + layer + " are off by " + number(value) +
                                         " standard deviations";
                                },
                                "no activations were recorded: the monitor in the training process does that"});
}

}  // namespace

Finding normalization_statistics_drift() {
  return {"normalization-statistics-drift",
          "Running statistics do not fit the batches",
          {Need::activation, Need::live},
          kDoc,
          {{"warning", 2, "running standard deviations; batches of 16 and more are within a half"},
           {"critical", 10, "running standard deviations from which evaluation has nothing to do with training"},
           {"fewest", 5, "recorded values needed to call it lasting"}},
          check};
}

}  // namespace osler::catalogue
