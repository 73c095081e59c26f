// label-noise: part of the labels is wrong.
#include <cmath>

#include "diagnosis/evidence/carry_over.h"
#include "diagnosis/evidence/loss_bounds.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Some labels are wrong: hasty annotators, ambiguous classes, an automatic rule. Networks learn the clean pattern first
and the errors later, one by one; what they learn then hurts on new data.

## How it shows
Validation turns up early while training still falls slowly; the loss levels off above what the task should allow; the
model grows sure of wrong answers; the spread of the batch loss stays large late in training.

## What else looks like it
Too little data, a model that is too small, labels that are wrong altogether (nothing is learned at all).

## References
- Arpit et al. 2017, A Closer Look at Memorization in Deep Networks.
- Northcutt, Athalye, Mueller 2021, Pervasive Label Errors in Test Sets Destabilize Machine Learning Benchmarks.
- Natarajan et al. 2013, Learning with Noisy Labels.
)";

/// Right labels are learned alike on both splits; with too little data the splits part from the start. So a validation
/// loss of classes that turns high above zero, where training was hardly lower yet, has met the wrong labels.
void weigh_turn(const Patient& patient, const Verdicts& verdicts, std::vector<Clue>& found) {
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  const auto classes = known_classes(patient);
  if (verdicts.found("overfitting") == nullptr || training == nullptr || validation == nullptr || !classes ||
      validation->negated || training->negated || *classes < 2 || !(validation->best > 0)) {
    return;
  }
  constexpr double kTogether = 0.2;  // of the validation loss: how near training was when validation turned
  constexpr double kHigh = 0.6;      // of ln C, the loss of guessing: where a turn is high
  const double turn = validation->curve.step[validation->best_at];
  const double before = training->smoothed[training->index_at(turn)];
  const double gap = (validation->best - before) / validation->best;
  if (validation->best > kHigh * std::log(*classes) && gap < kTogether && training->end < before / 2) {
    found.push_back({2.8, "validation turned at " + number(validation->best) + ", where training was at " +
                              number(before) +
                              ": both had learned the same, and little, before single samples were "
                              "learned by heart"});
  }
}

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  weigh_turn(patient, verdicts, found);
  const Observation* better = verdicts.found("validation-better-than-training");
  if (qualifier(better, "training") == "held back") {
    found.push_back({1.5, "training is held back and validation is not: wrong labels cannot be learned"});
  }
  if (qualifier(better, "answers") == "alike") {
    found.push_back({-2.5, "wrong labels would take right answers from training, which has as many as validation"});
  }
  if (qualifier(better, "answers") == "apart") {
    found.push_back({0.7, "the answers part while the losses are alike: what is asked is unanswerable in part"});
  }
  weigh_carry_over(patient, {.never = -1.1, .guesses = -0.4}, found);
  if (const auto low = accuracy_too_low_for_loss(patient)) found.push_back({-1.5, *low});
  if (patient.domain().domain == Domain::language_model) {
    found.push_back({-1.5, "the labels of a text are its own next tokens"});
  }
  const auto accuracy = patient.best_accuracy();
  if (accuracy && *accuracy > 0.97) {
    found.push_back({-1.2, "an accuracy of " + per_cent(*accuracy) + " leaves little room for wrong labels"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  return {advice("Look at the samples with the highest loss: relabel or drop what is wrong."),
          switch_to("Use a loss that forgives: label smoothing 0.1 for classes, Huber in place of MSE for regression.",
                    "label_smoothing", "0.1"),
          keep_best_checkpoint(patient, verdicts), regularise(patient)};
}

}  // namespace

Cause label_noise() {
  return {"label-noise",
          "Part of the labels is wrong",
          kDoc,
          -3.0,
          {{"validation-better-than-training", 1.8, 0, "wrong labels cannot be learned, and validation has none"},
           {"loss-too-slow", 2.0, 0, "contradictory labels slow everything down"},
           {"accuracy-outruns-loss", 1.2, 0, "wrong labels cost the same however good the answers are"},
           {"overfitting", 0.7, 0, "wrong labels are memorised last, and hurt"},
           {"overconfidence", 1.4, 0, "memorised errors make the model sure of wrong answers"},
           {"underfitting", 0.7, 0, "wrong labels put a floor under both losses"},
           {"late-loss-variance", 0.9, 0, "batches differ by how many wrong labels they hold"},
           {"loss-stuck-after-drop", 0.4, 0, "after the clean pattern only errors are left to learn"},
           {"confidence-without-learning", 0.6, 0, "contradictory labels cap the accuracy"},
           {"loss-spikes", 0.3, 0, "a batch with several wrong labels is expensive"},
           {"loss-stuck-from-start", 0.1, 0, "with many wrong labels hardly any pattern is left"},
           {"loss-oscillating", 0.1, 0, "contradictory labels pull to and fro"}},
          "",
          "Relabel a hundred of the samples with the highest loss by hand: many corrections confirm it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
