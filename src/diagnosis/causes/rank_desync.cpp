// rank-desync: the copies of a data-parallel model have drifted apart.
#include "diagnosis/configured.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Data-parallel training keeps one copy of the model per device and averages the gradients. When a copy starts from other
weights, skips a step of its own, or keeps a parameter out of the averaging, the copies drift apart, and the averaged
gradient fits none of them.

## How it shows
A loss that is noisier than the batch size explains, jumps about, or rises after a resume; checkpoints that differ by
the rank that wrote them.

## What else looks like it
A learning rate not scaled with the number of devices, bad batches, lost optimizer state after a resume.

## References
- Li et al. 2020, PyTorch Distributed: Experiences on Accelerating Data Parallel Training.
- Goyal et al. 2017, Accurate, Large Minibatch SGD: pitfalls of distributed SGD.
)";

std::optional<double> ranks(const Patient& patient) {
  return configured_number(patient,
                           {"world_size", "n_gpu", "num_gpus", "ngpus", "gpus", "devices", "num_processes", "n_gpus"});
}

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  const auto count = ranks(patient);
  if (count && *count > 1) found.push_back({0.8, "the run uses " + number(*count) + " devices"});
  if (restart_before(patient, patient.run().steps().last) != nullptr) {
    found.push_back({0.3, "the run was resumed, when copies may be loaded unequally"});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  const auto count = ranks(patient);
  if (count && *count <= 1) return "the configuration uses one device";
  return std::nullopt;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts&) {
  return {advice("Compare a checksum of the weights across ranks every few hundred steps."),
          advice("Broadcast the weights from rank 0 after building and after loading; same seed for the model, another "
                 "for the data."),
          advice("Skip a step on all ranks or on none, and average every trainable parameter.")};
}

}  // namespace

Cause rank_desync() {
  return {"rank-desync",
          "The data-parallel ranks have drifted apart",
          kDoc,
          -4.2,
          {{"rank-divergence", 4.5, 0, "the ranks were found to hold different weights"},
           {"loss-oscillating", 0.7, 0, "copies that disagree make the loss jump"},
           {"loss-diverging", 0.8, 0, "an average over unequal copies fits none of them"},
           {"loss-spikes", 0.5, 0, "a step that only some ranks took is a leap"},
           {"gradient-norm-oscillating", 0.6, 0, "gradients of unequal copies disagree"},
           {"step-time-cliff", 0.6, 0, "ranks that wait for each other slow every step"},
           {"loss-nonfinite-later", 0.3, 0, "one broken rank spoils the average"},
           {"loss-stuck-from-start", -1.0, 0, "copies start out equal or nearly so"}},
          "",
          "Compare the weights' checksums across the ranks: they must be equal to the last bit.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
