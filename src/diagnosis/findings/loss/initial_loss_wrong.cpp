// initial-loss-wrong: the first loss of a classifier is far above that of a uniform guess.
#include <algorithm>
#include <cmath>

#include "diagnosis/accuracies.h"
#include "diagnosis/configured.h"
#include "diagnosis/evidence/chance.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/evidence/solved.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
A classifier that knows nothing should give every class the same probability and start at ln(C) for C classes. This one
starts many times higher: it is sure of the wrong answers before it has seen any data.

## Signature
The very first loss is at least `factor` times ln(C), the first three are half as high, within the first `early` of the
run it has halved, and in the end it is below `back_to` times ln(C); or it has fallen to `far` of the first by then. C
is taken from the configuration; else from the first accuracies, which lie near 1/C (their lowest is used, so that C
comes out rather too large). Where those accuracies rise by more than `learned` and begin below `guessing_accuracy`, a
first loss that is ln(C) for another usual C is believed. Where not one of the first answers was right, C is taken as that
of the largest vocabularies, and the finding is a note.

## Why it matters
The first steps only shrink the last layer, with huge gradients that disturb everything before it. The loss curve looks
like a hockey stick and hides the real progress.

## When it is harmless
A loss that is a sum, or has penalties added to it, is larger all along and is not called wrong. Fine-tuned models start
below ln(C).

## References
- Karpathy 2019, A Recipe for Training Neural Networks: verify the loss at initialisation.
)";

/// The loss of a uniform guess, and in words how it is known.
struct Chance {
  double loss = 0;
  int classes = 0;
  double accuracy = 0;  // the lowest of the first accuracies, where it comes from those
  bool sure = true;     // false when the model may have learned already what the first accuracies show
  std::string from;
  bool at_most = false;  // nobody knows how many classes there are: not more than these
};

constexpr int kMostClasses = 128256;  // the tokens of the largest vocabularies in common use

