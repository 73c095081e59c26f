// bad-initialization: the first weights are so sized or so alike that learning cannot begin.
#include "diagnosis/evidence/breakage.h"
#include "diagnosis/evidence/carry_over.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Weights that are too small let the signal die out over the layers, weights that are too large saturate or blow it up,
and equal weights make all units of a layer learn the same thing. The output layer decides the first loss: large
outputs start a classifier far above ln(C).

## How it shows
A first loss far from the value of a uniform guess, no movement from the first step, or gradients that vanish or
explode at once.

## What else looks like it
A learning rate that is too low, inputs that are not scaled (the same effect, another origin), labels without
information, a detached graph.

## References
- Glorot and Bengio 2010, Understanding the Difficulty of Training Deep Feedforward Neural Networks.
- He et al. 2015, Delving Deep into Rectifiers.
- Mishkin and Matas 2016, All You Need Is a Good Init.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (const auto better = better_than_guessing(patient))
    found.push_back({-1.0, *better + ": what a broken start would not let through"});
  const bool stuck = verdicts.found("loss-stuck-from-start") != nullptr;
  if (const auto classes = stays_at_chance(patient, 0.004); stuck && classes) {
    found.push_back({0.4, "the loss is exactly ln(" + std::to_string(*classes) + "): the outputs ignore the inputs"});
  } else if (stuck && verdicts.absent("initial-loss-wrong")) {
    weigh_ordinary_norms(patient, verdicts, -0.8, found);
  }
  const Observation* start = verdicts.found("poor-initialization");
  if (start != nullptr && stuck && qualifier(start, "kind") != "scale") {
    found.push_back({2.5, "weights that start all zero or all alike have no gradient that tells them apart"});
  }
  if (const auto signal = first_signal(patient); signal && (signal->grows() || signal->fades())) {
    found.push_back({2.0, signal->in_words()});
  }
  const Reading* training = patient.training();
  if (training != nullptr && exactly_constant(*training)) {
    found.push_back({-1.0, "the loss repeats to the last digit: even badly started weights would move it"});
  }
  if (weights_stand_still(patient)) {
    found.push_back({-2.5, "validation repeats to the last digit: the weights do not change at all"});
  }
  if (const auto held = training_held_up(patient)) found.push_back({-1.2, *held});
  if (patient.run().steps().first > 1000) {
    found.push_back({-0.6, "the log starts at " + at_step(patient.run().steps().first) + ", so training was resumed"});
  }
  if (fine_tuning(patient)) found.push_back({-1.0, "it starts from weights that were trained before"});
  if (const auto huge = first_norm_huge(patient)) found.push_back({1.2, *huge});
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Remedy> list = {initialise_for_activation()};
  if (const Observation* off = verdicts.found("initial-loss-wrong"); off != nullptr && !off->evidence.empty()) {
    const Evidence& first = off->evidence.front();
    list.push_back(
        advice("Make the first loss right: scale the output layer's weights down (by 10 to begin with) "
               "and set its bias to the class frequencies; it begins at " +
               number(first.observed) + "."));
  } else {
    list.push_back(advice("Check the first loss: a classifier with C classes must begin near ln(C)."));
  }
  list.push_back(normalise_layers());
  list.push_back(multiply_learning_rate(patient, 10));
  return list;
}

}  // namespace

Cause bad_initialization() {
  return {
      "bad-initialization",
      "The weights are badly initialised",
      kDoc,
      -2.0,
      {{"validation-frozen", 0.1, 0, "outputs that ignore the inputs give the same result every time"},
       {"loss-beyond-chance", 2.1, 0, "outputs that start huge stay huge"},
       {"saddle-point", 0.6, 0, "weights that begin alike or at zero begin on a saddle"},
       {"cannot-overfit-one-batch", 0.8, 0, "weights of a wrong size can keep a net from learning"},
       {"poor-initialization", 4.1, -1.0, "the first weights were measured: they do not fit their layers"},
       {"initial-loss-wrong", 3.2, 0, "the first loss is not what untrained outputs should give"},
       {"loss-stuck-from-start", 3.1, 0, "weights that are too small, too large or all alike cannot begin to learn"},
       {"vanishing-gradients", 0.3, 0, "small weights let the gradient die out"},
       {"vanishing-by-depth", 0.9, 0, "small weights shrink the gradient layer by layer"},
       {"silent-layer", 1.8, 0, "a layer whose weights or scale are far too small passes no gradient on"},
       {"exploding-gradients", 1.1, 0, "large weights amplify the gradient"},
       {"exploding-layer", 1.8, 0, "one layer's weights amplify more than all others"},
       {"exploding-activations", 0.9, 0, "large weights amplify the signal"},
       {"vanishing-activations", 0.8, 0, "small weights let the signal fade"},
       {"saturated-activations", 0.4, 0, "large weights push units to the ends of their range"},
       {"loss-nonfinite-at-start", 0.3, 0, "large weights overflow in the first forward pass"},
       {"clipping-always", 0.5, 0, "poorly scaled weights give large gradients"},
       {"updates-too-large", 0.5, 0, "the updates are large against weights that are too small"},
       {"loss-too-slow", 0.1, 0, "a poorly scaled start slows the whole descent"},
       {"underfitting", 1.7, 0, "units that start alike stay alike"},
       {"loss-stuck-after-drop", -0.8, 0, "the start was good"},
       {"loss-nonfinite-later", -1.2, 0, "the start was good"},
       {"overfitting", -1.6, 0, "the model learned its training set"}},
      "initialisation-check",
      "Compare each layer's standard deviation with He or Xavier for its fan-in, and look for equal rows.",
      clues,
      nullptr,
      remedies};
}

}  // namespace osler::catalogue::cause
