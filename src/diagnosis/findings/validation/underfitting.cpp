// underfitting: both losses flatten early, high, and close together.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/chance.h"
#include "diagnosis/facts.h"
#include "diagnosis/flatness.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The model cannot represent, or is not allowed to learn, what is in the data: training and validation stop improving
together at a level that is still high.

## Signature
Training and validation loss are both flat over the last `flat_share` of the run, lie within `gap_share` of each other,
training does not fall on alone (`goes_on`), and gained less than `gain_share` of its first level. The best accuracy, area under the curve or R2 must be
poor: less than `poor_skill` of the way from guessing to perfection; without one a loss does not tell how low it could
go. Or, whatever the curves: it comes less than `least_skill` of that way and no longer rises; or less than `some_skill`
where a classifier keeps more than `kept` of its first loss and no longer gets lower; or R2 was never above 0, or a low
accuracy has not risen since its first values, or every word is still wrong when the loss has come to rest.

## Why it matters
More time and more data will not help; capacity, less regularisation, or better features will.

## When it is harmless
Tasks with a high irreducible loss (language, noisy labels) flatten at a level that looks high and is not.

## References
- Goodfellow, Bengio, Courville 2016, Deep Learning, section 5.2.
- Kaplan et al. 2020, Scaling Laws for Neural Language Models: loss as a power law of size.
)";

/// Training falls on since `step` and validation does not follow, which is another matter than underfitting.
bool parts(const Reading& training, const Reading& validation, double step, const SettingValues& settings) {
  const auto trend_since = [&](const Reading& reading) {
    const std::size_t from = reading.index_at(step);
    return signal::trend_of(std::span(reading.curve.step).subspan(from), std::span(reading.curve.value).subspan(from));
  };
  constexpr double kFollows = 1.0 / 3;  // of what training falls
  const signal::Trend of_training = trend_since(training);
  return of_training.falls(settings["p_value"]) &&
         -of_training.change > settings["goes_on"] * (training.top - training.best) &&
         -trend_since(validation).change < kFollows * -of_training.change;
}

/// The run is over and its best evaluation is hardly better than guessing: a plain fact, whatever the curves look like.
std::optional<Observation> hardly_learned(const Patient& patient, const SettingValues& settings) {
  const auto best = skill(patient);
  const Reading* training = patient.training();
  // A classifier that keeps three quarters of its first loss has learned little, whatever is right by then.
  const bool little = training != nullptr && training->start > 0 && !training->negated &&
                      training->size() >= settings["fewest_points"] && class_count(patient).value_or(2) > 2 &&
                      training->end > settings["kept"] * training->start && training->end < training->start &&
                      flatness_of(*training, settings["creep"]).share > settings["comes_to_rest"];
  if (!best || best->share > settings[little ? "some_skill" : "least_skill"]) return std::nullopt;
  // What still rises may get there, unless as many steps again would not even bring it half way.
  if (best->rising && best->soon > settings["half_way"]) return std::nullopt;
  // Among many classes a few answers in a hundred are many times what guessing gets right: what rises there has begun.
  const int classes = class_count(patient).value_or(2);
  const double right = best->figure > 1.5 ? best->figure / 100 : best->figure;
  if (best->rising && classes >= settings["many_classes"] && right * classes > settings["times_chance"])
    return std::nullopt;
  // Where training learned well, what fails is validation: another matter.
  if (training != nullptr && training->start > 0 && training->end < settings["learned"] * training->start)
    return std::nullopt;
  const std::int64_t first = training != nullptr ? training->first_step : 0;
  const std::string words =
      little ? training->name + " has come only from " + number(training->start) + " to " + number(training->end) +
                   " and stands there; " + best->series + " is " + number(best->figure) + " at best."
             : best->series + " is " + number(best->figure) + " at best, hardly better than guessing.";
  Observation seen = observe(Severity::warning, confidence_of(2), first, best->last_step, words);
  seen.evidence.push_back(evidence(best->series, first, best->last_step, best->share,
                                   settings[little ? "some_skill" : "least_skill"],
                                   per_cent(best->share) + " of the way from guessing to perfection"));
  return seen;
}