std::optional<Chance> chance_of(const Patient& patient, const SettingValues& settings) {
  if (const auto told = configured_classes(patient)) {
    return Chance{std::log(*told), *told, 0, true, "the configuration"};
  }
  for (const Role role : {Role::validation_metric, Role::train_metric}) {
    for (const Cast& cast : patient.roles().in(role)) {
      if (cast.guess.measure == Measure::auc) return Chance{std::log(2), 2, 0, true, "an area under the curve"};
    }
  }
  double lowest = 1;
  double highest = 0;
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    // A first accuracy that comes later than the first losses tells what was learned until then.
    if (pair.accuracy->first_step > patient.training()->step_at(1)) continue;
    const std::vector<double>& values = pair.accuracy->curve.value;
    const auto head = static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, values.size()));
    // Values are negated: the largest is the lowest accuracy.
    const double worst =
        std::max(*std::max_element(values.begin(), values.begin() + head), first_value(patient, *pair.accuracy));
    lowest = std::min(lowest, pair.share(worst));
    highest = std::max(highest, pair.share(*std::min_element(values.begin(), values.begin() + head)));
  }
  constexpr double kBestGuess = 0.7;  // a first accuracy beyond this was not made by guessing
  if (lowest > kBestGuess) return std::nullopt;
  // Not one right answer at first: the number of classes is not known, but no vocabulary is larger than this.
  if (lowest < settings["least_accuracy"]) {
    return Chance{std::log(kMostClasses),
                  kMostClasses,
                  lowest,
                  false,
                  "the largest vocabularies: at first no answer was right",
                  true};
  }
  const int classes = std::max(2, static_cast<int>(std::lround(1 / lowest)));
  const bool sure = highest - lowest < settings["learned"];
  return Chance{std::log(classes), classes, lowest, sure, "the first accuracies, " + number(lowest)};
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* loss = patient.training();
  if (loss == nullptr || loss->size() < settings["fewest_points"]) {
    return NotChecked{"no training loss with at least " + number(settings["fewest_points"]) + " points"};
  }
  const auto& casts = patient.roles().in(Role::train_loss);
  if (std::any_of(casts.begin(), casts.end(), [](const Cast& cast) { return cast.guess.component; })) {
    return NotChecked{"the loss is a sum of several, of which not all are those of a classifier"};
  }
  const auto chance = chance_of(patient, settings);
  if (!chance) return NotChecked{"the number of classes is not known: no accuracy and no such setting in the log"};
  const double first = first_value(patient, *loss);
  const signal::Curve curve = close_up(patient, *loss);
  const std::size_t early =
      std::max<std::size_t>(2, static_cast<std::size_t>(settings["early"] * static_cast<double>(curve.size())));
  const std::size_t rest = std::max<std::size_t>(3, curve.size() / 20);
  if (early + rest > curve.size()) return NotChecked{"too few losses after the first to compare with"};
  const double settled = signal::median(std::span(curve.value).subspan(early, rest));
  const double ratio = first / chance->loss;
  // One sample may have any loss: the first few must be high together, unless each is the mean of an epoch.
  const double head = signal::median(std::span(curve.value).first(3));
  const bool alone = !averages_epochs(patient) && head < 0.5 * settings["factor"] * chance->loss;
  const bool another_chance = !chance->sure && chance->accuracy < settings["guessing_accuracy"] &&
                              chance_classes(first, settings["tolerance"]).has_value();
  const bool falls_far = std::max(settled, loss->end) < settings["far"] * first;
  const bool comes_down = falls_far || (loss->end < settings["back_to"] * chance->loss && settled < 0.5 * first);
  if (ratio < settings["factor"] || !comes_down || another_chance || alone) return NotFound{};
  // As many times the loss of guessing as there are samples in a batch: a sum over the batch.
  const auto batch = batch_size(patient);
  if (batch && ratio > settings["least_sum"] * *batch && ratio < settings["most_sum"] * *batch) return NotFound{};
  // What is gone within a few steps and ends well did no harm.
  const auto reached = skill(patient);
  bool right = false;
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    const bool summed = pair.best() > settings["mostly"] && loss->end > settings["summed"] * chance->loss;
    right = right || summed || pair.best() > settings["right"];
  }
  if (chance->at_most || right || (reached && reached->share > settings["harmless"]) || solved(patient)) {
    return NotFound{};
  }

  const std::int64_t until = std::llround(curve.step[early]);
  Observation seen =
      observe(Severity::warning, confidence_of(ratio / settings["factor"]), loss->first_step, until,
              loss->name + " starts at " + number(first) + ", " + times(ratio) + " the " + number(chance->loss) +
                  " of a uniform guess" + (chance->at_most ? " even among " : " among ") +
                  std::to_string(chance->classes) + " classes.");
  seen.qualifiers["classes"] = std::to_string(chance->classes);
  seen.evidence.push_back(evidence(loss->name, loss->first_step, until, first, settings["factor"] * chance->loss,
                                   "the first loss is " + number(first) + ", soon after it is " + number(settled) +
                                       "; the number of classes is from " + chance->from));
  return seen;
}

}  // namespace

Finding initial_loss_wrong() {
  return {
      "initial-loss-wrong",
      "The first loss is far above that of a uniform guess",
      {Need::curve, Need::probe},
      kDoc,
      {{"fewest_points", 10, "losses needed to see where it settles"},
       {"factor", 4, "first loss in units of ln(C); calibrated models stay below about 3 at any accuracy"},
       {"back_to", 2, "level in units of ln(C) below which it must end; what stays higher is a sum or a penalty"},
       {"far", 0.2, "share of the first loss: penalties do not fall that far that soon"},
       {"least_sum", 0.6, "first loss, in units of ln(C) and the batch size, from which on it is a sum over the batch"},
       {"most_sum", 2.5, "the same up to which it is one"},
       {"harmless", 0.8, "share of the way from guessing to perfection of a run that a bad start did not harm"},
       {"right", 0.9, "accuracy that shows the same whatever the number of classes"},
       {"summed", 3, "last loss, in units of ln(C), that with most answers right can only be a sum"},
       {"mostly", 0.6, "accuracy at which most answers are right"},
       {"early", 0.12, "part of the run within which it must halve: what falls slowly may be a penalty"},
       {"tolerance", 0.03,
        "relative distance within which the first loss is that of chance for another number of classes"},
       {"guessing_accuracy", 0.15, "first accuracy above which nobody guesses among another number of classes"},
       {"learned", 0.05, "rise over the first three accuracies that shows that something was learned already"},
       {"least_accuracy", 0.0005, "first accuracy below which it tells nothing of the number of classes"}},
      check,
      JudgedBy::loss};
}

}  // namespace osler::catalogue
