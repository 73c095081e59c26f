// gradient-noise-dominates: gradients are mostly noise.
#include "diagnosis/configured.h"
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The noise of a batch's gradient is far larger than the gradient itself.

## Signature
The gradient noise scale (the batch size at which noise and signal are equal), estimated from consecutive gradients, is
more than `factor` times the batch size, as the median over the last third.

## Why it matters
Steps go mostly in random directions: a larger batch, or averaging, would make better use of the same samples per step.

## When it is harmless
Late in training the signal fades and the noise scale grows by itself; that is when a rate should fall, not a fault.

## References
- McCandlish, Kaplan, Amodei et al. 2018, An Empirical Model of Large-Batch Training.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto scale = recorded(patient, series_name::kGradientNoiseScale);
  const auto told = recorded(patient, series_name::kBatchSize);
  const std::optional<double> size = told ? told->last : batch_size(patient);
  if (!scale || scale->points < settings["fewest"]) {
    return NotChecked{"the gradient noise scale was not measured: tell the monitor the batch size"};
  }
  if (!size || !(*size > 0)) return NotChecked{"the batch size is not in the configuration"};
  if (scale->late <= settings["factor"] * *size) return NotFound{};
  Observation seen = observe(Severity::note, confidence_of(scale->late / (settings["factor"] * *size)),
                             scale->first_step, scale->last_step,
                             "The gradient noise scale is " + number(scale->late) + ", the batch size " +
                                 number(*size) + ": steps are mostly noise.");
  seen.evidence.push_back(evidence(scale->series, scale->first_step, scale->last_step, scale->late,
                                   settings["factor"] * *size, times(scale->late / *size) + " the batch size"));
  return seen;
}

}  // namespace

Finding gradient_noise_dominates() {
  return {"gradient-noise-dominates",
          "Gradients are mostly noise",
          {Need::layer, Need::live},
          kDoc,
          {{"factor", 20, "times the batch size from which a step is hardly better than a random one"},
           {"fewest", 5, "estimates of the noise scale needed to judge"}},
          check};
}

}  // namespace osler::catalogue
