// loss-beyond-chance: the loss lies far above what guessing costs, whatever its shape.
#include <algorithm>
#include <cmath>
#include <optional>

#include "diagnosis/accuracies.h"
#include "diagnosis/configured.h"
#include "diagnosis/evidence/chance.h"
#include "diagnosis/evidence/loss_bounds.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
A classifier that knows nothing and says so pays ln(C) per sample. One whose loss ends many times above that is sure of
wrong answers.

## Signature
An accuracy is logged beside the loss, the loss never fell below `factor` times ln(C), and the accuracy is poor
(less than `poor` of the way from guessing to perfection): a loss that is a sum over samples falls with a good accuracy and is left alone. C is that of the
configuration, or else at most `most_classes`. An area under the curve tells that there are two: then the limit is
`two_factor` times ln 2. Without an accuracy it takes a configuration that names a cross-entropy, its
classes and its batch: a first loss above `sum` of batch x ln(C) may be a sum. A training that began above
`any_vocabulary` is also found where answers are better (up to `mostly_right`, or an area of `ranked_at_most`) and the loss
is neither a sum, which would keep its proportion to the wrong answers, nor within what a model pays that is right so often.

## Why it matters
Outputs of hundreds that are wrong come from weights or inputs that are far too large: unscaled data, a huge
initialisation, steps that threw the weights off. The gradient is that of a few samples.

## When it is harmless
Losses that are sums over a batch or a sequence, or have penalties added, are larger all along.

## References
- Karpathy 2019, A Recipe for Training Neural Networks: verify the loss at initialisation.
)";

/// A sum over many samples is larger by its number of terms, calmer than one sample by the root of it, and keeps the
/// proportion between the loss and the answers: each term comes near Fano's bound for as many right ones. Outputs that
/// have blown up do neither.
bool may_be_a_sum(const LossAndAccuracy& pair, double first, double classes, double honest,
                  const SettingValues& settings) {
  const Reading& loss = *pair.loss;
  const double terms = first / std::log(classes);
  if (terms < settings["terms"]) return false;
  const bool calm = loss.noise.sigma < (settings["calm"] / std::sqrt(terms) + settings["least_noise"]) * loss.level;
  const double right = std::clamp(pair.share(pair.accuracy->end), 0.0, 1.0);
  return calm && loss.end / terms > honest * fano_bound(right, classes);
}

/// A perplexity beside the loss is its exponential: then the loss is a mean in nats, and no sum.
bool mean_by_perplexity(const Patient& patient, const Reading& loss) {
  constexpr double kAlike = 0.1;  // of the loss
  for (const Role role : {Role::train_metric, Role::validation_metric}) {
    for (const Cast& cast : patient.roles().in(role)) {
      if (cast.guess.measure != Measure::perplexity || cast.series->summary().empty()) continue;
      const Reading perplexity = read_series(*cast.series, false);
      if (perplexity.end > 0 && std::abs(std::log(perplexity.end) - loss.end) < kAlike * loss.end) return true;
    }
  }
  return false;
}

/// The configuration names a cross-entropy, its classes and a batch so large that the loss is no sum over it, and the
/// training loss never came down to what guessing costs.
std::optional<Observation> above_what_is_configured(const Patient& patient, const SettingValues& settings) {
  const Reading* loss = patient.training();
  const auto classes = configured_classes(patient);
  const auto batch = configured_number(patient, {"batch_size", "train_batch_size", "batch"});
  if (loss == nullptr || loss->negated || loss->size() < settings["fewest_losses"] || !classes || !batch ||
      !configured_cross_entropy(patient)) {
    return std::nullopt;
  }
  const double chance = std::log(*classes);
  const double limit = settings["factor"] * chance;
  const bool sum =
      first_value(patient, *loss) > settings["sum"] * *batch * chance && !mean_by_perplexity(patient, *loss);
  if (sum || loss->best < limit) return std::nullopt;
  Observation seen =
      observe(Severity::warning, confidence_of(loss->best / limit), loss->first_step, loss->last_step,
              loss->name + " is at " + number(loss->end) + " in the end and was never below " + number(loss->best) +
                  ": guessing among " + std::to_string(*classes) + " classes costs " + number(chance) + ".");
  seen.evidence.push_back(evidence(loss->name, loss->first_step, loss->last_step, loss->best, limit,
                                   "the classes are those of the configuration"));
  return seen;
}

