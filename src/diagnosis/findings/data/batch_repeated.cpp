// batch-repeated: the same batch again and again.
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loader hands out the same batch repeatedly, or batches whose samples are all equal.

## Signature
More than `repeated_share` of the batches that were looked at are among the 64 looked at before them; or more than
`identical_share` of them consist of one sample. A batch that returns after more than `in_turn` others is not counted.

## Why it matters
The model memorises what it sees and nothing else. A loader that is not advanced, a cache that is too small and a random
seed set in every worker do this.

## When it is harmless
Overfitting one batch on purpose to test the model, and training on all samples at once.

## References
- Karpathy 2019, A Recipe for Training Neural Networks.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto repeated = recorded(patient, series_name::kBatchRepeated);
  const auto identical = recorded(patient, series_name::kBatchIdenticalSamples);
  if (!repeated || repeated->points < settings["fewest"]) {
    return NotChecked{"too few batches were shown to the monitor: call monitor.batch(inputs, labels)"};
  }
  const double same = identical ? share_above(patient, *identical, 0.5) : 0;
  // A batch that returns after all the others is a fixed order, which is another matter.
  const auto after = recorded(patient, series_name::kBatchRepeatedAfter);
  const bool in_turn = after && after->late > settings["in_turn"];
  const double again = in_turn ? 0 : share_above(patient, *repeated, 0.5);
  const bool one_sample = same > settings["identical_share"];
  if (!one_sample && again <= settings["repeated_share"]) return NotFound{};
  const Recorded& told = one_sample ? *identical : *repeated;
  const double share = one_sample ? same : again;
  Observation seen =
      observe(Severity::warning, 0.9, first_above(patient, told, 0.5), told.last_step,
              one_sample ? "All samples of a batch are the same, in " + per_cent(share) + " of the batches."
                         : per_cent(share) + " of the batches had come before.");
  seen.qualifiers["kind"] = one_sample ? "equal samples" : "same batch";
  seen.evidence.push_back(evidence(told.series, seen.first_step, told.last_step, share,
                                   settings[one_sample ? "identical_share" : "repeated_share"],
                                   per_cent(share) + " of " + number(told.points) + " batches"));
  return seen;
}

}  // namespace

Finding batch_repeated() {
  return {"batch-repeated",
          "The same batch comes again and again",
          {Need::batch},
          kDoc,
          {{"repeated_share", 0.5, "share of batches that were seen shortly before"},
           {"in_turn", 4, "batches after which a return is the order of the data, not one batch again and again"},
           {"identical_share", 0.1, "share of batches made of one sample"},
           {"fewest", 8, "batches needed to speak of repetition"}},
          check};
}

}  // namespace osler::catalogue
