// too-little-data: the training set can be memorised.
#include "diagnosis/evidence/carry_over.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The training set holds less information than the model can store, so after the common patterns it learns the samples
themselves, noise included.

## How it shows
Training loss keeps falling, often towards zero; validation turns up after a few epochs, or stands still while training
goes on; the gap widens.

## What else looks like it
A model that is simply too large for the task, labels with errors (the model memorises them last), a validation set
drawn from elsewhere.

## References
- Zhang et al. 2017, Understanding Deep Learning Requires Rethinking Generalization.
- Hestness et al. 2017, Deep Learning Scaling is Predictable, Empirically.
- Prechelt 1998, Early Stopping - But When?
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (fits_training_set(patient)) {
    found.push_back(
        {1.0, "the training loss fell to " + number(patient.training()->end) + ": the training set is memorised"});
  }
  if (const auto nothing = nothing_carries_over(patient)) found.push_back({-2.5, *nothing});
  weigh_carry_over(patient, {.never = -1.0, .by_heart = 2.0, .guesses = -0.8}, found);
  weigh_silent_memorising(patient, verdicts, found);
  weigh_flat_training(patient, verdicts, found);
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  return {keep_best_checkpoint(patient, verdicts), regularise(patient),
          advice("Add data; to see whether it would help, train on a half and compare the valleys.")};
}

}  // namespace

Cause too_little_data() {
  return {"too-little-data",
          "There is too little training data for this model",
          kDoc,
          -1.8,
          {{"sharp-minimum", 0.4, 0, "memorised samples make sharp minima"},
           {"overfitting", 2.8, -0.9, "validation turns up while training falls on"},
           {"overconfidence", 2.3, 0, "certainty grows on the training set and not on new data"},
           {"loss-plateau", 0.1, 0, "validation can stand still while training memorises"},
           {"epoch-sawtooth", 0.6, 0, "a drop at each epoch's end means that samples are recognised"},
           {"metric-contradicts-loss", -2.1, 0, "the validation loss itself does not turn"},
           {"underfitting", -2.0, 0, "the training loss itself is high"},
           {"validation-better-than-training", -1.5, 0, "validation is better than training"},
           {"loss-stuck-from-start", -1.6, 0, "nothing is learned, let alone memorised"}},
          "",
          "Train on half of the data: if the valley comes earlier and higher, more data will help.",
          clues,
          no_memorising,
          remedies};
}

}  // namespace osler::catalogue::cause
