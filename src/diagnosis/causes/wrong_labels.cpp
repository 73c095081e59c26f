// wrong-labels: the labels do not belong to the inputs.
#include "diagnosis/accuracies.h"
#include "diagnosis/evidence/breakage.h"
#include "diagnosis/evidence/carry_over.h"
#include "diagnosis/evidence/loss_bounds.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The labels say nothing about the inputs they come with: inputs were shuffled without their labels, columns are swapped,
the index is off by one, every target is masked out or has the same value. The model is fine, the question has no
answer.

## How it shows
Gradients flow and the rate is sensible, yet the loss stays at chance, ln(C), and the accuracy at the share of the
largest class. With every target masked the loss is exactly zero. A large model may memorise even random labels, with
validation at chance.

## What else looks like it
Bad initialisation or fading gradients (the gradient norm is off), a learning rate that is too low, a loss function
that does not fit.

## References
- Zhang et al. 2017, Understanding Deep Learning Requires Rethinking Generalization: what random labels look like.
- Karpathy 2019, A Recipe for Training Neural Networks: look at exactly what goes into the network.
)";

constexpr double kSame = 0.004;
constexpr double kNear = 0.03;

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (qualifier(verdicts.found("overfitting"), "carried") == "nothing") {
    found.push_back(
        {1.4, "nothing of what was learned carries over, as with labels that do not belong to their inputs"});
  }
  if (const auto worse = worse_than_guessing(patient)) found.push_back({1.5, *worse});
  weigh_carry_over(patient, {.never = 1.2, .guesses = 1.8, .answers = -1.5}, found);
  const bool stuck = verdicts.found("loss-stuck-from-start") != nullptr;
  if (weights_stand_still(patient)) {
    found.push_back({-1.5, "validation repeats to the last digit: the weights do not change at all"});
  }
  if (const auto above = stays_above_chance(patient); stuck && above) {
    found.push_back({-1.5, *above + ": whatever the labels, their frequencies would be learned"});
  }
  if (stuck) weigh_ordinary_norms(patient, verdicts, 0.9, found);
  if (const auto classes = stays_at_chance(patient, kSame)) {
    found.push_back({-0.8, "the loss is exactly ln(" + std::to_string(*classes) +
                               "): the outputs ignore the inputs, whatever the labels"});
  } else if (const auto guessed = training_guesses(patient); guessed && !stuck) {
    found.push_back({3.4, "even on its own data training ends at the loss and the accuracy of guessing among " +
                              std::to_string(*guessed) + " classes"});
  } else if (const auto better = better_than_guessing(patient)) {
    found.push_back({-0.8, *better + ": the labels do say something"});
  } else if (const auto near = stays_at_chance(patient, kNear)) {
    found.push_back(
        {stuck ? 0.3 : 1.6, "the loss stays at that of guessing among " + std::to_string(*near) + " classes"});
  }
  const auto nothing = nothing_carries_over(patient);
  if (nothing) found.push_back({3.0, *nothing});
  const Reading* training = patient.training();
  const auto carried = carry_over(patient);
  const bool in_vain = carried && (carried->never() || carried->guesses());
  if (!stuck && !nothing && !in_vain && !training_guesses(patient) && training != nullptr &&
      training->improvement() > 0.2 * training->level && training_learned(patient)) {
    found.push_back({-2.0, training->name + " fell from " + number(training->shown(training->start)) + " to " +
                               number(training->shown(training->best)) + ": the labels do say something"});
  }
  if (training != nullptr && exactly_constant(*training) && verdicts.found("loss-exactly-zero") == nullptr) {
    found.push_back({-1.2, "the loss repeats to the last digit: with gradients it would at least jitter"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts& verdicts) {
  std::vector<Remedy> list;
  if (verdicts.found("loss-exactly-zero") != nullptr) {
    list.push_back(advice("Count the targets that take part in the loss: all of them may be masked (ignore_index)."));
  }
  list.push_back(advice("Print ten inputs with their labels as the model gets them, and check them by eye."));
  list.push_back(switch_to("Shuffle inputs and labels with one permutation; check index offsets and class order.",
                           "labels_match", "on"));
  list.push_back(advice("Count the labels per class: a constant or an out-of-range label shows at once."));
  return list;
}

}  // namespace

Cause wrong_labels() {
  return {"wrong-labels",
          "The labels do not belong to the inputs",
          kDoc,
          -2.6,
          {{"overconfidence", 1.7, 0, "labels that say nothing are learned by heart, and nothing carries over"},
           {"validation-frozen", 0.3, 0, "with nothing to learn the answers stay the same"},
           {"cannot-overfit-one-batch", 0.3, 0, "equal inputs with different labels cannot be memorised"},
           {"labels-invalid", 4.2, 0, "labels were seen that cannot be right"},
           {"loss-exactly-zero", 4.1, 0, "with every target masked the loss is zero"},
           {"loss-stuck-from-start", 2.1, 0, "there is nothing to learn from labels that say nothing"},
           {"underfitting", 0.8, 0, "labels that say little put a high floor under both losses"},
           {"metric-contradicts-loss", 1.0, 0, "loss and metric may read different labels"},
           {"initial-loss-wrong", 1.5, 0, "labels outside their range distort the first loss"},
           {"loss-stuck-after-drop", 0.5, 0, "the class frequencies are learned, and nothing more"},
           {"overfitting", 1.8, 0, "labels that say nothing can only be memorised"},
           {"confidence-without-learning", 0.5, 0, "no more labels can be told from the inputs"},
           {"loss-plateau", 1.1, 0, "there is nothing to learn from labels that say nothing"},
           {"validation-below-chance", 3.6, 0, "only labels that were permuted make knowledge worse than guessing"},
           {"loss-negative-unbounded", 2.0, 0, "labels outside of the range that the loss expects take its floor away"},
           {"part-of-loss-dead", 2.0, 0, "without targets a part of the loss is zero"},
           {"predicts-one-class", 0.8, 0, "labels that say nothing leave only the class frequencies"},
           {"vanishing-gradients", -0.2, 0, "wrong labels still give gradients"},
           {"loss-too-slow", -0.8, 0, "something is being learned, if slowly"}},
          "overfit-one-batch",
          "Overfit one batch: if 32 samples are memorised but validation stays at chance, look at the labels.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
