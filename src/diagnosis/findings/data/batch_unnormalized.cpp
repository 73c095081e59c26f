// batch-unnormalized: the data has not been normalised.
#include <algorithm>
#include <cmath>

#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The mean of the inputs is far from 0, or their spread far from 1.

## Signature
The median over the batches of the mean lies beyond `center` deviations or more from 0, or the deviation is outside
`least` to `most`. Where all inputs lie between 0 and 1, the mean may be `center_within_one` deviations from 0. Constant
inputs are left to the other checks.

## Why it matters
Usual initialisations assume inputs of mean 0 and deviation 1; with others the first layer saturates or whispers, and
one learning rate does not fit all weights.

## When it is harmless
Inputs between 0 and 1, networks that normalise first, and inputs that are categories.

## References
- LeCun, Bottou, Orr, Mueller 1998, Efficient BackProp.
- Ioffe, Szegedy 2015, Batch Normalization.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto center = recorded(patient, series_name::kBatchCenter);
  const auto deviation = recorded(patient, series_name::kBatchDeviation);
  if (!center || !deviation) {
    return NotChecked{"no batches were shown to the monitor: call monitor.batch(inputs, labels)"};
  }
  if (!(deviation->late > 0)) return NotFound{};
  const double off = std::abs(center->late) / deviation->late;
  // Between 0 and 1 no input is large, wherever the mean is.
  const auto size = recorded(patient, series_name::kBatchMagnitude);
  const bool within_one = size && size->highest <= 1 && center->lowest >= 0;
  const bool shifted = off > settings[within_one ? "center_within_one" : "center"];
  const bool scaled = deviation->late < settings["least"] || deviation->late > settings["most"];
  if (!shifted && !scaled) return NotFound{};
  const double factor =
      std::max({off / settings["center"], deviation->late / settings["most"], settings["least"] / deviation->late});
  Observation seen = observe(Severity::warning, confidence_of(factor), center->first_step, center->last_step,
                             "Inputs have a mean of " + number(center->late) + " and a deviation of " +
                                 number(deviation->late) + ", not about 0 and 1.");
  seen.evidence.push_back(evidence(center->series, center->first_step, center->last_step, center->late,
                                   settings["center"], "mean over the batches"));
  seen.evidence.push_back(evidence(deviation->series, deviation->first_step, deviation->last_step, deviation->late,
                                   settings["most"], "deviation over the batches"));
  return seen;
}

}  // namespace

Finding batch_unnormalized() {
  return {"batch-unnormalized",
          "The data is not normalised",
          {Need::batch},
          kDoc,
          {{"center", 3, "deviations that the mean may be from 0; pixels scaled to 0..1 have about 1"},
           {"center_within_one", 10, "the same where all inputs lie between 0 and 1 (chosen)"},
           {"least", 0.02, "smallest deviation a first layer can work with"},
           {"most", 20, "largest deviation a first layer can work with"}},
          check};
}

}  // namespace osler::catalogue