/// An area under the curve is measured between two classes, of which guessing costs ln 2.
std::optional<Observation> above_two_classes(const Patient& patient, const SettingValues& settings) {
  const double limit = settings["two_factor"] * std::log(2);
  if (loss_without_logarithm(patient)) return std::nullopt;
  for (const auto& [loss, role] :
       {std::pair{patient.validation(), Role::validation_metric}, std::pair{patient.training(), Role::train_metric}}) {
    if (loss == nullptr || loss->negated || loss->size() < settings["fewest_points"] || loss->best < limit) continue;
    for (const Cast& cast : patient.roles().in(role)) {
      if (cast.guess.measure != Measure::auc || cast.guess.component) continue;
      const Reading area = read_series(*cast.series, true);
      if (area.size() < settings["fewest_points"]) continue;
      const double ranked = area.shown(area.end) / (area.shown(area.best) > 1.5 ? 100 : 1);
      // A sum over a batch or a mean over many outputs keeps its proportion to what is still ranked wrongly.
      const double first = std::max(first_value(patient, *loss),
                                    patient.training() != nullptr ? first_value(patient, *patient.training()) : 0.0);
      const bool sum = ranked > settings["guessed"] && loss->end > settings["honest"] * first_value(patient, *loss);
      const bool blown = ranked < settings["ranked_at_most"] && loss->end < settings["out_of_proportion"] * first;
      if ((ranked > settings["well_ranked"] && !blown) || sum) continue;
      Observation seen =
          observe(Severity::warning, confidence_of(loss->best / limit), loss->first_step, loss->last_step,
                  loss->name + " is at " + number(loss->end) + " with an area under the curve of " + number(ranked) +
                      ": guessing between two classes costs " + number(std::log(2)) + ".");
      seen.evidence.push_back(evidence(loss->name, loss->first_step, loss->last_step, loss->best, limit,
                                       "it never fell below " + number(loss->best)));
      return seen;
    }
  }
  return std::nullopt;
}

/// Training began above what guessing costs in the largest vocabulary, so that its loss is a sum or the outputs had
/// blown up, and even its best value is more than a model that is right so often pays among as many classes.
bool out_of_proportion(const Patient& patient, const LossAndAccuracy& pair, double classes,
                       const SettingValues& settings) {
  const Reading* training = patient.training();
  if (training == nullptr || training->negated || loss_without_logarithm(patient)) return false;
  const double right = std::clamp(pair.share(pair.accuracy->end), 0.0, 1.0);
  return first_value(patient, *training) > settings["any_vocabulary"] && right < settings["mostly_right"] &&
         pair.loss->best > fano_bound(right, classes);
}

