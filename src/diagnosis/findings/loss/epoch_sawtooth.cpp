// epoch-sawtooth: the loss repeats a ramp in every epoch.
#include <algorithm>
#include <cmath>

#include "diagnosis/epochs.h"
#include "diagnosis/movement.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "diagnosis/rates.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Within every epoch the loss goes down a ramp and leaps back up at the boundary, or climbs and falls back.

## Signature
Over at least `fewest_epochs` epochs, the leap at the boundary (first quarter of the next epoch against the last quarter
of this one) or the climb within the epoch goes the wrong way in `steady` of them, exceeds `standard_errors` standard
errors, and in the median `amplitude` of the level. A climb counts only when it undoes at least `undoes` of the drop at
the boundary. Boundaries come from a series of epochs, else from the distance between validations.

## Why it matters
The batches come in the same order every time: classes or difficulties follow each other, and the model adapts to what
it has just seen. Shuffling removes it.

## When it is harmless
A staircase, falling at each boundary and flat between, is a model that remembers its data. Adaptive optimizers make the
loss climb a little within each epoch even on shuffled data, so a climb is a note and only a leap a warning. Running
means that start anew in each epoch also fall there. A learning rate that restarts with each epoch makes waves by
design.

## References
- Bottou 2009, Curiously fast convergence of some stochastic gradient descent algorithms: the role of shuffling.
- Liu and Ma 2024, The Epochal Sawtooth Phenomenon: Adam climbs within epochs even on shuffled data.
)";

/// One kind of motion, epoch by epoch, in shares of the level.
struct Motions {
  std::vector<double> within;    // last quarter minus first quarter of an epoch
  std::vector<double> boundary;  // first quarter of the next epoch minus last quarter of this one
};

Motions motions_of(const signal::Curve& loss, const std::vector<EpochRange>& epochs, double scale) {
  Motions motions;
  double tail_before = 0;
  double level_before = 0;
  for (std::size_t e = 0; e < epochs.size(); ++e) {
    const auto values = std::span(loss.value).subspan(epochs[e].first, epochs[e].last - epochs[e].first);
    const std::size_t quarter = values.size() / 4;
    const double head = signal::median(values.first(quarter));
    const double tail = signal::median(values.last(quarter));
    // A loss that may be negative has no level of its own to compare with.
    const double level = scale > 0 ? scale : std::max(std::abs(signal::median(values)), 1e-300);
    motions.within.push_back((tail - head) / level);
    if (e > 0) motions.boundary.push_back((head - tail_before) / level_before);
    tail_before = tail;
    level_before = level;
  }
  return motions;
}

/// Whether nearly all of `values` are positive, significantly and sizeably so.
bool steadily_up(const std::vector<double>& values, const SettingValues& settings) {
  const auto n = static_cast<double>(values.size());
  const auto up = static_cast<double>(std::count_if(values.begin(), values.end(), [](double v) { return v > 0; }));
  const double typical = signal::median(values);
  return up >= settings["steady"] * n && typical > settings["amplitude"] &&
         typical > settings["standard_errors"] * signal::mad_scale(values) / std::sqrt(n);
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (patient.adversarial() || patient.reinforcement()) {
    return NotChecked{"networks play against each other or for a reward: their losses follow no epochs"};
  }
  const Reading* loss = patient.training();
  if (loss == nullptr) return no_loss_to_check(patient);
  const signal::Curve curve = close_up(patient, *loss);
  const Epochs epochs = epochs_of(patient, curve, static_cast<std::size_t>(settings["fewest_rows"]));
  if (static_cast<double>(epochs.ranges.size()) < settings["fewest_epochs"]) {
    return NotChecked{"fewer than " + number(settings["fewest_epochs"]) + " epochs with at least " +
                      number(settings["fewest_rows"]) + " logged losses each"};
  }
  if (const auto rate = main_rate(patient); rate && rises_at_boundaries(*rate, curve, epochs)) return NotFound{};

  // The first epoch descends too steeply to tell a ramp.
  const std::vector<EpochRange> later(epochs.ranges.begin() + 1, epochs.ranges.end());
  const double scale = *std::min_element(curve.value.begin(), curve.value.end()) > 0 ? 0 : loss->top - loss->best;
  const Motions motions = motions_of(curve, later, scale);
  const double within = signal::median(motions.within);
  const double boundary = signal::median(motions.boundary);
  const bool leaps = steadily_up(motions.boundary, settings) && within < 0;
  const bool climbs = steadily_up(motions.within, settings) && boundary < 0 && within > -settings["undoes"] * boundary;
  if (!leaps && !climbs) return NotFound{};

  const double amplitude = leaps ? boundary : within;
  const std::string count = std::to_string(later.size());
  Observation seen =
      observe(leaps ? Severity::warning : Severity::note, confidence_of(amplitude / settings["amplitude"]),
              std::llround(curve.step[later.front().first]), loss->last_step,
              loss->name + (leaps ? " leaps up by " : " climbs by ") + per_cent(amplitude) +
                  (leaps ? " of its level at the start of each of " : " of its level within each of ") + count +
                  " epochs" + (leaps ? " and comes down within it." : " and falls back after it."));
  seen.qualifiers["shape"] = leaps ? "down within the epoch" : "up within the epoch";
  seen.qualifiers["boundaries"] = epochs.from;
  seen.evidence.push_back(evidence(loss->name, seen.first_step, loss->last_step, amplitude, settings["amplitude"],
                                   "within an epoch " + per_cent(within) + ", at its boundary " + per_cent(boundary) +
                                       " of the level (medians over " + count + " epochs)"));
  return seen;
}

}  // namespace

Finding epoch_sawtooth() {
  return {"epoch-sawtooth",
          "The loss saws with the epochs",
          {Need::curve},
          kDoc,
          {{"fewest_rows", 8, "losses per epoch needed to see its inside"},
           {"fewest_epochs", 5, "epochs needed to call it a pattern"},
           {"steady", 0.85, "share of the epochs that must show it"},
           {"standard_errors", 4, "standard errors by which the median must exceed zero"},
           {"amplitude", 0.08, "share of the level that the saw must reach to matter"},
           {"undoes", 0.5, "share of the drop at the boundary that a climb must undo; a staircase undoes none"}},
          check};
}

}  // namespace osler::catalogue
