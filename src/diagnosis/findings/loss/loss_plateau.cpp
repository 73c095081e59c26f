// loss-plateau: the objective has stopped moving; whether that is convergence or trouble, the causes decide.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/chance.h"
#include "diagnosis/flatness.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "diagnosis/turn.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loss came some way and then stopped. By itself that is neither good nor bad: every training that
converges ends so. What matters is why it stopped, and the causes below are weighed for that.

## Signature
Over at least the last `flat_share` of the run the trend gains less than `matters` of all that was gained. The
validation loss is looked at first: it is what people stop for. It is told where the budget is still being spent:
validation is flat while training falls on, if only slowly, and validation does not follow (`follows`), the learning
rate is still above `spending_rate` of its peak or not in the log, and no validation metric improves. The causes then
say whether this is the end of the way or an obstacle. It is a warning where training pulls away from a validation that
has come little of its way.

## Why it matters
Time spent on a plateau is time not spent on the fix, or on stopping.

## When it is harmless
When the floor is reached: the loss is where its own descent promised, and the learning-rate schedule is over.

## References
- Dauphin et al. 2014, Identifying and attacking the saddle point problem.
- Ainsworth and Shin 2021, Plateau phenomenon in gradient descent training of ReLU networks.
)";

/// How far training has fallen since `step`, in its own units: 0 when it has not, surely and by a share of its gain or
/// of its level: late in a long descent a hundredth of what is left is much.
double fall_since(const Reading* training, double step) {
  if (training == nullptr || training->size() < 8) return 0;
  const std::size_t at = training->index_at(step);
  if (training->size() - at < 4) return 0;
  const signal::Trend trend =
      signal::trend_of(std::span(training->curve.step).subspan(at), std::span(training->curve.value).subspan(at));
  const double least = std::min(0.02 * (training->top - training->best), 0.01 * training->level);
  return trend.falls(0.01) && -trend.change > least ? -trend.change : 0;
}

/// The flat stretch, or its end where validation crept down with training at first and then stopped.
Flatness standing_still(const Reading& reading, Flatness flat, const Reading* training, const SettingValues& settings) {
  const auto& step = reading.curve.step;
  if (flat.change <= settings["follows"] * fall_since(training, step[flat.since])) return flat;
  const std::size_t late = reading.index_at(step.back() - settings["flat_share"] * (step.back() - step.front()));
  if (late <= flat.since || reading.size() - late < settings["fewest_points"]) return flat;
  const double change =
      -signal::trend_of(std::span(step).subspan(late), std::span(reading.curve.value).subspan(late)).change;
  if (change > settings["follows"] * fall_since(training, step[late])) return flat;
  const double gain = std::max(reading.top - reading.best, 1e-300);
  return {late, settings["flat_share"], change, change / gain};
}

/// The learning rate still moves the weights, as far as the log tells.
bool still_spending(const Patient& patient, double share_of_peak) {
  const Reading* rate = patient.learning_rate();
  if (rate == nullptr) return true;
  if (rate->size() < 8 || !(rate->top > 0)) return false;
  return rate->end > share_of_peak * rate->top;
}