/// Validation is right nearly always, at a loss far below that of guessing: what is high beside it is high by its
/// reduction, or by dropout.
bool validation_vouches(const Patient& patient, double chance, double right) {
  const std::vector<LossAndAccuracy> pairs = losses_with_accuracy(patient);
  return std::any_of(pairs.begin(), pairs.end(), [&](const LossAndAccuracy& pair) {
    return pair.split == "validation" && pair.loss->end < chance / 2 && pair.share(pair.accuracy->end) > right;
  });
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (auto seen = above_what_is_configured(patient, settings)) return std::move(*seen);
  if (auto seen = above_two_classes(patient, settings)) return std::move(*seen);
  bool checked = false;
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    if (pair.loss->size() < settings["fewest_points"] || pair.accuracy->size() < settings["fewest_points"]) continue;
    checked = true;
    const auto known = class_count(patient);
    const double classes = known.value_or(static_cast<int>(settings["most_classes"]));
    const double chance = std::log(classes);
    // One that was lower once and has risen since is overfitting or divergence.
    const double lowest = pair.loss->best;
    const double right = pair.share(pair.accuracy->end);
    const double guess = 1 / classes;
    // Of two classes half is right by chance: where nobody says how many there are, one that has not risen is poor.
    const double gained = right - pair.share(first_value(patient, *pair.accuracy));
    const bool poor = (right - guess) / (1 - guess) < settings["poor"] ||
                      (!known && right < settings["guessed"] && gained < settings["risen"]);
    const bool absurd = lowest >= settings["factor"] * chance && poor;
    if (!absurd && !out_of_proportion(patient, pair, classes, settings)) continue;
    if (validation_vouches(patient, chance, settings["vouches"])) continue;
    // Most answers have come to be right: without a number of classes such a loss is rather a sum.
    if (!known && gained > settings["came_right"]) continue;
    // The first evaluation comes after much was learned: what training began with is the start of both.
    double first = first_value(patient, *pair.loss);
    if (patient.training() != nullptr) first = std::max(first, first_value(patient, *patient.training()));
    // Where nothing was learned, a sum is as sick as a mean.
    const double honest = settings[absurd ? "honest" : "honest_enough"];
    if ((gained > settings["risen"] || !absurd) && may_be_a_sum(pair, first, classes, honest, settings)) continue;
    Observation seen =
        observe(Severity::warning, confidence_of(lowest / (settings["factor"] * chance)), pair.loss->first_step,
                pair.loss->last_step,
                pair.loss->name + " is at " + number(pair.loss->end) + " with an accuracy of " + per_cent(right) +
                    ": guessing among " + number(classes) + " classes costs " + number(chance) + ".");
    seen.evidence.push_back(evidence(pair.loss->name, pair.loss->first_step, pair.loss->last_step, lowest,
                                     settings["factor"] * chance, "it never fell below " + number(lowest)));
    return seen;
  }
  if (!checked)
    return NotChecked{"no accuracy beside a loss with at least " + number(settings["fewest_points"]) + " values"};
  return NotFound{};
}

}  // namespace

Finding loss_beyond_chance() {
  return {
      .id = "loss-beyond-chance",
      .title = "The loss is far above what guessing costs",
      .needs = {Need::curve},
      .doc = kDoc,
      .settings = {{"fewest_points", 4, "values of loss and accuracy needed"},
                   {"fewest_losses", 12, "values needed where the loss stands alone"},
                   {"sum", 0.3, "share of batch x ln(C) from which on a first loss may be a sum over the batch"},
                   {"came_right", 0.4, "gain of the accuracy that shows the same where no number of classes is known"},
                   {"vouches", 0.9, "validation accuracy that vouches for a training loss on another scale"},
                   {"terms", 4, "times ln(C) from which on a first loss may be a sum over samples or tokens"},
                   {"calm", 3, "noise of such a sum, in units of its level over the root of its terms"},
                   {"honest", 0.6, "share of Fano's bound that a term of a sum reaches at least"},
                   {"honest_enough", 0.3, "the same where answers are better: most models stay below the bound"},
                   {"least_noise", 0.02, "noise, as a share of the level, that any loss may have"},
                   {"factor", 1.5, "times ln(C) beyond which a loss is absurd"},
                   {"poor", 0.35,
                    "share of the way from guessing to perfection below which the loss is no sum of small ones"},
                   {"guessed", 0.62, "share of right answers that a guess between two classes seldom exceeds"},
                   {"risen", 0.1, "rise of that share which shows learning"},
                   {"two_factor", 2.5, "the same between two classes, told by an area under the curve"},
                   {"well_ranked", 0.8, "such an area that a loss of absurd size does not excuse"},
                   {"ranked_at_most", 0.92, "an area above which no loss is held to be absurd"},
                   {"out_of_proportion", 0.4,
                    "share of the first loss below which such a loss is no sum: at an area of 0.92 half is left"},
                   {"any_vocabulary", 12, "first loss, in nats, that no guess costs, among however many tokens"},
                   {"mostly_right", 0.9, "share of right answers from which on the size of a loss does no harm"},
                   {"most_classes", 1000, "classes assumed where the log does not tell"}},
      .check = check,
      .judged_by = JudgedBy::loss};
}

}  // namespace osler::catalogue
