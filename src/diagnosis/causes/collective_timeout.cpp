// collective-timeout: one process of a group waited for another in vain.
#include "diagnosis/crash.h"
#include "diagnosis/facts.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
All processes must reach the same collective operation. One that died, hangs in its data, or takes another branch leaves
the others waiting until the watchdog ends them.

## How it shows
A watchdog that caught a timeout in an all-reduce, or an error of NCCL's. The first process to complain is seldom the one at fault.

## What else looks like it
A network that fails. A crash of one rank whose own traceback stands earlier in the log.

## References
- NVIDIA documentation, NCCL: troubleshooting.
- PyTorch documentation, torch.distributed: debugging.
)";

std::optional<std::string> impossible(const Patient&, const Verdicts& verdicts) {
  return other_crash(verdicts, "nccl-timeout");
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  (void)patient;
  list.push_back(advice("Read the log of every rank; the one that stopped first holds the reason."));
  list.push_back(advice("See to it that all ranks have equally many batches and take the same branches."));
  list.push_back(
      advice("Raise the timeout only where a step is known to take so long (a first compilation, a checkpoint)."));
  return list;
}

}  // namespace

Cause collective_timeout() {
  return {.id = "collective-timeout",
          .title = "A collective operation timed out or failed",
          .doc = kDoc,
          .prior = -1.5,
          .pulls = {{"run-crashed", 3.2, 0, "the log says that a collective operation did not come to its end"}},
          .settle_probe = "",
          .settle = "Look for the rank whose last message is the oldest: it is the one that was waited for.",
          .impossible = impossible,
          .remedies = remedies};
}

}  // namespace osler::catalogue::cause
