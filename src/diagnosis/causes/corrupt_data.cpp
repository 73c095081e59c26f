// corrupt-data: some samples hold NaN, Inf or values far outside any plausible range.
#include "diagnosis/evidence/breakage.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A damaged file, a failed decode, a division in the preprocessing: now and then a sample holds NaN, Inf or an absurd
value. One NaN in one input turns the loss, all gradients and, after the update, all weights into NaN.

## How it shows
NaN out of the blue, with an ordinary loss the step before; or spikes that return with every epoch, when the same
sample comes round again.

## What else looks like it
Numerical accidents in the loss (log of zero), a gradient that ran away (the loss climbs first), batches that are
unusual but sound.

## References
- Breck et al. 2019, Data Validation for Machine Learning.
- Sculley et al. 2015, Hidden Technical Debt in Machine Learning Systems.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  weigh_break(patient, -1.0, 0.6, found);
  if (broke_for_good(patient))
    found.push_back({1.8, "it went well until one batch made everything NaN, and stayed so"});
  if (const auto leap = leapt_at_once(patient, verdicts)) found.push_back({1.0, *leap});
  if (break_recovered(verdicts)) found.push_back({1.6, "the NaN passed: it came from the batch, not from the weights"});
  if (qualifier(verdicts.found("batch-extreme"), "extent") == "some batches") {
    found.push_back({3.0, "some batches hold values far beyond those of all others"});
  }
  const std::string_view period = qualifier(verdicts.found("loss-spikes"), "period");
  if (!period.empty()) {
    found.push_back({1.0, "the spikes return every " + std::string(period) + " steps, as a sample does every epoch"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts& verdicts) {
  return {check_batches(verdicts),
          switch_to("Skip a step whose loss or gradient is not finite, and count how often that happens.",
                    "skip_nonfinite", "on"),
          return_to_checkpoint(verdicts), advice("Scan the data once, offline, for NaN, Inf and outliers.")};
}

}  // namespace

Cause corrupt_data() {
  return {"corrupt-data",
          "Some samples are corrupt",
          kDoc,
          -2.3,
          {{"gradient-nonfinite", 0.7, 0, "a sample that is not a number spoils every gradient"},
           {"weights-nonfinite", 0.2, 0, "one such batch spoils every weight"},
           {"batch-nonfinite", 4.5, -1.5, "batches were seen to hold NaN or infinity"},
           {"batch-extreme", 0.4, 0, "inputs far beyond the usual size"},
           {"loss-spikes", 3.0, 0, "a damaged sample makes its batch expensive"},
           {"loss-nonfinite-at-start", 3.0, 0, "a NaN in the inputs reaches the loss at once"},
           {"loss-nonfinite-later", 3.1, 0, "one damaged sample is enough"},
           {"exploding-gradients", 0.1, 0, "absurd values give absurd gradients"},
           {"gradient-norm-oscillating", 0.6, 0, "batches with outliers leap"},
           {"loss-diverging", 1.0, 0, "one poisoned update can spoil the weights"},
           {"epoch-sawtooth", 0.1, 0, "the same samples return every epoch"},
           {"loss-scale-collapsing", 0.1, 0, "absurd values overflow half precision"}},
          "nan-replay",
          "Replay the batch of the bad step: NaN or extreme values in its inputs confirm it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
