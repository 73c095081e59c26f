// warmup-missing: the full learning rate hits the freshly initialised model.
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
In the first steps the weights are random, the gradients large and Adam's estimate of their variance rests on a handful
of samples. The full learning rate at that moment throws the weights far off, in attention models above all, and the
run may need thousands of steps to come back, or never does.

## How it shows
Spikes, a rise or NaN within the first per cent of the run, with the rate at its peak from step 0; later steps at the
same rate are calm.

## What else looks like it
A rate that is too high at any time (the trouble does not end), a bad initialisation (the very first loss is off), a
single bad batch.

## References
- Goyal et al. 2017, Accurate, Large Minibatch SGD: gradual warm-up.
- Xiong et al. 2020, On Layer Normalization in the Transformer Architecture.
- Liu et al. 2020, On the Variance of the Adaptive Learning Rate and Beyond.
)";

constexpr double kWarmStart = 0.2;  // starting below a fifth of the peak is a warm-up

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  const auto schedule = rate_schedule(patient);
  if (schedule && schedule->start > 0.9 * schedule->peak && verdicts.found("no-warmup") == nullptr) {
    found.push_back({0.6, "the learning rate is at its peak of " + number(schedule->peak) + " from the first step"});
  }
  const auto harm = first_harm(verdicts);
  const StepRange steps = patient.run().steps();
  const double length = static_cast<double>(steps.last - steps.first);
  if (harm && length > 0 && static_cast<double>(*harm - steps.first) > 0.1 * length) {
    found.push_back({-1.2, "the trouble began at " + at_step(*harm) + ", long after any warm-up would have ended"});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  const auto schedule = rate_schedule(patient);
  const StepRange steps = patient.run().steps();
  if (!schedule || schedule->start > kWarmStart * schedule->peak || schedule->peak_step <= steps.first)
    return std::nullopt;
  return "the learning rate was warmed up: from " + number(schedule->start) + " to " + number(schedule->peak) + " at " +
         at_step(schedule->peak_step);
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  return {warm_up(patient), clip_gradients(patient),
          advice("In a transformer, normalise before each block (pre-norm): it needs far less warm-up."),
          divide_learning_rate(patient, 3)};
}

}  // namespace

Cause warmup_missing() {
  return {"warmup-missing",
          "Training starts at the full learning rate without warm-up",
          kDoc,
          -3.1,
          {{"loss-stuck-from-start", 0.3, 0, "first steps that are too long can end where nothing is learned any more"},
           {"underfitting", 0.1, 0, "first steps that are too long can cost the capacity"},
           {"predicts-one-class", 1.0, 0, "first steps that are too long can leave one answer for all"},
           {"no-warmup", 4.6, -1.6, "the first steps at the full rate are the rough ones"},
           {"loss-nonfinite-at-start", 0.5, 0, "the first steps are the most fragile"},
           {"exploding-gradients", 0.4, 0, "random weights and a full rate make large gradients"},
           {"loss-spikes", 0.2, 0, "early spikes come from steps that are too long too soon"},
           {"loss-diverging", 0.3, 0, "a run thrown off at the start may never come back"},
           {"updates-too-large", 1.0, 0, "the first updates are large against the weights"},
           {"loss-nonfinite-later", -0.5, 0, "the first steps went well"}},
          "lr-range-test",
          "Repeat the first steps with a linear warm-up over 5 % of the run: a calm start confirms it.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
