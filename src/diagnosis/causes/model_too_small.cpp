// model-too-small: the model cannot represent what the data asks for.
#include "diagnosis/configured.h"
#include "diagnosis/evidence/loss_bounds.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The network lacks the width, depth or context to express the task. It learns the coarse part quickly and then has no
means to go on, on the data it trains on as little as on other data.

## How it shows
Training and validation loss flatten early, high and close together; the gap between them stays small; a longer run or
another learning rate changes nothing.

## What else looks like it
Too much regularisation (the same picture, curable without a larger model), a learning rate that is too low or spent,
labels with errors, inputs that lack the information.

## References
- Goodfellow, Bengio, Courville 2016, Deep Learning, section 5.2: capacity, overfitting and underfitting.
- Kaplan et al. 2020, Scaling Laws for Neural Language Models.
- Karpathy 2019, A Recipe for Training Neural Networks: first overfit, then regularise.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  const auto decay = weight_decay(patient);
  const auto drop = dropout(patient);
  if ((decay && *decay > 0.3) || (drop && *drop > 0.4)) {
    found.push_back({-0.6, "strong regularisation is configured, which would look the same"});
  }
  constexpr double kNarrow = 4;
  if (const auto width =
          configured_number(patient, {"hidden_size", "hidden_dim", "d_model", "n_embd", "width", "hidden"});
      width && *width > 0 && *width <= kNarrow) {
    found.push_back({3.5, "its layers are " + number(*width) + " units wide"});
  }
  if (const auto above = stays_above_chance(patient))
    found.push_back({-1.5, *above + ": even a small model learns that"});
  if (const auto worse = worse_than_guessing(patient)) found.push_back({-1.5, *worse + ": that takes knowledge"});
  if (fine_tuning(patient)) found.push_back({-0.5, "it starts from weights that were trained before"});
  if (const auto better = better_than_guessing(patient)) {
    const bool at_once = verdicts.found("loss-stuck-from-start") != nullptr;
    found.push_back(
        {at_once ? 2.6 : 1.0, *better + ": a little is learned" + (at_once ? " at once" : "") + ", and no more"});
  } else if (const auto classes = stays_at_chance(patient, 0.03)) {
    found.push_back({-1.6, "the loss is that of guessing among " + std::to_string(*classes) +
                               " classes: even a small model does better"});
  }
  const auto schedule = rate_schedule(patient);
  if (schedule && schedule->left() < 0.01) {
    found.push_back({-0.4, "the learning rate is down to " + number(schedule->now) + ", which also ends progress"});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  if (!fits_training_set(patient)) return std::nullopt;
  const Reading* training = patient.training();
  return "the training loss fell from " + number(training->start) + " to " + number(training->end) +
         ": the model can represent its training set";
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  return {widen(patient, 2, "Enlarge the model: twice the width, or a few more layers, and compare the flat level."),
          advice("Regularise less: halve weight decay and dropout, soften the augmentation."),
          multiply_learning_rate(patient, 3),
          advice("Audit the data: a person should be able to tell the labels from the inputs the model gets.")};
}

}  // namespace

Cause model_too_small() {
  return {"model-too-small",
          "The model is too small for the task",
          kDoc,
          -2.2,
          {{"cannot-overfit-one-batch", 0.5, 0, "a model that cannot hold one batch is small or broken"},
           {"underfitting", 3.8, -0.7, "both losses are flat, high and close together"},
           {"loss-stuck-after-drop", 1.4, 0, "the coarse part was learned, the rest is out of reach"},
           {"loss-plateau", 0.7, 0, "a model at the end of its capacity stands still"},
           {"confidence-without-learning", 0.1, 0, "no more samples can be told apart"},
           {"loss-too-slow", 0.5, 0, "little capacity makes little progress"},
           {"overfitting", -1.8, 0, "a model that memorises is large enough"},
           {"overconfidence", -1.0, 0, "a model that is sure of its training set is large enough"},
           {"loss-stuck-from-start", -0.7, 0, "even a small model learns something"},
           {"loss-nonfinite-at-start", -2.0, 0, "too little capacity does not make NaN"},
           {"loss-nonfinite-later", -2.5, 0, "too little capacity does not make NaN"},
           {"loss-diverging", -1.0, 0, "too little capacity does not make a loss rise"}},
          "overfit-one-batch",
          "Overfit one batch: a model that cannot memorise 32 samples is too small (or broken); if it can, double its "
          "width and compare.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
