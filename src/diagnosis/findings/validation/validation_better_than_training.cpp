// validation-better-than-training: the validation loss lies below the training loss all along.
#include <algorithm>
#include <cmath>

#include "diagnosis/accuracies.h"
#include "diagnosis/evidence/chance.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The model seems to do better on data it has not seen than on the data it learns from, throughout.

## Signature
In at least `steady` of the evaluations the validation loss lies below the training loss of the epoch *after* it (a
training loss is a mean over an epoch and lags by half of it), in the median by `gap` of the training level and by
more than the noise explains. It is a warning where training itself came nowhere: more than `left` of its first loss, or
of the loss of guessing where it began above that, is left while validation fell, ends at `below` of it or less, and no figure of merit is good. Or where `answers_apart` more
answers are right on validation data although its loss is no lower than `losses_alike` of that of training.

## Why it matters
Mostly it has a good reason. It may also tell that the validation set is easier, overlaps the training set, or is
scored differently; then the validation figures promise too much.

## When it is harmless
Dropout, augmentation, mixing of samples, label smoothing and penalties act in training only and raise its loss. As long
as training gets somewhere this is therefore only a note.

## References
- Srivastava et al. 2014, Dropout: A Simple Way to Prevent Neural Networks from Overfitting.
)";

struct Comparison {
  std::vector<double> gaps;    // training minus validation, in training levels
  std::vector<double> ratios;  // validation over training
};

/// Each evaluation against the training loss between it and the next one.
Comparison compare(const Reading& training, const Reading& validation) {
  Comparison comparison;
  const double lowest = *std::min_element(training.curve.value.begin(), training.curve.value.end());
  const double range = std::max(training.top - training.best, 1e-300);
  for (std::size_t i = 0; i + 1 < validation.size(); ++i) {
    const double from = validation.curve.step[i];
    const double to = validation.curve.step[i + 1];
    const auto& step = training.curve.step;
    const auto first = std::upper_bound(step.begin(), step.end(), from) - step.begin();
    const auto last = std::upper_bound(step.begin(), step.end(), to) - step.begin();
    if (first >= last) continue;
    const auto values = std::span(training.curve.value)
                            .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
    const double level = signal::median(values);
    comparison.gaps.push_back((level - validation.curve.value[i]) / (lowest > 0 ? level : range));
    if (lowest > 0) comparison.ratios.push_back(validation.curve.value[i] / level);
  }
  return comparison;
}

/// What is right of both splits, late in the run; nothing where the log does not have the accuracies of both, or where
/// validation is right from the first evaluation on: then pairs are told apart, no classes.
struct LateAnswers {
  LossAndAccuracy training;
  LossAndAccuracy validation;
  double taught = 0;
  double known = 0;
};
std::optional<LateAnswers> late_answers(const Patient& patient, const SettingValues& settings) {
  std::optional<LossAndAccuracy> training;
  std::optional<LossAndAccuracy> validation;
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    (pair.split == "training" ? training : validation) = pair;
  }
  if (!training || !validation || training->accuracy->size() < settings["fewest_points"] ||
      validation->accuracy->size() < settings["fewest_points"] ||
      validation->share(validation->accuracy->start) > settings["at_once"]) {
    return std::nullopt;
  }
  const auto later = [](const LossAndAccuracy& pair) {
    return pair.share(signal::median(std::span(pair.accuracy->curve.value).subspan(pair.accuracy->size() / 2)));
  };
  return LateAnswers{*training, *validation, later(*training), later(*validation)};
}

/// Training hardly came off its first loss while validation fell far below it: what training is asked for cannot be
/// learned, be it wrong labels, labels smoothed away or units dropped.
std::optional<Observation> held_back(const Patient& patient, const Reading& training, const Reading& validation,
                                     const SettingValues& settings) {
  const auto reached = skill(patient);
  double left = training.start > 0 ? training.end / training.start : 0;
  // Outputs that are far too large at first, as under strong dropout, cost more than a guess: coming down to one is no
  // progress, so the loss of guessing counts as the start.
  const auto classes = class_count(patient);
  const bool from_above = classes && training.start > std::log(*classes);
  if (from_above) {
    const double of_guess = training.end / std::log(*classes);
    if (of_guess <= settings["climbed"]) left = std::max(left, std::min(of_guess, 1.0));
  }
  // A sum over batches beside a mean over samples: the two have different scales from the first row on.
  const double usual_start = from_above ? std::log(*classes) : training.start;
  if (validation.start < settings["same_scale"] * usual_start) return std::nullopt;
  if (training.negated || training.size() < settings["fewest_losses"] || left < settings["left"] || left > 1 ||
      (!from_above && training.top > settings["climbed"] * training.start) ||
      validation.end > settings["below"] * training.end || validation.end < 0) {
    return std::nullopt;
  }
  // Answers as right as those of validation at a loss that stands near that of its start: nothing explains that but
  // what training is asked. Where answers do not tell, validation must show what could be had.
  const auto late = late_answers(patient, settings);
  const bool knows = late && late->taught > late->known - settings["as_right"];
  const bool shows = validation.end < settings["fell"] * validation.start;
  if (!knows && (!shows || (reached && reached->share > settings["skilled"]))) return std::nullopt;
  Observation seen =
      observe(Severity::warning, confidence_of(left / settings["left"] + 0.5), training.first_step, training.last_step,
              training.name + " came only from " + number(training.start) + " to " + number(training.end) + " while " +
                  validation.name + " fell to " + number(validation.end) +
                  ": something holds training back that validation lacks.");
  seen.qualifiers["training"] = "held back";
  if (knows) seen.qualifiers["answers"] = "alike";
  seen.evidence.push_back(evidence(training.name, training.first_step, training.last_step, left, settings["left"],
                                   per_cent(left) + " of the first loss is left"));
  seen.evidence.push_back(evidence(validation.name, validation.first_step, validation.last_step,
                                   validation.end / training.end, settings["below"],
                                   "validation ends at " + per_cent(validation.end / training.end) + " of it"));
  return seen;
}

