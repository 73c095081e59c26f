// model-too-large: the model has room to memorise.
#include "diagnosis/configured.h"
#include "diagnosis/evidence/carry_over.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The model has far more freedom than the data constrains. After the common patterns it fits the training samples one by
one, and every bit of that is lost on new data.

## How it shows
Training loss falls towards zero, validation turns up, the gap widens. A smaller model of the same kind reaches the
same validation loss.

## What else looks like it
Too little data (the other side of the same coin), labels with errors, a validation set drawn from elsewhere. Very
large models can generalise well again; size alone proves nothing.

## References
- Zhang et al. 2017, Understanding Deep Learning Requires Rethinking Generalization.
- Nakkiran et al. 2020, Deep Double Descent.
- Prechelt 1998, Early Stopping - But When?
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (fits_training_set(patient)) {
    found.push_back({0.6, "the training loss fell to " + number(patient.training()->end) + ", near zero"});
  }
  const auto decay = weight_decay(patient);
  const auto drop = dropout(patient);
  if (decay && drop && *decay == 0 && *drop == 0) found.push_back({0.4, "no weight decay or dropout is configured"});
  if (const auto nothing = nothing_carries_over(patient)) found.push_back({-2.5, *nothing});
  weigh_carry_over(patient, {.never = -1.3, .beyond = -0.7, .guesses = -1.3}, found);
  weigh_silent_memorising(patient, verdicts, found);
  weigh_flat_training(patient, verdicts, found);
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  return {keep_best_checkpoint(patient, verdicts), regularise(patient),
          widen(patient, 0.5, "Try a model of half the width: if validation is no worse, keep it.")};
}

}  // namespace

Cause model_too_large() {
  return {"model-too-large",
          "The model is too large for its data",
          kDoc,
          -2.8,
          {{"overfitting", 2.5, -1.6, "a model with room to spare memorises its training set"},
           {"overconfidence", 2.5, 0, "room to spare goes into certainty on the training set"},
           {"loss-plateau", 0.1, 0, "validation can stand still while training memorises"},
           {"epoch-sawtooth", 0.6, 0, "steps at epoch ends are samples being recognised"},
           {"metric-contradicts-loss", -2.0, 0, "the validation loss itself does not turn"},
           {"underfitting", -2.5, 0, "the training loss itself is high"},
           {"validation-better-than-training", -1.5, 0, "validation is better than training"},
           {"loss-stuck-from-start", -1.5, 0, "nothing is learned, let alone memorised"}},
          "",
          "Train a model of half the width: if its valley is as low, the larger one only adds memory.",
          clues,
          no_memorising,
          remedies};
}

}  // namespace osler::catalogue::cause
