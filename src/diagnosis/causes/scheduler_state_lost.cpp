// scheduler-state-lost: a resume restored the weights but not the place in the schedule.
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A checkpoint holds the model and perhaps the optimizer, but not the scheduler. After the resume the schedule starts
over: the learning rate jumps back to its peak, or through the warm-up again, and shakes a model that had settled.

## How it shows
A step in the learning rate that the schedule does not explain, often together with a restart in the log; the loss
follows it up and takes a while to return.

## What else looks like it
Planned warm restarts (they come at regular, growing intervals), a rate that was changed by hand, the optimizer's own
state being lost (the rate is right, yet the loss jumps).

## References
- Loshchilov and Hutter 2017, SGDR: what planned restarts look like.
- PyTorch documentation, Saving and loading a general checkpoint.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  const Observation* jump = verdicts.found("learning-rate-jump");
  if (jump == nullptr) return found;
  if (const Mark* restart = restart_before(patient, jump->last_step)) {
    found.push_back({1.2, "the log shows a restart at " + at_step(restart->step)});
  }
  const auto schedule = rate_schedule(patient);
  const auto after = learning_rate_at(patient, static_cast<double>(jump->first_step));
  if (schedule && after && *after > 0.9 * schedule->peak && jump->first_step > schedule->peak_step) {
    found.push_back({0.8, "the learning rate is back at its peak of " + number(schedule->peak) + " at " +
                              at_step(jump->first_step)});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts& verdicts) {
  const bool restarted = restart_before(patient, patient.run().steps().last) != nullptr;
  if (restarted || !verdicts.absent("learning-rate-jump") || verdicts.found("learning-rate-zero") != nullptr) {
    return std::nullopt;
  }
  return "the learning rate has no jump and the log no restart";
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Remedy> list;
  list.push_back(
      switch_to("Save and load the scheduler's state with the model's and the optimizer's.", "resume_schedule", "on"));
  if (const Observation* jump = verdicts.found("learning-rate-jump")) {
    const auto before = learning_rate_at(patient, static_cast<double>(jump->first_step) - 1);
    const auto after = learning_rate_at(patient, static_cast<double>(jump->first_step));
    if (before && after && *before != *after) {
      list.push_back(change("Resume from the checkpoint before " + at_step(jump->first_step) + " at the old rate: lr " +
                                number(*after) + " -> " + number(*before) + ".",
                            "lr", number(*after), number(*before)));
    }
  }
  list.push_back(advice("After a resume, log the rate at once and compare it with the last one before."));
  return list;
}

}  // namespace

Cause scheduler_state_lost() {
  return {"scheduler-state-lost",
          "The learning-rate schedule started over after a resume",
          kDoc,
          -2.5,
          {{"scheduler-not-checkpointed", 3.0, 0, "checkpoints were written without the schedule"},
           {"learning-rate-jump", 4.6, -2.0, "the learning rate leaps where no schedule would"},
           {"learning-rate-zero", 1.5, 0, "a scheduler restored at its end gives a rate of zero"},
           {"learning-rate-spent", 0.5, 0, "a scheduler advanced twice ends too early"},
           {"loss-spikes", 0.4, 0, "a rate that jumps up lifts the loss for a while"},
           {"loss-diverging", 1.0, 0, "the peak rate can throw off a model that had settled"},
           {"epoch-sawtooth", 0.1, 0, "a scheduler rebuilt every epoch repeats itself"}},
          "",
          "Compare the learning rate right before and after the resume with what the schedule says for that step.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
