// converged: there is nothing left to gain.
#include <algorithm>
#include <array>

#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"
#include "signal/forecast.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The model has learned what it can from this data with this capacity. The loss sits at its floor: the noise of the data,
or the limit of the model. It is the one flat line that is a success.

## How it shows
A smooth descent that follows its own power law down to a floor and stays there, on training and validation alike, with
ordinary gradients that are mostly batch noise.

## What else looks like it
A spent learning rate (the floor lies well below), a saddle point, a model that is too small (flat early, high), a
validation number that is not computed anew.

## References
- Hestness et al. 2017, Deep Learning Scaling is Predictable, Empirically.
- Bottou, Curtis, Nocedal 2018, Optimization Methods for Large-Scale Machine Learning: the noise floor of SGD.
)";

/// What the curve's own descent promised, against where it stands.
void weigh_floor(const Reading& reading, std::vector<Clue>& clues) {
  const auto forecast = signal::forecast_of(reading.curve.step, reading.smoothed);
  if (!forecast || !(reading.improvement() > 0)) return;
  const double above = (reading.end - forecast->floor_high) / reading.improvement();
  const std::string floor = "of " + number(reading.shown(forecast->floor)) + " that its own descent points to";
  if (above < 0.02) clues.push_back({0.8, reading.name + " has reached the floor " + floor});
  if (above > 0.15) clues.push_back({-1.0, reading.name + " stands well above the floor " + floor});
}

/// Convergence explains a flat end and nothing else.
void weigh_the_rest(const Verdicts& verdicts, std::vector<Clue>& clues) {
  constexpr std::array kCompatible = {std::string_view("loss-plateau"),    std::string_view("loss-stuck-after-drop"),
                                      std::string_view("reward-plateau"),  std::string_view("clipping-never"),
                                      std::string_view("step-time-cliff"), std::string_view("training-stalled")};
  const Observation* worst = nullptr;
  for (const auto& [id, verdict] : verdicts.all()) {
    const auto* seen = std::get_if<Observation>(&verdict);
    if (seen == nullptr || std::find(kCompatible.begin(), kCompatible.end(), id) != kCompatible.end()) continue;
    if (worst == nullptr || seen->severity > worst->severity) worst = seen;
  }
  if (worst == nullptr) return;
  const Finding* finding = find_finding(worst->finding);
  clues.push_back({worst->severity == Severity::note ? -1.4 : -2.2,
                   "it leaves unexplained: " + std::string(finding == nullptr ? worst->finding : finding->title)});
}

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  const Observation* flat = verdicts.found("loss-plateau");
  const Reading* training = patient.training();
  const bool validation_only = flat != nullptr && on_validation(patient, *flat);
  const Reading* judged = validation_only ? patient.validation() : training;
  if (judged != nullptr && !judged->curve.empty()) weigh_floor(*judged, found);
  if (validation_only && training_goes_on(patient, verdicts)) {
    found.push_back({-0.7, fall_in_words(*training)});
  }
  const auto schedule = rate_schedule(patient);
  if (schedule && schedule->left() > 0.3 && schedule->peak > schedule->start) {
    found.push_back({-0.3, "the learning rate is still " + per_cent(schedule->left()) +
                               " of its peak: the rest of the schedule usually lowers the loss further"});
  }
  if (schedule && schedule->spent_share > 0.3) {
    found.push_back({-1.2, "the learning rate has been below 5 % of its peak since " + at_step(schedule->spent_step) +
                               ": the optimizer may have stopped before the loss did"});
  }
  if (const auto classes = stays_at_chance(patient, 0.03)) {
    found.push_back({-1.4, "the loss is that of guessing among " + std::to_string(*classes) + " classes"});
  }
  weigh_the_rest(verdicts, found);
  if (const auto same = repeats_itself(patient, verdicts)) found.push_back({-1.8, *same + ": converged values jitter"});
  weigh_ordinary_norms(patient, verdicts, 0.3, found);
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts& verdicts) {
  if (verdicts.found("loss-stuck-from-start") != nullptr) return "nothing was learned in the first place";
  const Reading* training = patient.training();
  if (training != nullptr && training->ends_nonfinite) return "the loss is not a number any more";
  return std::nullopt;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Remedy> list;
  list.push_back(keep_best_checkpoint(patient, verdicts));
  const auto schedule = rate_schedule(patient);
  if (schedule && schedule->left() > 0.2) {
    list.push_back(change("Before stopping, decay the rate to see what is left: lr " + number(schedule->now) + " -> " +
                              number(0.1 * schedule->now) + ".",
                          "lr", number(schedule->now), number(0.1 * schedule->now)));
  }
  list.push_back(advice("To go lower, change what sets the floor: more or cleaner data, a larger model."));
  return list;
}

}  // namespace

Cause converged() {
  return {"converged",
          "Training has converged",
          kDoc,
          -1.4,
          {{"saddle-point", -3.0, 0, "a direction still leads down"},
           {"loss-plateau", 2.2, 0, "a flat line at the end is what convergence looks like"},
           {"reward-plateau", 2.2, 0, "an agent that has learned its task earns the same from then on"},
           {"reward-collapse", -2.5, 0, "the reward was higher"},
           {"loss-stuck-after-drop", 0.4, 0, "an easy task is learned quickly"},
           {"learning-rate-spent", -0.6, 0, "progress ended with the learning rate, not with the work"},
           {"overfitting", -0.8, 0, "validation is past its best"},
           {"loss-diverging", -1.5, 0, "the loss rises"}},
          "curvature",
          "Look at gradient and curvature: a small gradient with no negative eigenvalue is a minimum. Or divide the "
          "rate by ten for a short while: a converged loss hardly moves.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
