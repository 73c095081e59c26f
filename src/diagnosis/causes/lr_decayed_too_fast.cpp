// lr-decayed-too-fast: the schedule took the learning rate away before the work was done.
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr double kStillHigh = 0.5;  // a rate at half of its peak moves the weights half as fast, which is no standstill

constexpr std::string_view kDoc = R"(
## What happens
A schedule lowers the learning rate so that training can settle. When it does so too early, by too much, or was laid
out for fewer steps than the run has, the optimizer stops where it happens to be: the gradients are fine, the steps are
not.

## How it shows
A good descent that ends when the rate falls, far above what the descent promised; then a flat line. Gradients are small
or ordinary in all layers alike, not only in the early ones.

## What else looks like it
Convergence (the loss is at its forecast floor), a saddle point (the rate is still high), dead units (some layers are
zero), a learning rate that was too low from the first step.

## References
- Loshchilov and Hutter 2017, SGDR: Stochastic Gradient Descent with Warm Restarts.
- Li, Wei, Ma 2019, Towards Explaining the Regularization Effect of Initial Large Learning Rate.
- You et al. 2019, How Does Learning Rate Decay Help Modern Neural Networks?
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  const auto schedule = rate_schedule(patient);
  if (!schedule) {
    // A descent that stops counts for this cause because a falling rate stops it; here none was seen.
    if (patient.learning_rate() == nullptr && patient.training() != nullptr) {
      found.push_back({-1.5, "the log holds no learning rate: nothing shows that it fell"});
    }
    return found;
  }
  const std::string left =
      "the learning rate is " + number(schedule->now) + ", " + per_cent(schedule->left()) + " of its peak";
  if (schedule->left() < 0.01) found.push_back({1.4, left});
  if (schedule->left() >= 0.01 && schedule->left() < 0.1) found.push_back({0.7, left});
  if (schedule->spent_share > 0.3) {
    found.push_back({0.8, "it has been below 5 % of its peak for the last " + per_cent(schedule->spent_share) +
                              " of the run, since " + at_step(schedule->spent_step)});
  }
  if (schedule->left() >= 0.2) found.push_back({-1.0, left});
  if (verdicts.found("vanishing-gradients") != nullptr && verdicts.absent("vanishing-by-depth") &&
      schedule->left() < 0.1) {
    found.push_back({0.8, "the gradients are small in all layers alike, as when the optimizer has stopped moving"});
  }
  if (training_goes_on(patient, verdicts)) found.push_back({-0.8, fall_in_words(*patient.training())});
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  const auto schedule = rate_schedule(patient);
  if (!schedule || schedule->left() < kStillHigh) return std::nullopt;
  return "the learning rate, " + number(schedule->now) + ", is still " + per_cent(schedule->left()) +
         " of its peak of " + number(schedule->peak);
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  const auto schedule = rate_schedule(patient);
  if (schedule && schedule->now < schedule->peak) {
    const double again = 0.3 * schedule->peak;
    list.push_back(change("Go on from the last checkpoint with a higher rate: lr " + number(schedule->now) + " -> " +
                              number(again) + " (a third of the peak), then decay over all the steps that are left.",
                          "lr", number(schedule->now), number(again)));
  }
  list.push_back(
      switch_to("Check the scheduler: stepped once per batch though laid out in epochs, too few total steps, a decay "
                "factor applied too often.",
                "schedule_length", "1"));
  list.push_back(warm_up(patient));
  list.push_back(advice("Decay by cosine to a tenth of the peak at the last step, not before."));
  return list;
}

}  // namespace

Cause lr_decayed_too_fast() {
  return {"lr-decayed-too-fast",
          "The schedule lowered the learning rate too early",
          kDoc,
          -2.4,
          {{"loss-stuck-from-start", 1.0, 0, "a rate that falls at once leaves no time to learn"},
           {"validation-frozen", 0.9, 0, "weights that no longer move give the same result every time"},
           {"saddle-point", -1.0, 0, "the gradient is near zero, so no rate would help"},
           {"learning-rate-spent", 4.3, -1.2, "progress ended when the schedule took the rate away"},
           {"loss-stuck-after-drop", 3.4, 0, "a good start ended though there was more to gain"},
           {"loss-plateau", 1.3, 0, "a rate that is too small holds the loss in place"},
           {"learning-rate-zero", 3.6, 0, "the schedule has reached zero"},
           {"updates-too-small", 1.5, 0, "the updates have become tiny"},
           {"loss-too-slow", 0.4, 0, "progress is slow because the rate has shrunk"},
           {"underfitting", 0.1, 0, "training stopped before it had learned"},
           {"vanishing-gradients", 0.1, 0, "a stopped optimizer leaves small gradients in all layers"},
           {"vanishing-by-depth", -1.0, 0, "only the early layers stand still, which no schedule does"},
           {"loss-diverging", -2.0, 0, "a small rate does not diverge"},
           {"loss-oscillating", -1.3, 0, "a small rate does not overshoot"}},
          "overfit-one-batch",
          "Overfit one batch at the peak rate: if it is memorised, the model is sound and the schedule is at fault.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