/// No evaluation was better than that of a model which knows nothing.
std::optional<Observation> knows_nothing(const Patient& patient, const SettingValues& settings) {
  const auto found = unlearned(patient);
  const Reading* training = patient.training();
  if (!found) return std::nullopt;
  // A figure that stands while training learns contradicts the loss: another matter. A training loss that came down to
  // that of validation, and rests there, has learned no more than validation has.
  const Reading* validation = patient.validation();
  const bool no_better = validation != nullptr && training != nullptr && !validation->curve.empty() &&
                         training->end > settings["beside"] * validation->end &&
                         validation->end > settings["learned"] * validation->start;
  const bool learned =
      training != nullptr && training->start > 0 && !no_better && training->end < settings["learned"] * training->start;
  if (learned && !found->follows && !found->agrees(*training)) return std::nullopt;
  Observation seen = observe(Severity::warning, confidence_of(2), found->first_step, found->last_step,
                             found->series + " is " + number(found->figure) + " at best, " + found->words + ".");
  seen.evidence.push_back(evidence(found->series, found->first_step, found->last_step, found->figure, found->limit,
                                   "it was never above " + number(found->limit)));
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (lost_to_nonfinite(patient)) return NotChecked{"a loss is not a number any more: no answer means anything"};
  if (auto seen = hardly_learned(patient, settings)) return std::move(*seen);
  if (auto seen = knows_nothing(patient, settings)) return std::move(*seen);
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  if (training == nullptr || validation == nullptr) {
    return NotChecked{"needs a training and a validation loss"};
  }
  if (training->size() < settings["fewest_points"] || validation->size() < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " points"};
  }
  const Flatness flat_training = flatness_of(*training);
  const Flatness flat_validation = flatness_of(*validation, settings["creep"]);
  const bool flat = flat_training.share > settings["flat_share"] && flat_validation.share > settings["flat_share"];
  if (!flat || parts(*training, *validation, validation->curve.step[flat_validation.since], settings)) {
    return NotFound{};
  }
  const double level = std::max(std::abs(training->end), 1e-300);
  const double gap = (validation->end - training->end) / level;
  const double gain = training->start > 0 ? training->improvement() / training->start : 0;
  if (std::abs(gap) > settings["gap_share"] || gain > settings["gain_share"] || gain < settings["least_gain"]) {
    return NotFound{};
  }
  // Without a figure of merit a loss does not tell how low it could go.
  const auto reached = skill(patient);
  if (!reached || reached->share > settings["poor_skill"]) return NotFound{};
  // What comes next in a text is uncertain by nature: among many tokens no accuracy near one is to be had.
  if (class_count(patient).value_or(2) >= settings["many_classes"] && gain > settings["text_gain"]) return NotFound{};
  const std::int64_t since =
      std::min(training->step_at(flat_training.since), validation->step_at(flat_validation.since));
  Observation seen =
      observe(Severity::warning, confidence_of(settings["gap_share"] / std::max(std::abs(gap), 0.02)), since,
              training->last_step,
              "Training and validation loss are both flat since " + at_step(since) +
                  ", high and close: " + number(training->end) + " and " + number(validation->end) + ".");
  seen.evidence.push_back(evidence(training->name, since, training->last_step, gain, settings["gain_share"],
                                   "gained " + per_cent(gain) + " of its first level"));
  seen.evidence.push_back(evidence(reached->series, since, reached->last_step, reached->share, settings["poor_skill"],
                                   "it is " + number(reached->figure) + " at best, " + per_cent(reached->share) +
                                       " of the way from guessing to perfection"));
  return seen;
}

}  // namespace

Finding underfitting() {
  return {
      "underfitting",
      "Both losses are flat, high and close together",
      {Need::curve},
      kDoc,
      {{"least_skill", 0.2,
        "share of the way from guessing to perfection; 98 in 100 healthy runs of the population come further than "
        "0.35"},
       {"half_way", 0.5, "share that a rising figure reaches if the run goes on as long again, at its present pace"},
       {"kept", 0.75, "share of its first loss above which a classifier has learned little"},
       {"comes_to_rest", 0.25, "last share of the run over which such a loss no longer falls"},
       {"some_skill", 0.6, "the same limit where the loss says so too"},
       {"learned", 0.6, "share of its first loss below which training has learned"},
       {"beside", 0.6, "share of the validation loss above which the training loss is no better"},
       {"fewest_points", 8, "points each loss needs"},
       {"flat_share", 0.35, "last share of the run over which both must be flat"},
       {"creep", 0.08, "share of all its gain that validation, which has little noise, may still gain over that"},
       {"gap_share", 0.15, "distance between the losses, as a share of the level"},
       {"gain_share", 0.5, "share of its first level that training must not have gained"},
       {"least_gain", 0.02, "below this nothing was learned at all: that is loss-stuck-from-start"},
       {"poor_skill", 0.35, "share of the way from guessing to perfection that 98 in 100 healthy runs exceed"},
       {"many_classes", 30, "classes from which on they are taken for tokens of a text"},
       {"times_chance", 3, "times what guessing gets right that a rising figure has reached among as many"},
       {"text_gain", 0.25, "share of its first loss that a model of texts has gained once it knows their tokens"},
       {"goes_on", 0.02, "share of its gain that training may still gain over that stretch"},
       {"p_value", 0.01, "significance of that gain"}},
      check,
      JudgedBy::loss};
}

}  // namespace osler::catalogue
