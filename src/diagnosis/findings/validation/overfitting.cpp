// overfitting: validation turns up while training still falls.
#include <algorithm>
#include <cmath>

#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/turn.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The model keeps getting better on the data it trains on and worse on data it does not: it memorises.

## Signature
The validation loss falls to a valley and then rises for good: a falling-then-rising fit (unimodal regression) explains
it better than a falling one, the rise after the valley is significant, exceeds `noise_units` noise units and matters
(`rise_share` of what validation had gained, and `level_share` of its level), while the training loss falls on or is
far below validation. Without a validation loss, an accuracy or metric that peaks and declines is judged the same way.

## Why it matters
Every step after the valley makes the model worse at its job. The best checkpoint lies at the valley.

## When it is harmless
A validation loss that rises while the validation metric still improves is growing confidence, not overfitting, and is
reported as such. A rise within the noise, or of a per cent or two, costs nothing.

## References
- Prechelt 1998, Early Stopping - But When?
- Zhang et al. 2017, Understanding deep learning requires rethinking generalization.
- Nakkiran et al. 2020, Deep Double Descent.
)";

TurnLimits limits_for_loss(const SettingValues& settings) {
  return {settings["noise_units"], settings["rise_share"], settings["level_share"], settings["least_gain"],
          settings["p_value"]};
}

/// A metric alone must say it more clearly.
TurnLimits limits_for_metric(const SettingValues& settings) {
  TurnLimits limits = limits_for_loss(settings);
  limits.noise_units *= settings["metric_strictness"];
  limits.rise_share *= settings["metric_strictness"];
  limits.level_share = settings["metric_level_share"];
  return limits;
}

/// A validation metric that still improves contradicts overfitting.
bool metric_improves(const Patient& patient, double step) {
  const auto& qualities = patient.validation_quality();
  return std::any_of(qualities.begin(), qualities.end(), [&](const Reading& quality) {
    return quality.size() >= 5 && motion_after(quality, step) == Motion::improved;
  });
}

Observation describe(const Reading& reading, const Turn& turn, const SettingValues& settings) {
  const std::int64_t since = reading.step_at(turn.valley.bottom);
  const double margin = std::min(turn.units / settings["noise_units"], turn.share / settings["rise_share"]);
  const Severity severity = turn.share > settings["critical_share"] ? Severity::critical : Severity::warning;
  Observation seen = observe(severity, confidence_of(margin), since, reading.last_step,
                             reading.name + (reading.negated ? " peaked at " : " was best at ") + at_step(since) +
                                 " (" + number(reading.shown(turn.valley.floor)) + ") and has got worse since (" +
                                 number(reading.shown(turn.valley.end)) + "), while training went on improving.");
  seen.qualifiers["best_step"] = std::to_string(since);
  seen.evidence.push_back(evidence(reading.name, since, reading.last_step, reading.shown(turn.valley.end),
                                   reading.shown(turn.valley.floor),
                                   "gave back " + per_cent(std::min(turn.share, 99.0)) + " of its gain, " +
                                       number(turn.units) + " noise units above the valley"));
  return seen;
}

/// The accuracy was never better than guessing, so its ups and downs mean nothing.
bool never_learned(const Patient& patient) {
  const auto classes = known_classes(patient);
  const auto accuracy = patient.best_accuracy();
  constexpr double kGuessing = 1.3;  // times the share that guessing gets right
  return classes && accuracy && *classes > 1 && *accuracy < kGuessing / *classes;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (patient.reinforcement()) return NotChecked{"the run is judged by its reward"};
  const auto enough = [&](const Reading& reading) { return reading.size() >= settings["fewest_points"]; };
  const Reading* loss = patient.validation();
  bool checked = false;
  if (loss != nullptr && enough(*loss)) {
    checked = true;
    const Turn turn = turn_of(*loss, limits_for_loss(settings), comparable_start(patient));
    const double bottom = loss->curve.step[turn.valley.bottom];
    if (turn.real && training_improves_after(patient, bottom, *loss) && !metric_improves(patient, bottom)) {
      Observation seen = describe(*loss, turn, settings);
      if (const Reading* training = patient.training()) {
        seen.evidence.push_back(evidence(training->name, seen.first_step, training->last_step, training->end,
                                         training->course[training->index_at(bottom)],
                                         "training went from " + number(training->course[training->index_at(bottom)]) +
                                             " to " + number(training->end) + " meanwhile"));
      }
      return seen;
    }
  }
  for (const Reading& quality : patient.validation_quality()) {
    if (!enough(quality)) continue;
    checked = true;
    if (never_learned(patient)) break;
    const Turn turn = turn_of(quality, limits_for_metric(settings), std::nan(""));
    const bool loss_agrees =
        loss == nullptr || !enough(*loss) || loss->best_at + 2 < loss->size() || !patient.training_quality().empty();
    if (turn.real && loss_agrees && training_improves_after(patient, quality.curve.step[turn.valley.bottom], quality)) {
      return describe(quality, turn, settings);
    }
    break;  // only the leading metric is judged: of a dozen one always wobbles
  }
  if (!checked)
    return NotChecked{"no validation series with at least " + number(settings["fewest_points"]) + " points"};
  return NotFound{};
}

}  // namespace

Finding overfitting() {
  return {"overfitting",
          "Validation gets worse while training still improves",
          {Need::curve},
          kDoc,
          {{"fewest_points", 4, "evaluations needed to see a rise at every one of them"},
           {"noise_units", 2.5, "noise levels the rise must exceed"},
           {"rise_share", 0.03, "share of validation's gain that must be lost for it to matter"},
           {"level_share", 0.01, "share of validation's level that the rise must exceed"},
           {"least_gain", 0.02, "gain assumed when validation never fell, as a share of its level"},
           {"p_value", 0.02, "significance of the rise after the valley"},
           {"critical_share", 1, "share of the gain whose loss is critical: validation is worse than at the start"},
           {"metric_level_share", 0.05, "share of a metric's level that its decline must exceed"},
           {"metric_strictness", 1.4, "factor by which a metric alone must exceed the limits on noise and gain"}},
          check};
}

}  // namespace osler::catalogue
