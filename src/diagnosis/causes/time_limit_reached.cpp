// time-limit-reached: the scheduler ended the job.
#include "diagnosis/crash.h"
#include "diagnosis/facts.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The scheduler ends a job at its limit of time, or takes its machine for other work.

## How it shows
Words of the scheduler (CANCELLED, DUE TO TIME LIMIT, preempted, SIGTERM) after healthy values.

## What else looks like it
A process killed for its memory.

## References
- Slurm documentation, Job limits and preemption.
)";

std::optional<std::string> impossible(const Patient&, const Verdicts& verdicts) {
  return other_crash(verdicts, "time-limit,preempted,killed");
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  (void)patient;
  list.push_back(advice("Resume from the newest checkpoint, with optimizer, schedule and random numbers."));
  list.push_back(advice("Write a checkpoint when the scheduler sends its warning signal, and at least every hour."));
  return list;
}

}  // namespace

Cause time_limit_reached() {
  return {.id = "time-limit-reached",
          .title = "The job reached its limit, or its machine was taken",
          .doc = kDoc,
          .prior = -1.5,
          .pulls = {{"run-crashed", 3.3, 0, "a job that is ended from outside ends so"}},
          .settle_probe = "",
          .settle = "Ask the scheduler why the job ended (sacct, or the cloud console).",
          .impossible = impossible,
          .remedies = remedies};
}

}  // namespace osler::catalogue::cause