/// A validation metric still gets better: the flat loss does not tell all.
bool metric_improves(const Patient& patient, double step) {
  const auto& qualities = patient.validation_quality();
  return std::any_of(qualities.begin(), qualities.end(), [&](const Reading& quality) {
    return quality.size() >= 5 && motion_after(quality, step) == Motion::improved;
  });
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  std::vector<const Reading*> objectives = patient.objectives();
  std::reverse(objectives.begin(), objectives.end());
  std::erase_if(objectives, [&](const Reading* r) { return r->size() < settings["fewest_points"]; });
  if (objectives.empty()) {
    return NotChecked{"no loss with at least " + number(settings["fewest_points"]) + " points"};
  }
  for (const Reading* reading : objectives) {
    Flatness flat = flatness_of(*reading, settings["matters"]);
    if (flat.share < settings["flat_share"] || flat.since >= reading->size()) continue;
    const bool validation = reading == patient.validation();
    if (validation) flat = standing_still(*reading, flat, patient.training(), settings);
    const double since_step = reading->curve.step[flat.since];
    const double fall = validation ? fall_since(patient.training(), since_step) : 0;
    const bool training_goes_on = fall > 0;
    // In the long tail of a healthy descent both losses still creep down together.
    const bool follows = flat.change > settings["follows"] * fall;
    // A loss that is next to nothing beside where it began has no way left to go.
    const bool solved = reading->shown(reading->end) >= 0 && reading->shown(reading->start) > 0 &&
                        reading->shown(reading->end) < settings["solved_share"] * reading->shown(reading->start);
    // Training that has not come down to validation yet, under dropout or augmentation, has only to catch up.
    const bool ahead = validation && patient.training() != nullptr && !patient.training()->negated &&
                       reading->end < patient.training()->end;
    // The first evaluation may come after most of the way: training began where both did.
    const double begin = validation && patient.training() != nullptr && !patient.training()->negated
                             ? std::max(reading->start, patient.training()->start)
                             : reading->start;
    const double gap = settings[patient.validation_quality().empty() ? "gap" : "usual_gap"];
    // Training pulls away from a validation that has come little of its way: what is learned does not carry over.
    const bool parts = validation && training_goes_on && !ahead && !follows &&
                       reading->end - patient.training()->end > gap * std::abs(reading->end) &&
                       reading->end > settings["far"] * begin && fall > settings["fall"] * patient.training()->level;
    const bool wasteful = training_goes_on && !ahead && !follows && still_spending(patient, settings["spending_rate"]);
    // What carries over this well has little left to gain.
    const auto reached = skill(patient);
    const bool skilled = reached && reached->share > settings["skilled"];
    if (solved || skilled || metric_improves(patient, since_step) || !(parts || wasteful)) continue;
    const std::int64_t since = reading->step_at(flat.since);
    Observation seen =
        observe(parts ? Severity::warning : Severity::note, confidence_of(flat.share / settings["flat_share"]), since,
                reading->last_step,
                reading->name + " is flat since " + at_step(since) + " at " + number(reading->shown(reading->end)) +
                    (training_goes_on ? ", while training still falls." : "."));
    seen.qualifiers["why"] = "open";  // harmless or not by its cause, so the causes are told
    seen.qualifiers["series"] = validation ? "validation" : "training";
    seen.qualifiers["training"] = training_goes_on ? "falls" : "flat";
    seen.evidence.push_back(evidence(
        reading->name, since, reading->last_step, flat.of_gain, settings["matters"],
        "the last " + per_cent(flat.share) + " of the run gained " + per_cent(flat.of_gain) + " of the whole gain"));
    return seen;
  }
  return NotFound{};
}

}  // namespace

Finding loss_plateau() {
  return {
      "loss-plateau",
      "The loss has stopped moving",
      {Need::curve},
      kDoc,
      {{"fewest_points", 8, "below this flatness means nothing"},
       {"flat_share", 0.3, "last share of the run that must be flat"},
       {"matters", 0.05, "share of the whole gain that counts as movement"},
       {"solved_share", 0.05, "a loss this small beside its start belongs to a task that is solved"},
       {"skilled", 0.85, "share of the way from guessing to perfection at which a plateau is the end of the way"},
       {"gap", 0.07, "distance of validation above training, as a share of its level"},
       {"usual_gap", 0.5, "the same where answers are counted as well: losses part before answers do"},
       {"far", 0.62, "share of its start above which validation has come little of its way"},
       {"fall", 0.1, "fall of training meanwhile, as a share of its level"},
       {"follows", 0.25, "fall of validation, as a share of that of training, that shows that it still follows"},
       {"spending_rate", 0.3, "learning rate, as a share of its peak, above which the schedule still has work to do"}},
      check,
      JudgedBy::loss};
}

}  // namespace osler::catalogue
