// wrong-loss-function: what is minimised is not what is wanted.
#include <cmath>

#include "diagnosis/accuracies.h"
#include "diagnosis/evidence/loss_bounds.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The loss does not fit the outputs or the task: softmax applied before a loss that applies it again, MSE on classes, a
sign error, shapes that broadcast, a reduction over the wrong axis, a mask that removes every target, predictions and targets swapped.

## How it shows
A first loss that fits no expectation; a floor that cannot be passed (about 1.46 for ten classes with a double
softmax); a loss that falls while the metric does not; a loss of exactly zero.

## What else looks like it
A bug in the metric (the loss is right), wrong labels, bad initialisation.

## References
- Humbatova et al. 2020, Taxonomy of Real Faults in Deep Learning Systems.
- Karpathy 2019, A Recipe for Training Neural Networks: verify the loss at initialisation.
)";

/// Where a second softmax holds the loss of a perfect classifier with `classes` classes: ln(e + C - 1) - 1.
double double_softmax_floor(double classes) {
  return std::log(std::exp(1.0) + classes - 1) - 1;
}

/// A loss that begins at the negative of a uniform guess and falls from there, or one of classes that runs away below
/// zero while the answers get no better than guessing.
void weigh_sign(const Patient& patient, const Reading& training, std::vector<Clue>& found) {
  const double first = training.curve.value.front();
  const auto classes = known_classes(patient).value_or(chance_classes(-first, 0.1).value_or(0));
  if (classes < 3 || training.start >= 0 || training.best >= training.start) return;
  const double guess = std::log(classes);
  if (std::abs(-first / guess - 1) <= 0.5) {
    found.push_back({6.5, "the loss starts at " + number(first) + ", the negative of ln(" + std::to_string(classes) +
                              "), and falls: its sign is wrong"});
    return;
  }
  const auto accuracy = patient.best_accuracy();
  constexpr double kBeyondGuessing = 10;  // times ln C below zero
  if (accuracy && *accuracy < 2.0 / classes && training.best < -kBeyondGuessing * guess) {
    found.push_back({6.5, "the loss falls to " + number(training.best) + " while the best accuracy of " +
                              per_cent(*accuracy) + " is that of guessing: its sign is wrong"});
  }
}

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  const Reading* training = patient.training();
  if (training == nullptr || training->negated || training->curve.empty()) return found;
  if (qualifier(verdicts.found("accuracy-outruns-loss"), "floor") == "sigmoid-twice") {
    found.push_back({3.0,
                     "answers in the right order at the loss of a guess: a sigmoid of a sigmoid keeps the order and "
                     "hides how sure they are"});
  }
  weigh_sign(patient, *training, found);
  if (qualifier(verdicts.found("accuracy-outruns-loss"), "floor") == "softmax-twice") {
    found.push_back({2.5, "loss and right answers stand to each other as behind two softmaxes"});
  }
  if (const auto worse = worse_than_guessing(patient)) found.push_back({1.5, *worse});
  if (const auto high = loss_too_high_for_accuracy(patient)) found.push_back({1.0, *high});
  const auto classes = chance_classes(training->start, 0.05);
  if (!classes || *classes < 3) return found;
  const double floor = double_softmax_floor(*classes);
  if (training->best < 0.97 * floor) return found;  // two softmaxes would not let it fall so far
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    // Behind two softmaxes a right answer costs the floor and a wrong one 1 more, nearly whatever the confidence.
    const double right = pair.share(pair.accuracy->end);
    if (right > 0.5 && std::abs(pair.loss->end - (floor + 1 - right)) < 0.1) {
      found.push_back({4.0, pair.loss->name + " of " + number(pair.loss->end) + " beside " + per_cent(right) +
                                " right answers is what two softmaxes in a row give for " + std::to_string(*classes) +
                                " classes"});
      return found;
    }
  }
  const auto accuracy = patient.best_accuracy();
  if (training->best < 1.1 * floor && accuracy && *accuracy > 3.0 / *classes) {
    found.push_back({2.0, "the loss stops at " + number(training->best) +
                              "; two softmaxes in a row allow no less than " + number(floor) + " for " +
                              std::to_string(*classes) + " classes"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts& verdicts) {
  std::vector<Remedy> list;
  if (verdicts.found("loss-exactly-zero") != nullptr) {
    list.push_back(advice("Count the targets that take part in the loss: a mask may remove all of them."));
  }
  if (verdicts.found("targets-broadcast") != nullptr) {
    list.push_back(advice("Give outputs and targets the same shape: output.squeeze(1), or targets[:, None]."));
  }
  if (verdicts.found("softmax-over-samples") != nullptr) {
    list.push_back(advice("Take the softmax along the classes: dim=1, or -1 where they come last."));
  }
  list.push_back(compute_loss_from_logits());
  list.push_back(advice("Compute the loss by hand for one sample, and compare; check its sign, axis and reduction."));
  list.push_back(advice("Check the first loss: ln(C) for C balanced classes, the targets' variance for MSE."));
  return list;
}

}  // namespace

Cause wrong_loss_function() {
  return {
      "wrong-loss-function",
      "The loss function does not fit the task",
      kDoc,
      -2.4,
      {{"outputs-squashed-twice", 6.0, 0, "the graph of the loss shows it"},
       {"targets-broadcast", 6.0, 0, "the graph of the loss shows it"},
       {"softmax-over-samples", 6.0, 0, "the graph of the loss shows it"},
       {"loss-too-slow", 1.6, 0, "a loss that is flat by construction falls slowly"},
       {"validation-frozen", 0.1, 0, "a loss that ignores the answers does not change them"},
       {"accuracy-outruns-loss", 0.8, -0.6, "a floor built into the loss holds it up while the answers become right"},
       {"loss-beyond-chance", 2.4, 0, "a loss of another kind has another scale"},
       {"cannot-overfit-one-batch", 1.2, 0, "a loss that does not measure the task does not fall"},
       {"loss-exactly-zero", 3.4, 0, "a loss without any target left is zero"},
       {"metric-contradicts-loss", 2.8, 0, "what is minimised is not what is measured"},
       {"initial-loss-wrong", 1.7, 0, "the first loss fits no expectation"},
       {"confidence-without-learning", 2.1, 0, "the loss can fall without better answers"},
       {"loss-stuck-from-start", 0.6, 0, "a loss that ignores the outputs cannot fall"},
       {"loss-negative-unbounded", 3.9, 0, "a loss without a floor does not measure errors"},
       {"part-of-loss-dead", 2.4, 0, "a mask or a filter may remove every target of the part"},
       {"predicts-one-class", 0.5, 0, "a loss that ignores the outputs leaves one answer for all"},
       {"underfitting", 1.2, 0, "a loss with a built-in floor looks like a weak model"},
       {"loss-stuck-after-drop", 0.4, 0, "a loss with a built-in floor ends early"},
       {"loss-diverging", 1.5, 0, "a loss with the wrong sign is driven apart"},
       {"loss-plateau", 0.4, 0, "a loss with a built-in floor stands still"},
       {"overfitting", -0.1, 0, "the loss leads training well"}},
      "overfit-one-batch",
      "Overfit one batch: a sound loss goes to its lower bound, a wrong one stops short of it.",
      clues,
      nullptr,
      remedies};
}

}  // namespace osler::catalogue::cause
