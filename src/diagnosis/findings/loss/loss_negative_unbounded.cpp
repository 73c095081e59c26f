// loss-negative-unbounded: the loss falls below zero and nothing holds it.
#include <algorithm>
#include <cmath>

#include "diagnosis/accuracies.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
A loss that measures errors cannot be less than zero. This one is, and falls faster and faster: what is minimised has no
floor.

## Signature
The loss ends below zero at `beyond` times its first size, and each third of the run falls by `faster` times what the one
before it fell. Or it is below zero from its first value on, ends at `grown` times that size, falls in its last third
by at least `steady` times what it fell in the first, and no figure of merit improves.

## Why it matters
Every step makes the number better and the model worse. Labels outside of the range that the loss expects (1 and 2 in
place of 0 and 1), logits where probabilities are expected, or a wrong sign take the floor away.

## When it is harmless
Log-densities, ELBOs of continuous data and Wasserstein critics may be negative. They approach a level, or are not judged
by this.

## References
- Goodfellow, Bengio, Courville 2016, Deep Learning, section 6.2.
)";

/// Some figure of merit got clearly better: what is minimised is what is meant.
bool quality_improves(const Patient& patient, double least) {
  for (const std::vector<Reading>* readings : {&patient.validation_quality(), &patient.training_quality()}) {
    for (const Reading& reading : *readings) {
      const double unit = std::abs(reading.best) > 1.5 ? 100 : 1;
      if (reading.size() >= 3 && reading.start - reading.end > least * unit) return true;
    }
  }
  return false;
}

Verdict check_loss(const Patient& patient, const Reading* loss, const SettingValues& settings) {
  const std::size_t n = loss->size();
  if (n < settings["fewest_points"]) return NotChecked{"fewer than " + number(settings["fewest_points"]) + " points"};
  const std::size_t third = n / 3;
  const double first = std::max(std::abs(loss->curve.value.front()), std::abs(loss->start));
  if (loss->negated || !(loss->end < 0)) return NotFound{};
  // A loss beside which answers are counted is an error, whose floor is zero.
  const bool counts_answers = !losses_with_accuracy(patient).empty();
  const auto fall = [&](std::size_t from) {
    return loss->smoothed[from] - loss->smoothed[std::min(from + third, n - 1)];
  };
  const double faster = settings["faster"];
  const bool accelerates = -loss->end > settings["beyond"] * first && fall(0) > 0 && fall(third) > faster * fall(0) &&
                           fall(2 * third) > faster * fall(third);
  // Likelihoods and ratios in decibels come from above zero and slow down; an error with its sign turned round begins
  // below and has no reason to.
  // What a configured cross-entropy cannot be needs no growth to be absurd.
  const bool impossible = configured_cross_entropy(patient) && loss->end < loss->curve.value.front();
  const bool grown = -loss->end > settings["grown"] * first;
  const bool goes_on = counts_answers || fall(2 * third) > settings["steady"] * fall(0);
  const bool begins_below = loss->curve.value.front() < 0 && (impossible || (grown && goes_on)) &&
                            !quality_improves(patient, counts_answers ? settings["learned"] : settings["better"]);
  if (!accelerates && !begins_below) return NotFound{};
  const auto below = std::find_if(loss->smoothed.begin(), loss->smoothed.end(), [](double level) { return level < 0; });
  const std::int64_t since = loss->step_at(static_cast<std::size_t>(below - loss->smoothed.begin()));
  Observation seen =
      observe(Severity::critical, confidence_of(-loss->end / (settings["beyond"] * std::max(first, 1e-300))), since,
              loss->last_step,
              loss->name + " falls below zero without a bound" + (accelerates ? ", faster and faster: " : ": ") +
                  number(loss->start) + " to " + number(loss->end) + ".");
  seen.evidence.push_back(
      evidence(loss->name, since, loss->last_step, loss->end, 0, "a loss that measures errors has a floor at zero"));
  return seen;
}

/// Where a log has the parts of a loss and no sum, one part may hide beneath the others.
Verdict check(const Patient& patient, const SettingValues& settings) {
  if (patient.training() == nullptr) return no_loss_to_check(patient);
  Verdict verdict = check_loss(patient, patient.training(), settings);
  const std::vector<Cast>& losses = patient.roles().in(Role::train_loss);
  if (!std::holds_alternative<NotFound>(verdict) || losses.empty() || !losses.front().guess.component) return verdict;
  for (const Cast& part : losses) {
    const auto total = part.series->summary().total();
    if (part.guess.adversarial || !total || total->count < settings["fewest_points"]) continue;
    const Reading reading = read_series(*part.series, part.guess.higher_is_better);
    Verdict of_part = check_loss(patient, &reading, settings);
    if (std::holds_alternative<Observation>(of_part)) return of_part;
  }
  return verdict;
}

}  // namespace

Finding loss_negative_unbounded() {
  return {.id = "loss-negative-unbounded",
          .title = "The loss falls below zero without a bound",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 12, "values needed to see a fall that gets faster"},
                       {"beyond", 10, "times the first size of the loss that it reaches below zero"},
                       {"grown", 2.5, "the same for a loss that is below zero from its first value on"},
                       {"better", 0.05, "gain of a metric that shows that what is minimised is meant"},
                       {"learned", 0.3, "the same for an accuracy, which rises to that of guessing by itself"},
                       {"steady", 0.45, "its fall in the last third of the run relative to the first"},
                       {"faster", 1.2, "fall of each third of the run relative to that of the one before"}},
          .check = check,
          .judged_by = JudgedBy::loss};
}

}  // namespace osler::catalogue
