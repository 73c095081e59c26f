// eval-mode-left-on: training runs in evaluation mode, or validation in training mode.
#include "diagnosis/configured.h"
#include "diagnosis/evidence/carry_over.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
After a validation round the model stays in evaluation mode: dropout is off and BatchNorm uses stored statistics that
no longer follow the data. Or validation runs in training mode and each result depends on its batch. Either way, the
model that is trained is not the model that is evaluated.

## How it shows
The training loss falls, slowly and noisily; validation is erratic, better and worse from epoch to epoch, and the gap
between the two has no trend.

## What else looks like it
A learning rate that is too high (training swings too), a validation set that is too small (the scatter is binomial),
overfitting (validation has a clear trend).

## References
- Ioffe and Szegedy 2015, Batch Normalization: two modes, two formulas.
- Ioffe 2017, Batch Renormalization: Towards Reducing Minibatch Dependence.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  weigh_carry_over(patient, {.never = 0.7, .beyond = 1.8, .answers = 1.1}, found);
  const Observation* swings = verdicts.found("loss-oscillating");
  if (swings == nullptr || patient.training() == nullptr || patient.training()->curve.empty()) return found;
  if (!on_validation(patient, *swings)) {
    found.push_back({-1.0, "the training loss swings itself"});
    return found;
  }
  const Reading& training = *patient.training();
  const bool improves = training.improvement() > 0.1 * training.level && !training.ends_nonfinite;
  if (improves) {
    found.push_back({2.2, "training fell from " + number(training.shown(training.start)) + " to " +
                              number(training.shown(training.end)) + " while validation went up and down"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts&) {
  return {switch_to("Call model.train() at the start of every training epoch and model.eval() before every validation.",
                    "train_mode", "on"),
          switch_to("Assert the mode where it matters: training is true in the loop, false in the evaluation.",
                    "eval_mode", "on"),
          switch_to("Run validation without gradients, so that BatchNorm's statistics are not fed by validation data.",
                    "no_grad", "on")};
}

}  // namespace

Cause eval_mode_left_on() {
  return {"eval-mode-left-on",
          "The model is in the wrong mode",
          kDoc,
          -3.1,
          {{"initial-loss-wrong", 1.6, 0, "statistics that are not those of the data leave outputs of any size"},
           {"loss-beyond-chance", 0.7, 0, "statistics that are not those of the data leave outputs of any size"},
           {"overconfidence", 0.5, 0, "validation sees another network than training does"},
           {"normalization-statistics-drift", 2.2, 0, "in evaluation mode the statistics are not updated"},
           {"eval-mode-in-training", 4.5, -2.0, "the model was seen in evaluation mode while it trained"},
           {"train-mode-in-validation", 4.5, 0, "the model was seen in training mode while it was validated"},
           {"loss-oscillating", 1.3, 0, "a model evaluated in another mode than trained gives erratic results"},
           {"epoch-sawtooth", 0.5, 0, "the mode changes with the epochs"},
           {"validation-better-than-training", 0.7, 0, "the two are computed in different modes"},
           {"overfitting", 0.1, 0, "without dropout, and with stale statistics, validation drifts away"},
           {"validation-frozen", 0.3, 0, "statistics that are never updated can give one answer for all"},
           {"metric-contradicts-loss", 0.3, 0, "loss and metric may be computed in different modes"},
           {"loss-too-slow", 0.1, 0, "stale statistics make training slow"},
           {"loss-stuck-from-start", -1.0, 0, "training works in either mode, only worse"},
           {"exploding-gradients", -0.8, 0, "the mode does not make gradients run away"}},
          "checkup",
          "Print the mode at the top of the training loop and in validation; evaluate one batch in both modes.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
