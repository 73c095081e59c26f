// too-much-regularization: the brakes are stronger than the engine.
#include "diagnosis/configured.h"
#include "diagnosis/evidence/carry_over.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Weight decay, dropout, augmentation and label smoothing all make the training task harder than the real one. In excess
they keep the model from fitting even what generalises.

## How it shows
Both losses flatten early and high. Often validation is better than training, because dropout and augmentation act on
training alone. Strong weight decay shrinks the weights step by step.

## What else looks like it
A model that is too small (switching regularisation off changes nothing), a learning rate that is too low, a leak from
training into validation (validation better than training as well).

## References
- Krogh and Hertz 1992, A Simple Weight Decay Can Improve Generalization.
- Srivastava et al. 2014, Dropout.
- Loshchilov and Hutter 2019, Decoupled Weight Decay Regularization.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (creeps_back(patient, verdicts)) {
    found.push_back({3.2, "the loss crept back up smoothly, and validation with it, as when the weights shrink"});
  }
  if (const auto held = training_held_up(patient)) found.push_back({2.8, *held});
  if (qualifier(verdicts.found("validation-better-than-training"), "answers") == "alike") {
    found.push_back({-2.0, "units dropped would take right answers from training, which has as many as validation"});
  }
  const auto decay = weight_decay(patient);
  const auto drop = dropout(patient);
  const std::string_view optimizer = configured_text(patient, {"optimizer"}).value_or("");
  const bool decoupled = optimizer.find("adamw") != optimizer.npos || optimizer.find("AdamW") != optimizer.npos;
  if (decay && *decay > 0.3) found.push_back({1.4, "weight decay is set to " + number(*decay)});
  if (decay && *decay >= 0.05 && !decoupled) {
    found.push_back({1.2, "weight decay of " + number(*decay) + " is part of the gradient, not decoupled from it"});
  }
  constexpr double kConsuming = 10;
  if (decay && *decay >= kConsuming) {
    found.push_back({2.0, "a weight decay of " + number(*decay) + " eats up the weights"});
  }
  if (drop && *drop >= 0.4) found.push_back({1.2, "dropout is set to " + number(*drop)});
  if (drop && *drop >= 0.75) {
    found.push_back({2.5, "only " + per_cent(1 - *drop) + " of the units are left in each training step"});
  }
  const bool none = (!decay || *decay <= 1e-4) && (!drop || *drop == 0) && (decay || drop);
  if (none) found.push_back({-2.0, "the configuration hardly regularises"});
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  if (!fits_training_set(patient)) return std::nullopt;
  return "the training loss fell to " + number(patient.training()->end) + ": nothing holds it back";
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  if (const auto drop = dropout(patient); drop && *drop > 0) {
    list.push_back(change("Halve dropout: " + number(*drop) + " -> " + number(*drop / 2) + ".", "dropout",
                          number(*drop), number(*drop / 2)));
  }
  if (const auto decay = weight_decay(patient); decay && *decay > 0) {
    list.push_back(change("Divide weight decay by 10: " + number(*decay) + " -> " + number(*decay / 10) + ".",
                          "weight_decay", number(*decay), number(*decay / 10)));
  }
  if (list.empty()) list.push_back(advice("Halve dropout and divide weight decay by 10; soften the augmentation."));
  list.push_back(advice("Exempt biases and normalisation weights from weight decay."));
  list.push_back(advice("Compare like with like: evaluate the training set in evaluation mode, without augmentation."));
  return list;
}

}  // namespace

Cause too_much_regularization() {
  return {"too-much-regularization",
          "Regularisation is too strong",
          kDoc,
          -2.7,
          {{"cannot-overfit-one-batch", 0.8, 0, "dropout or decay can keep one batch from being memorised"},
           {"underfitting", 2.5, -0.1, "the model is held back from fitting even its training set"},
           {"validation-better-than-training", 2.8, 0, "dropout and augmentation burden training alone"},
           {"weight-norm-collapsing", 3.6, -0.4, "weight decay shrinks the weights faster than they learn"},
           {"loss-diverging", 0.1, 0, "decay takes back what was learned until both balance"},
           {"loss-stuck-after-drop", 0.5, 0, "decay and learning balance each other early"},
           {"loss-stuck-from-start", 1.2, 0, "decay can outweigh the gradient from the start"},
           {"loss-too-slow", 1.9, 0, "the model learns against the brakes"},
           {"overfitting", -1.8, 0, "the model memorises freely"},
           {"overconfidence", -1.5, 0, "regularised models are unsure rather than sure"},
           {"weight-norm-exploding", -1.5, 0, "the weights grow freely"}},
          "overfit-one-batch",
          "Switch all regularisation off for a short run: if the training loss falls clearly lower, this is it.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
