// memory-exhausted: the device or the host ran out of memory.
#include "diagnosis/configured.h"
#include "diagnosis/crash.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The model, its optimizer, the activations of a batch and what is kept by accident together need more than there is. On the
host the kernel kills the process without a word of its own.

## How it shows
An out-of-memory error, or "Killed". At the first step the batch is too large; later a longer sample, a validation that
keeps its graphs, or memory that grows from step to step did it.

## What else looks like it
A process that someone else killed. Memory that grows shows in the monitor as memory-growing.

## References
- PyTorch documentation, Understanding CUDA Memory Usage.
- Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost.
)";

std::optional<std::string> impossible(const Patient&, const Verdicts& verdicts) {
  return other_crash(verdicts, "out-of-memory,killed");
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  const auto batch = batch_size(patient);
  list.push_back(batch && *batch > 1
                     ? change("Halve the batch and accumulate two of them for each step.", "batch_size",
                              std::to_string(static_cast<int>(*batch)), std::to_string(static_cast<int>(*batch) / 2))
                     : advice("Halve the batch and accumulate two of them for each step."));
  list.push_back(advice("Recompute activations in the backward pass (checkpointing), and train in bfloat16."));
  list.push_back(advice("Keep numbers, not tensors: total += loss.item(), and evaluate without a graph."));
  return list;
}

}  // namespace

Cause memory_exhausted() {
  return {.id = "memory-exhausted",
          .title = "Memory ran out",
          .doc = kDoc,
          .prior = -1.5,
          .pulls = {{"run-crashed", 3.3, 0, "a program that runs out of memory ends so"}},
          .settle_probe = "",
          .settle =
              "Run one step with the largest sample: if it fails at once, the batch is too large; if not, watch memory "
              "grow.",
          .impossible = impossible,
          .remedies = remedies};
}

}  // namespace osler::catalogue::cause
