// sharp-minimum: training has settled where small changes of the weights cost much.
#include "diagnosis/configured.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A sharp minimum is a narrow basin: a small shift of the weights, or of the data, raises the loss a lot. Large batches
and low rates tend to end there. New data is such a shift, so validation sits on the wall of the basin.

## How it shows
Training low, validation clearly higher; late in training the batch loss begins to scatter, because ordinary steps
reach the walls; a sharpness ratio above 0.1 for a 5 % perturbation.

## What else looks like it
Too little data, a learning rate that is too high for the late phase. Sharpness depends on how weights are scaled, so
compare runs of the same model only.

## References
- Hochreiter and Schmidhuber 1997, Flat Minima.
- Keskar et al. 2017, On Large-Batch Training for Deep Learning.
- Foret et al. 2021, Sharpness-Aware Minimization. Dinh et al. 2017, Sharp Minima Can Generalize For Deep Nets.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  const auto size = batch_size(patient);
  if (size && *size >= 2048) found.push_back({0.8, "batches of " + number(*size) + " tend to sharp minima"});
  if (size && *size <= 64) found.push_back({-0.6, "batches of " + number(*size) + " seldom settle in sharp minima"});
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  if (const auto size = batch_size(patient); size && *size > 64) {
    list.push_back(change(
        "Use smaller batches, whose noise leaves sharp basins: " + number(*size) + " -> " + number(*size / 4) + ".",
        "batch_size", number(*size), number(*size / 4)));
  } else {
    list.push_back(advice("Use smaller batches or a higher rate early on: noise leaves sharp basins."));
  }
  list.push_back(
      change("Use sharpness-aware minimisation (SAM) with a radius of 0.05, or average the weights (SWA, EMA).", "sam",
             "", "0.05"));
  list.push_back(regularise(patient));
  return list;
}

}  // namespace

Cause sharp_minimum() {
  return {"sharp-minimum",
          "Training has settled in a sharp minimum",
          kDoc,
          -3.4,
          {{"sharp-minimum", 4.5, -2.0, "the loss rises steeply around the weights"},
           {"late-loss-variance", 1.4, 0, "ordinary steps reach the walls of the basin"},
           {"overfitting", 0.5, -0.6, "new data is a shift that a sharp minimum does not bear"},
           {"overconfidence", 0.3, 0, "sharp minima are sure of themselves"},
           {"loss-spikes", 0.3, 0, "a step onto the wall is a spike"},
           {"loss-oscillating", 0.1, 0, "the optimizer bounces between the walls"},
           {"underfitting", -2.0, 0, "training has not reached a deep minimum"},
           {"loss-stuck-from-start", -2.5, 0, "training has not left the start"}},
          "sharpness",
          "Measure the loss under random 5 % perturbations of the weights: a rise of more than a tenth confirms it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
