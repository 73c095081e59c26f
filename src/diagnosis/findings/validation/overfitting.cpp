// overfitting: validation turns up while training still falls.
#include <algorithm>
#include <cmath>

#include "diagnosis/accuracies.h"
#include "diagnosis/evidence/loss_bounds.h"
#include "diagnosis/facts.h"
#include "diagnosis/movement.h"
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
(`rise_share` of what validation had gained or, of a language model, `level_enough` of its level, and `level_share` of its level), while the training loss falls on or is
far below validation. Without a validation loss, an accuracy or metric that peaks and declines is judged the same way.
An accuracy that has rested for `rest_share` of the run, while training came to be `surer` of its own answers, is the
same where no validation loss is logged. In a log without any loss, training that is solved beside validation that rests `answers_gap` below it is the same,
and so is training above `nearly_solved` with validation as far below it in every one of `few_answers` evaluations.

## Why it matters
Every step after the valley makes the model worse at its job. The best checkpoint lies at the valley.

## When it is harmless
A validation loss that rises while the validation metric still improves is growing confidence, not overfitting, and is
reported as such. A rise within the noise, or of a per cent or two, costs nothing. Where nearly all answers are right, a
few sure errors make the loss of one evaluation: over fewer than `handful` of them a rise is a note.

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
    // One that sank first and comes back has not got better.
    return quality.size() >= 5 && quality.end < quality.smoothed[quality.index_at(step)] &&
           motion_after(quality, step) == Motion::improved;
  });
}

/// The answers on validation data end well by every figure that counts them.
bool answers_well(const Patient& patient, double least) {
  const auto& qualities = patient.validation_quality();
  return !qualities.empty() && std::all_of(qualities.begin(), qualities.end(), [&](const Reading& quality) {
    const double unit = std::abs(quality.best) > 1.5 ? 100 : 1;
    return quality.negated && -quality.end / unit >= least && quality.top <= 0;
  });
}

/// The best evaluation as the log has it, where each point is one: in the valley of the smoothed curve, or beside it.
std::size_t best_evaluation(const Reading& reading, const Turn& turn) {
  const bool single = reading.curve.points() <= static_cast<double>(reading.size());
  if (!single) return turn.valley.bottom;
  const auto& values = reading.curve.value;
  return static_cast<std::size_t>(std::min_element(values.begin(), values.end()) - values.begin());
}

/// The best evaluation is among the newest: what swings has not turned.
bool best_of_late(const Reading& reading, double share) {
  const auto& values = reading.curve.low;
  const auto best = std::min_element(values.begin(), values.end()) - values.begin();
  return static_cast<double>(best) >= (1 - share) * static_cast<double>(values.size());
}