/// Far more answers are right on validation data than on training data, and yet the losses are alike: what training is
/// asked is half unanswerable, and the model has learned to be unsure. Units dropped and samples altered raise the
/// training loss by as much as they take from its answers.
std::optional<Observation> unsure_of_what_it_knows(const Patient& patient, const SettingValues& settings) {
  const auto late = late_answers(patient, settings);
  if (!late || late->training.loss->negated || !(late->training.loss->end > 0)) return std::nullopt;
  const auto& [training, validation, taught, known] = *late;
  const double alike = validation.loss->end / training.loss->end;
  if (known - taught < settings["answers_apart"] || alike < settings["losses_alike"] || alike > 1 ||
      training.loss->end < settings["left_unsure"] * training.loss->start) {
    return std::nullopt;
  }
  Observation seen = observe(Severity::warning, confidence_of((known - taught) / settings["answers_apart"] + 0.5),
                             training.loss->first_step, training.loss->last_step,
                             validation.accuracy->name + " is " + per_cent(known) + ", " + training.accuracy->name +
                                 " only " + per_cent(taught) +
                                 ", though the losses are alike: something holds training back that validation lacks.");
  seen.qualifiers["training"] = "held back";
  seen.qualifiers["answers"] = "apart";
  seen.evidence.push_back(evidence(validation.loss->name, validation.loss->first_step, validation.loss->last_step,
                                   alike, settings["losses_alike"],
                                   "it ends at " + per_cent(alike) + " of " + training.loss->name));
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  if (training == nullptr || validation == nullptr || training->curve.empty())
    return NotChecked{"it takes a training and a validation loss"};
  const Comparison comparison = compare(*training, *validation);
  const auto n = static_cast<double>(comparison.gaps.size());
  if (n < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " evaluations beside training losses"};
  }
  if (auto seen = held_back(patient, *training, *validation, settings)) return std::move(*seen);
  if (auto seen = unsure_of_what_it_knows(patient, settings)) return std::move(*seen);
  const auto below = static_cast<double>(
      std::count_if(comparison.gaps.begin(), comparison.gaps.end(), [](double gap) { return gap > 0; }));
  const double gap = signal::median(comparison.gaps);
  const double error = signal::mad_scale(comparison.gaps) / std::sqrt(n);
  if (below < settings["steady"] * n || gap < settings["gap"] || gap < settings["standard_errors"] * error) {
    return NotFound{};
  }
  Observation seen =
      observe(Severity::note, confidence_of(gap / settings["gap"]), validation->first_step, validation->last_step,
              validation->name + " lies below " + training->name + " all along, by " + per_cent(gap) +
                  (comparison.ratios.empty() ? " of what training gained." : " of its level."));
  if (!comparison.ratios.empty()) seen.qualifiers["ratio"] = number(signal::median(comparison.ratios));
  seen.evidence.push_back(evidence(validation->name, validation->first_step, validation->last_step, gap,
                                   settings["gap"],
                                   "below the training loss in " + number(below) + " of " + number(n) +
                                       " evaluations, the median gap is " + per_cent(gap)));
  return seen;
}

}  // namespace

Finding validation_better_than_training() {
  return {
      "validation-better-than-training",
      "Validation lies below training all along",
      {Need::curve},
      kDoc,
      {{"fewest_points", 6, "evaluations needed to call it lasting"},
       {"steady", 0.9, "share of the evaluations that must lie below"},
       {"gap", 0.9,
        "median distance, as a share of the training level, that dropout, augmentation and running means do not "
        "explain; one healthy run in twenty of the population has 0.83"},
       {"standard_errors", 3, "standard errors by which the distance must exceed zero"},
       {"fewest_losses", 8, "training losses needed to see that it comes nowhere"},
       {"left", 0.83, "share of the first training loss that is left where training is held back"},
       {"below", 0.9, "validation loss, as a share of the training loss, that shows what could be had"},
       {"answers_apart", 0.2, "share of right answers that validation has before training, of one that is unsure"},
       {"losses_alike", 0.65,
        "validation loss, as a share of the training loss, of one that is unsure; under dropout and augmentation it "
        "lies below 0.45 at such a distance (population)"},
       {"left_unsure", 0.5, "share of its first loss that such a training keeps"},
       {"at_once", 0.9, "first accuracy of a task that needs no training to be solved"},
       {"as_right", 0.05, "share of right answers by which training may lie below validation and know as much"},
       {"fell", 0.92, "share of its first value to which validation has come down meanwhile"},
       {"same_scale", 0.4, "first validation loss, as a share of the first training loss, of losses that are alike"},
       {"climbed", 1.3, "times its start above which a training loss has been elsewhere"},
       {"skilled", 0.85, "share of the way from guessing to perfection of a model that is not held back"}},
      check,
      JudgedBy::loss};
}

}  // namespace osler::catalogue
