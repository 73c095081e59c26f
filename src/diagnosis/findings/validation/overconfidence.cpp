// overconfidence: the validation loss rises although the validation accuracy does not fall.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/set_up.h"
#include "diagnosis/observe.h"
#include "diagnosis/turn.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The model decides as well as before, but it is surer of its wrong answers: the validation loss rises while the accuracy
is flat or even still rising. It is losing calibration.

## Signature
The validation loss turns up for good (as in `overfitting`), and the leading validation accuracy or metric does not
decline from the valley on. A warning when the rise is at least `warn_share` of what the loss had gained, or `warn_level`
of its lowest, else a note.

## Why it matters
Probabilities are no longer to be trusted, and the accuracy often follows later. Where only the argmax counts it may be
accepted for the sake of the metric.

## When it is harmless
When the metric still improves and nobody uses the probabilities: keep the checkpoint with the best metric.

## References
- Guo et al. 2017, On Calibration of Modern Neural Networks.
- Mukhoti et al. 2020, Calibrating Deep Neural Networks using Focal Loss.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* loss = patient.validation();
  if (loss == nullptr) return NotChecked{"no validation loss in the log"};
  if (patient.validation_quality().empty()) return NotChecked{"no validation accuracy or metric in the log"};
  if (loss_without_logarithm(patient)) return NotChecked{"the loss says nothing of how sure the answers are"};
  const Reading& metric = patient.validation_quality().front();
  if (loss->size() < settings["fewest_points"] || metric.size() < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " evaluations"};
  }
  TurnLimits limits;
  limits.noise_units = settings["noise_units"];
  limits.rise_share = settings["rise_share"];
  const Turn turn = turn_of(*loss, limits, comparable_start(patient));
  if (!turn.real) return NotFound{};
  const double bottom = loss->curve.step[turn.valley.bottom];
  const Motion motion = motion_after(metric, bottom);
  const double lost = metric.end - metric.smoothed[metric.index_at(bottom)];
  const bool holds = lost <= std::max(settings["held"] * (metric.top - metric.best), metric.noise.sigma);
  if (motion == Motion::declined || !holds || !training_improves_after(patient, bottom, *loss)) return NotFound{};

  const std::int64_t since = loss->step_at(turn.valley.bottom);
  const double before = metric.shown(metric.smoothed[metric.index_at(bottom)]);
  const double rise = turn.valley.end - turn.valley.floor;
  // Where the loss had gone to nothing, a multiple of it is nothing still.
  const Reading* training = patient.training();
  const double begin = std::max(std::abs(loss->start), training != nullptr ? std::abs(training->start) : 0.0);
  const bool matters =
      turn.share > settings["warn_share"] || rise > settings["warn_level"] * std::abs(turn.valley.floor);
  const bool harms = matters && rise > settings["least"] * begin && !only_grows_surer(patient, *loss, turn);
  Observation seen =
      observe(harms ? Severity::warning : Severity::note, confidence_of(turn.units / settings["noise_units"]), since,
              loss->last_step,
              loss->name + " rises since " + at_step(since) + " although " + metric.name +
                  (motion == Motion::improved ? " still improves" : " holds") + ": the model grows overconfident.");
  seen.evidence.push_back(evidence(loss->name, since, loss->last_step, turn.valley.end, turn.valley.floor,
                                   "rose from " + number(turn.valley.floor) + " to " + number(turn.valley.end)));
  seen.evidence.push_back(evidence(metric.name, since, metric.last_step, metric.shown(metric.end), before,
                                   "went from " + number(before) + " to " + number(metric.shown(metric.end))));
  return seen;
}

}  // namespace

Finding overconfidence() {
  return {"overconfidence",
          "Validation loss rises while validation accuracy holds",
          {Need::curve},
          kDoc,
          {{"fewest_points", 6, "evaluations needed to see a valley"},
           {"noise_units", 2.5, "noise levels the rise must exceed"},
           {"rise_share", 0.03, "share of the loss's gain that must be lost for it to matter"},
           {"held", 0.2, "share of its range that a metric which holds may have lost"},
           {"warn_share", 0.25, "share of the gain whose loss is a warning rather than a note"},
           {"least", 0.02, "share of the first loss that a rise must have to harm anything"},
           {"warn_level", 0.15,
            "the same as a share of the lowest loss: a public log whose loss rises so is never called sound"}},
          check};
}

}  // namespace osler::catalogue