Observation describe(const Patient& patient, const Reading& reading, const Turn& turn, bool trained,
                     const SettingValues& settings) {
  const std::int64_t since = reading.step_at(turn.valley.bottom);
  const double margin = std::min(turn.units / settings["noise_units"], turn.share / settings["rise_share"]);
  // As long as most answers are right the model is of use, and the checkpoint of the valley more so.
  const bool lost = turn.share > settings["critical_share"] && !answers_well(patient, settings["answers"]);
  const std::size_t best = best_evaluation(reading, turn);
  const Severity severity = lost ? Severity::critical : Severity::warning;
  Observation seen =
      observe(severity, confidence_of(margin), since, reading.last_step,
              reading.name + (reading.negated ? " peaked at " : " was best at ") + at_step(reading.step_at(best)) +
                  " (" + number(reading.shown(reading.curve.value[best])) + ") and has got worse since (" +
                  number(reading.shown(turn.valley.end)) + ")" +
                  (trained ? ", while training went on improving." : "; training is not in the log."));
  seen.qualifiers["best_step"] = std::to_string(reading.step_at(best));
  seen.evidence.push_back(evidence(reading.name, since, reading.last_step, reading.shown(turn.valley.end),
                                   reading.shown(turn.valley.floor),
                                   (turn.share > 1 ? "gave back more than it ever gained, "
                                                   : "gave back " + per_cent(turn.share) + " of its gain, ") +
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

/// Training is solved and validation is as good as guessing, from the first evaluation to the last: learned by heart.
std::optional<Observation> learned_by_heart(const Patient& patient, const SettingValues& settings) {
  const Reading* hits = nullptr;
  double unit = 1;
  double solved = 0;
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    if (pair.split == "training") solved = pair.share(pair.accuracy->end);
    if (pair.split == "validation") hits = pair.accuracy;
    if (pair.split == "validation") unit = pair.unit;
  }
  if (hits == nullptr || hits->size() < settings["fewest_evaluations"] || solved < settings["solved"]) return {};
  const double best = hits->shown(hits->best) / unit;
  if (best > settings["carries_over"]) return {};
  Observation seen = observe(Severity::critical, confidence_of(4), hits->first_step, hits->last_step,
                             "Training is right in " + per_cent(solved) + " of the cases, validation in " +
                                 per_cent(best) + " at best: the training set is learned by heart.");
  seen.evidence.push_back(evidence(hits->name, hits->first_step, hits->last_step, best, settings["carries_over"],
                                   "the best of " + number(hits->curve.points()) + " evaluations"));
  seen.qualifiers["carried"] = "nothing";
  return seen;
}

/// Training is nearly solved, and the answers on validation data are nowhere near it, in any evaluation.
std::optional<Observation> answers_far_apart(const Patient& patient, const SettingValues& settings) {
  if (patient.roles().in(Role::train_accuracy).empty() || patient.roles().in(Role::validation_accuracy).empty() ||
      patient.training_quality().empty() || patient.validation_quality().empty()) {
    return {};
  }
  const Reading* training = &patient.training_quality().front();
  const Reading* validation = &patient.validation_quality().front();
  const double unit = std::abs(training->best) > 1.5 ? 100 : 1;
  const double trained = training->shown(training->end) / unit;
  const double carried = validation->shown(validation->best) / unit;
  if (training->size() < settings["fewest_points"] || validation->size() < settings["few_answers"] ||
      trained < settings["nearly_solved"] || trained - carried < settings["answers_gap"]) {
    return {};
  }
  const auto best = static_cast<std::size_t>(validation->best_at);
  Observation seen = observe(
      Severity::warning, confidence_of((trained - carried) / settings["answers_gap"] + 0.5), validation->step_at(best),
      validation->last_step,
      "Training is right in " + per_cent(trained) + " of the cases, validation in " + per_cent(carried) + " at best.");
  seen.qualifiers["best_step"] = std::to_string(validation->step_at(best));
  seen.evidence.push_back(evidence(validation->name, validation->first_step, validation->last_step, trained - carried,
                                   settings["answers_gap"],
                                   per_cent(trained - carried) + " of the answers are right on training data only"));
  return seen;
}

/// No loss in the log: training is solved, and the answers on validation data rest far below it.
std::optional<Observation> answers_part(const Patient& patient, const SettingValues& settings) {
  if (!patient.by_quality() || patient.reinforcement() || patient.roles().in(Role::train_accuracy).empty() ||
      patient.roles().in(Role::validation_accuracy).empty() || patient.training_quality().empty() ||
      patient.validation_quality().empty()) {
    return {};
  }
  const Reading& trained = patient.training_quality().front();
  const Reading& carried = patient.validation_quality().front();
  const std::size_t n = carried.size();
  if (n < settings["fewest_evaluations"] || trained.size() < settings["fewest_evaluations"]) return {};
  const double unit = std::abs(trained.best) > 1.5 ? 100 : 1;
  const double gap = (carried.best - trained.end) / unit;  // both are negated
  const bool rests = carried.smoothed[n / 2] - carried.end < settings["answers_rest"] * unit;
  if (-trained.end < settings["solved"] * unit || gap < settings["answers_gap"] || !rests) return {};
  Observation seen = observe(Severity::warning, confidence_of(gap / settings["answers_gap"]), carried.step_at(n / 2),
                             carried.last_step,
                             trained.name + " has come to " + number(trained.shown(trained.end)) + ", " + carried.name +
                                 " rests at " + number(carried.shown(carried.end)) + ".");
  seen.qualifiers["best_step"] = std::to_string(carried.step_at(carried.best_at));
  seen.evidence.push_back(evidence(carried.name, carried.first_step, carried.last_step, gap, settings["answers_gap"],
                                   per_cent(gap) + " of the answers are right on training data only"));
  return seen;
}

/// Training halved its loss or more, and validation hardly ever got below its first value.
std::optional<Observation> carries_nothing_over(const Patient& patient, const SettingValues& settings) {
  const Reading* training = patient.training();
  const Reading* loss = patient.validation();
  if (training == nullptr || loss == nullptr || loss->size() < settings["fewest_points"] || training->negated ||
      loss->negated || !(training->start > 0) || !(loss->start > 0)) {
    return std::nullopt;
  }
  const double learned = training->end / training->start;
  // The first evaluation may come after most of the learning: what training began with is the start of both.
  const double begin = std::max(loss->start, training->start);
  const double carried = loss->best / begin;
  const double apart = training->end > 0 ? loss->end / training->end : settings["apart"];
  const bool nothing = learned < settings["halved"] && carried > settings["nothing"];
  const bool little = carried > settings["little"] && apart >= settings["apart"] && learned < settings["halved"];
  const double gain = training->start - training->end;
  const bool followed = loss->end - training->end < settings["unfollowed"] * gain;
  const bool far = learned < settings["gained"] && !followed && loss->end > settings["above"] * training->end;
  // Worse than the training loss of an untrained model, or as bad while training knows its samples: no metric makes
  // that right.
  const double limit = settings[learned < settings["by_heart"] ? "as_untrained" : "absurd"];
  const bool absurd = far && loss->end > limit * training->start;
  // Where most answers are right, what is learned does carry over, whatever a loss that began low already says.
  if (answers_well(patient, settings["answers"])) return std::nullopt;
  if ((!nothing && !little && !far) || (!absurd && metric_improves(patient, loss->curve.step.front())))
    return std::nullopt;
  Observation seen =
      observe(Severity::warning, confidence_of(2), loss->step_at(loss->best_at), loss->last_step,
              training->name + " fell from " + number(training->start) + " to " + number(training->end) + ", but " +
                  loss->name +
                  (loss->end < learned * loss->start ? " lies far above it from the first evaluation on: "
                                                     : " hardly followed: ") +
                  number(loss->shown(loss->opening)) + " at first, " + number(loss->best) + " at best, " +
                  number(loss->end) + " now.");
  seen.qualifiers["best_step"] = std::to_string(loss->step_at(loss->best_at));
  seen.qualifiers["carried"] = "nothing";
  seen.evidence.push_back(evidence(loss->name, loss->first_step, loss->last_step, carried, settings["nothing"],
                                   "its best is " + per_cent(carried) + " of the first loss"));
  return seen;
}

/// Validation came to rest early, and training has pulled away from it ever since.
std::optional<Observation> pulls_away(const Patient& patient, const SettingValues& settings) {
  const Reading* training = patient.training();
  const Reading* loss = patient.validation();
  if (training == nullptr || loss == nullptr || training->negated || loss->negated ||
      training->size() < settings["fewest_evaluations"] || loss->size() < settings["fewest_evaluations"] ||
      training->best < 0 || loss->best < 0) {
    return std::nullopt;  // densities have no floor, and any distance between them is little
  }
  const double gain = std::max(training->start, training->opening) - training->end;
  const double near = loss->best + std::max(settings["rest"] * (loss->top - loss->best), loss->noise.sigma);
  const auto rests =
      std::find_if(loss->smoothed.begin(), loss->smoothed.end(), [&](double level) { return level <= near; });
  const auto at = static_cast<std::size_t>(rests - loss->smoothed.begin());
  const double since = loss->curve.step[at];
  const double length = loss->curve.step.back() - loss->curve.step.front();
  const Movement later = movement_of(*training, training->index_at(since), training->size());
  const double gap = loss->end - training->end;
  const double before = loss->smoothed[at] - training->smoothed[training->index_at(since)];
  if (!(gain > 0) || loss->curve.step.back() - since < settings["rest_share"] * length ||
      gap < settings["gap_share"] * gain || gap < settings["gap_level"] * std::abs(loss->end) ||
      gap - before < settings["widened"] * gain || !later.falls(settings["p_value"], settings["widened"] * gain) ||
      metric_improves(patient, since) || answers_well(patient, settings["all_right"])) {
    return std::nullopt;
  }
  const std::int64_t step = loss->step_at(at);
  Observation seen =
      observe(Severity::warning, confidence_of(gap / (settings["gap_share"] * gain) + 0.5), step, loss->last_step,
              loss->name + " has stood at about " + number(loss->end) + " since " + at_step(step) + ", while " +
                  training->name + " fell on to " + number(training->end) + ".");
  seen.qualifiers["best_step"] = std::to_string(loss->step_at(loss->best_at));
  seen.evidence.push_back(
      evidence(loss->name, step, loss->last_step, gap, settings["gap_share"] * gain,
               "the losses are " + number(gap) + " apart, " + per_cent(gap / gain) + " of what training gained"));
  return seen;
}

/// The accuracy of other data than those of training: the log says so, or the loss of training bounds what its own
/// would be.
const Reading* answers_elsewhere(const Patient& patient) {
  if (!patient.roles().in(Role::validation_accuracy).empty() && !patient.validation_quality().empty()) {
    return &patient.validation_quality().front();
  }
  const bool own = patient.roles().in(Role::train_accuracy).empty() || patient.training_quality().empty();
  return own || !accuracy_too_low_for_loss(patient) ? nullptr : &patient.training_quality().front();
}

/// No validation loss: the answers have stood since the first half of the run, and training has gone on to give its own
/// samples far more probability than validation has right answers.
std::optional<Observation> answers_stand(const Patient& patient, const SettingValues& settings) {
  const Reading* training = patient.training();
  const Reading* answers = answers_elsewhere(patient);
  if (training == nullptr || answers == nullptr || patient.validation() != nullptr || patient.by_quality() ||
      training->negated || !(training->best > 0) || answers->size() < settings["fewest_evaluations"]) {
    return std::nullopt;
  }
  const double unit = std::abs(answers->best) > 1.5 ? 100 : 1;
  const double near = answers->best + std::max(settings["answers_rest"] * unit, answers->noise.sigma);
  const auto rests =
      std::find_if(answers->smoothed.begin(), answers->smoothed.end(), [&](double level) { return level <= near; });
  const auto at = static_cast<std::size_t>(rests - answers->smoothed.begin());
  const double since = answers->curve.step[at];
  const double length = answers->curve.step.back() - answers->curve.step.front();
  const double then = training->smoothed[training->index_at(since)];
  const double sure = std::exp(-training->end);  // the mean probability of right answers is at least that
  const double right = answers->shown(answers->end) / unit;
  if (answers->curve.step.back() - since < settings["rest_share"] * length ||
      training->end > settings["fell_on"] * then || training->end > settings["halved"] * training->start ||
      sure - right < settings["surer"]) {
    return std::nullopt;
  }
  const std::int64_t step = answers->step_at(at);
  Observation seen = observe(
      Severity::warning, confidence_of((sure - right) / settings["surer"]), step, answers->last_step,
      answers->name + " has stood at about " + number(answers->shown(answers->end)) + " since " + at_step(step) +
          ", while " + training->name + " fell from " + number(then) + " to " + number(training->end) + ".");
  seen.qualifiers["best_step"] = std::to_string(answers->step_at(answers->best_at));
  seen.evidence.push_back(evidence(answers->name, step, answers->last_step, right, sure,
                                   "training gives its own right answers a probability of " + per_cent(sure)));
  return seen;
}

/// The first evaluation was the best by far, by the loss and by the metric: what was known at first is lost.
std::optional<Observation> worse_ever_since(const Patient& patient, const SettingValues& settings) {
  const Reading* loss = patient.validation();
  if (loss == nullptr || loss->negated || patient.validation_quality().empty()) return std::nullopt;
  const Reading& metric = patient.validation_quality().front();
  const auto lost = [&](const Reading& reading) {
    if (reading.size() <= settings["fewest_points"] || reading.curve.points() > static_cast<double>(reading.size())) {
      return false;
    }
    const auto later = std::span(reading.curve.value).subspan(1);
    const double first = reading.curve.value.front();
    return *std::min_element(later.begin(), later.end()) - first > settings["ever_worse"] * std::abs(first);
  };
  if (!lost(*loss) || !lost(metric)) return std::nullopt;
  Observation seen = observe(Severity::warning, confidence_of(2), loss->first_step, loss->last_step,
                             loss->name + " and " + metric.name + " were best at the first evaluation, " +
                                 number(loss->opening) + " and " + number(metric.shown(metric.opening)) +
                                 ", and every later one is far worse: " + number(loss->end) + " and " +
                                 number(metric.shown(metric.end)) + " now.");
  seen.qualifiers["best_step"] = std::to_string(loss->first_step);
  for (const Reading* reading : {loss, &metric}) {
    seen.evidence.push_back(evidence(reading->name, reading->first_step, reading->last_step,
                                     reading->shown(reading->end), reading->shown(reading->opening),
                                     "never as good again as at first"));
  }
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto enough = [&](const Reading& reading) { return reading.size() >= settings["fewest_points"]; };
  if (auto seen = learned_by_heart(patient, settings)) return std::move(*seen);
  if (auto seen = answers_part(patient, settings)) return std::move(*seen);
  const Reading* loss = patient.validation();
  bool checked = false;
  if (loss != nullptr && enough(*loss)) {
    checked = true;
    TurnLimits limits = limits_for_loss(settings);
    // Most of what a language model gains it gains at once, and a few hundredths of a nat more matter all the same.
    if (patient.domain().domain == Domain::language_model) limits.level_enough = settings["level_enough"];
    const Turn turn = turn_of(*loss, limits, comparable_start(patient));
    const double bottom = loss->curve.step[turn.valley.bottom];
    // Where training is not in the log, only a rise that gives much of the gain back speaks for itself.
    const bool alone = patient.training() == nullptr && patient.training_quality().empty();
    const bool apart = alone ? turn.share > settings["alone_share"] && loss->size() >= settings["alone_points"]
                             : training_improves_after(patient, bottom, *loss);
    const bool turned = turn.real && !best_of_late(*loss, settings["newest"]);
    if (turned && apart && !metric_improves(patient, bottom)) {
      Observation seen = describe(patient, *loss, turn, !alone, settings);
      // What is still predicted better than the training data has not been memorised instead.
      const Reading* fitted = patient.training();
      const bool below = fitted != nullptr && loss->end < settings["well_below"] * fitted->end;
      // Of a model that is nearly always right a few sure errors make the loss: a handful of evaluations is no trend.
      const bool handful = loss->size() < settings["handful"] && answers_well(patient, settings["all_right"]);
      if (below || handful || only_grows_surer(patient, *loss, turn)) seen.severity = Severity::note;
      if (const Reading* training = patient.training()) {
        seen.evidence.push_back(evidence(training->name, seen.first_step, training->last_step, training->end,
                                         training->smoothed[training->index_at(bottom)],
                                         "training went from " +
                                             number(training->smoothed[training->index_at(bottom)]) + " to " +
                                             number(training->end) + " meanwhile"));
      }
      return seen;
    }
  }
  for (const Reading& quality : patient.validation_quality()) {
    if (!enough(quality)) continue;
    checked = true;
    if (never_learned(patient)) break;
    const Turn turn = turn_of(quality, limits_for_metric(settings), std::nan(""));
    const double bottom = quality.curve.step[turn.valley.bottom];
    const auto& trained = patient.training_quality();
    const bool trained_on = std::any_of(trained.begin(), trained.end(), [&](const Reading& reading) {
      return reading.size() >= 5 && motion_after(reading, bottom) == Motion::improved;
    });
    // A metric that falls while the validation loss gets better contradicts it: that is another finding.
    const bool loss_improves =
        !trained_on && loss != nullptr && enough(*loss) && motion_after(*loss, bottom) == Motion::improved;
    const bool loss_agrees =
        !loss_improves && (loss == nullptr || !enough(*loss) || loss->best_at + 2 < loss->size() || trained_on);
    if (turn.real && loss_agrees && training_improves_after(patient, bottom, quality)) {
      return describe(patient, quality, turn, true, settings);
    }
    break;  // only the leading metric is judged: of a dozen one always wobbles
  }
  if (auto seen = worse_ever_since(patient, settings)) return std::move(*seen);
  if (auto seen = carries_nothing_over(patient, settings)) return std::move(*seen);
  if (auto seen = pulls_away(patient, settings)) return std::move(*seen);
  if (auto seen = answers_stand(patient, settings)) return std::move(*seen);
  if (auto seen = answers_far_apart(patient, settings)) return std::move(*seen);
  if (!checked)
    return NotChecked{"no validation series with at least " + number(settings["fewest_points"]) + " points"};
  return NotFound{};
}

}  // namespace

Finding overfitting() {
  return {
      "overfitting",
      "Validation gets worse while training still improves",
      {Need::curve},
      kDoc,
      {{"fewest_points", 4, "evaluations needed to see a rise at every one of them"},
       {"noise_units", 2.5, "noise levels the rise must exceed"},
       {"rise_share", 0.06, "share of validation's gain that must be lost for it to matter"},
       {"level_share", 0.01, "share of validation's level that the rise must exceed"},
       {"level_enough", 0.03, "share of a language model's validation level that matters however much had been gained"},
       {"least_gain", 0.02, "gain assumed when validation never fell, as a share of its level"},
       {"p_value", 0.02, "significance of the rise after the valley"},
       {"newest", 0.1, "last part of the evaluations in which the best one means that nothing has turned"},
       {"ever_worse", 0.2, "share by which every later evaluation is worse than the first, in loss and metric"},
       {"alone_share", 0.5, "share of the gain whose loss is enough where training is not in the log"},
       {"alone_points", 12, "evaluations needed in that case"},
       {"halved", 0.5, "share of its first loss to which training must have come down"},
       {"nothing", 0.85,
        "share of its first value that validation keeps; of healthy runs that halve their training loss 98 in 100 "
        "come below 0.82 (population)"},
       {"little", 0.65, "the same where the losses are far apart as well"},
       {"apart", 6, "validation loss in units of the training loss"},
       {"gained", 0.85, "share of its first loss below which training has got somewhere"},
       {"unfollowed", 0.9, "distance of the losses, in gains of training, at which validation has not followed"},
       {"above", 2, "validation loss in units of the training loss that is far above it"},
       {"absurd", 1.25, "validation loss in units of the first training loss that no metric excuses"},
       {"by_heart", 0.3, "share of its first loss below which training knows its samples"},
       {"as_untrained", 0.9, "the same limit then; of healthy runs with poor answers all stay below 0.75 (population)"},
       {"well_below", 0.8, "validation loss in units of the training loss at which nothing is memorised instead"},
       {"answers", 0.75, "accuracy on validation data at which most of what was learned carries over"},
       {"handful", 10, "evaluations below which a rise is a note where the answers are nearly all right"},
       {"all_right", 0.95, "the same where a distance between the losses costs nothing any more"},
       {"rest", 0.1, "share of validation's range within which of its best it has come to rest"},
       {"rest_share", 0.5, "part of the run that it must have rested"},
       {"gap_share", 0.6, "final distance of the losses, as a share of what training gained"},
       {"gap_level", 0.3, "the same as a share of the validation loss; less costs little"},
       {"widened", 0.1, "share of that gain which training made, and by which the losses parted, since then"},
       {"fell_on", 0.4, "share of its loss then that training has left, where only an accuracy tells of validation"},
       {"surer", 0.15, "probability of right answers in training, less the share of them in validation, that it takes"},
       {"solved", 0.95, "training accuracy of a set that is solved"},
       {"carries_over", 0.1, "validation accuracy below which nothing of that carries over"},
       {"answers_gap", 0.4, "answers right on training data only that no curve has to bear out"},
       {"nearly_solved", 0.9, "training accuracy from which on they count"},
       {"few_answers", 3, "evaluations needed for that"},
       {"answers_rest", 0.03, "answers that validation may still gain in the second half of such a run"},
       {"fewest_evaluations", 8, "evaluations after which it should have"},
       {"critical_share", 1, "share of the gain whose loss is critical, unless most answers are right all the same"},
       {"metric_level_share", 0.05, "share of a metric's level that its decline must exceed"},
       {"metric_strictness", 1.4, "factor by which a metric alone must exceed the limits on noise and gain"}},
      check,
      JudgedBy::loss};
}

}  // namespace osler::catalogue
