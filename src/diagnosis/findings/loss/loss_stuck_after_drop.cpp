// loss-stuck-after-drop: an early drop, then nothing for a long stretch, far above what the drop promised.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "diagnosis/evidence/chance.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/flatness.h"
#include "diagnosis/movement.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "signal/forecast.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loss fell at first and then stood still for most of the run, at a level well above where its own descent was
heading when it stopped.

## Signature
The training loss fell by at least `drop_noise` noise units and is then flat for at least the last `flat_share` of the
run, and one of these shows that the floor was not reached:
- the learning rate was below `rate_gone` of its peak when the loss stopped, with `early_share` of the run still to go,
  and never came back (a warning where the descent promised more, as below, or less than `rate_nothing` of it was
  left, else a note);
- a language model that began by guessing among its tokens stands above `unigram` nats for `few_updates` steps or more:
  it has learned how often each token comes and nothing else (a warning);
- hardly anything was gained at all (less than `hardly` of the first level, and nothing over the last `idle_share` of
  `many_points` or more), and no answers say that this is enough (a warning);
- the accuracy is poor (below `poor_accuracy`) after `early_share` of the run without progress (a note);
- the power law or exponential that fits the descent promises a level lower by `promise_share` of the drop, and no
  single smooth decay explains the whole curve: its residual is at least `kink` times the noise (a note).

## Why it matters
A descent that stops abruptly was stopped by something: a learning rate that decayed too fast, units that died, a
schedule that restarted wrongly.

## When it is harmless
A descent that bends smoothly into its floor has converged, and the fit says so.

## References
- Hestness et al. 2017, Deep Learning Scaling is Predictable, Empirically.
)";

/// Why the stop is no convergence, in words; empty when nothing shows it.
struct Proof {
  std::string text;
  Severity severity = Severity::note;
  double margin = 1;
};

/// The learning rate had come down from its peak to less than `share` of it, and did not come back.
bool rate_gone(const Patient& patient, double step, double share) {
  const Reading* rate = patient.learning_rate();
  if (rate == nullptr || rate->size() < 4) return false;
  const auto& values = rate->curve.value;
  const std::size_t at = rate->index_at(step);
  const auto peak = static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
  return at > peak &&
         *std::max_element(values.begin() + static_cast<std::ptrdiff_t>(at), values.end()) < share * values[peak];
}

/// So little was left of the learning rate from `step` on that nothing could move.
bool rate_nothing(const Patient& patient, double step, double share) {
  const Reading* rate = patient.learning_rate();
  const auto later = std::span(rate->curve.value).subspan(rate->index_at(step));
  return signal::median(later) < share * rate->top;
}

/// What the descent before the stop promised for the end of the run, where it is clearly lower than what came.
std::optional<double> broken_promise(const Reading& loss, const Flatness& flat, const SettingValues& settings) {
  const double drop = loss.start - loss.end;
  const bool positive = *std::min_element(loss.curve.low.begin(), loss.curve.low.end()) >= 0;
  // A positive loss that is almost at zero has kept its promise.
  if (positive && loss.end < settings["solved"] * loss.start) return std::nullopt;
  const auto smooth = signal::forecast_of(loss.curve.step, loss.smoothed);
  if (smooth && smooth->residual < settings["kink"] * loss.noise.sigma) return std::nullopt;
  const auto descent =
      signal::forecast_of(std::span(loss.curve.step).first(flat.since), std::span(loss.smoothed).first(flat.since));
  if (!descent) return std::nullopt;
  double promised = descent->at(loss.curve.step.back() - loss.curve.step.front());
  if (positive) promised = std::max(promised, 0.0);
  promised = std::max(promised, std::min(descent->floor_high, loss.end));
  const double shortfall = loss.end - promised;
  if (shortfall < settings["promise_share"] * drop || shortfall < 4 * loss.noise.sigma) return std::nullopt;
  return promised;
}

/// Hardly anything was gained, at the very beginning, and nothing in all the rest of a long run; no answers say
/// otherwise. What was trained before has little to gain.
bool hardly_gained(const Patient& patient, const Reading& loss, const Flatness& flat, const SettingValues& settings) {
  const double length = loss.curve.step.back() - loss.curve.step.front();
  // A log that begins in the middle of a training does not show what was gained before.
  if (static_cast<double>(loss.first_step) > settings["continued"] * length) return false;
  const double begin = std::max(loss.start, loss.opening);
  if (loss.negated || !(loss.end > 0) || loss.size() < settings["many_points"] || flat.share < settings["idle_share"] ||
      begin - loss.end < settings["barely"] * begin || begin - loss.end > settings["hardly"] * begin ||
      fine_tuning(patient) || guessing(patient)) {
    return false;
  }
  const auto best = skill(patient);
  const auto& qualities = patient.validation_quality();
  const bool other = !best && std::any_of(qualities.begin(), qualities.end(), [&](const Reading& quality) {
    return quality.improvement() > settings["hardly"] * std::abs(quality.start);
  });
  return !other && (!best || best->share < settings["poor_skill"]);
}

std::optional<Proof> proof_of(const Patient& patient, const Reading& loss, const Flatness& flat,
                              const SettingValues& settings) {
  const bool early = flat.share > settings["early_share"];
  const auto promised = broken_promise(loss, flat, settings);
  if (early && rate_gone(patient, loss.curve.step[flat.since], settings["rate_gone"])) {
    // A descent that had bent into its floor by then needed the rate no more.
    const bool starved = promised || rate_nothing(patient, loss.curve.step[flat.since], settings["rate_nothing"]);
    return Proof{"the learning rate had gone by then", starved ? Severity::warning : Severity::note,
                 flat.share / settings["flat_share"]};
  }
  const bool long_enough = loss.curve.step.back() - loss.curve.step[flat.since] >= settings["few_updates"] &&
                           flat.share > settings["unigram_share"];
  const bool from_guessing = loss.opening > settings["guessing_tokens"] && loss.opening < settings["most_tokens"];
  if (long_enough && from_guessing && patient.domain().domain == Domain::language_model &&
      loss.end > settings["unigram"]) {
    return Proof{"a language model that knows only how often each token comes stays there", Severity::warning,
                 flat.share / settings["flat_share"]};
  }
  const auto accuracy = patient.best_accuracy();
  if (early && accuracy && *accuracy < settings["poor_accuracy"]) {
    return Proof{"the best accuracy is only " + per_cent(*accuracy), Severity::note,
                 flat.share / settings["flat_share"]};
  }
  if (hardly_gained(patient, loss, flat, settings)) {
    return Proof{"it has gained only " + per_cent(1 - loss.end / std::max(loss.start, loss.opening)) + " in all",
                 Severity::warning, flat.share / settings["idle_share"]};
  }
  if (promised) {
    return Proof{"its descent promised " + number(*promised), Severity::note, 1.2};
  }
  return std::nullopt;
}

/// The loss is the same number, but for its last digits, for the last `share` of the run, far from solved, after it had
/// moved: nothing reaches the weights any more, or every output is the same.
std::optional<Observation> died(const Reading& loss, const SettingValues& settings) {
  const std::size_t n = loss.size();
  std::size_t since = n - 1;
  const double last = loss.curve.value[n - 1];
  // Two digits after the point look constant when the loss is not: the log must be able to tell values apart.
  double finest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < n; ++i) {
    const double change = std::abs(loss.curve.value[i] - loss.curve.value[i - 1]);
    if (change > 0) finest = std::min(finest, change);
  }
  if (last == 0 || finest > settings["digits"] * std::abs(last)) return std::nullopt;
  // Sums over samples in another order differ in their last digits.
  const double same = settings["same"] * std::abs(last);
  while (since > 0 && std::abs(loss.curve.low[since - 1] - last) <= same &&
         std::abs(loss.curve.high[since - 1] - last) <= same) {
    --since;
  }
  const bool moved = loss.top - loss.best > settings["moved"] * std::abs(loss.start);
  if (n - since < settings["dead_points"] ||
      static_cast<double>(n - since) < settings["dead_share"] * static_cast<double>(n) || !moved ||
      std::abs(last) < settings["far"] * std::max(std::abs(loss.start), std::abs(loss.opening))) {
    return std::nullopt;
  }
  const std::int64_t step = loss.step_at(since);
  Observation seen = observe(Severity::critical, confidence_of(4), step, loss.last_step,
                             loss.name + " is " + number(loss.shown(last)) + " at every point since " + at_step(step) +
                                 ": nothing is learned any more.");
  const auto first = loss.curve.count.begin() + static_cast<std::ptrdiff_t>(since);
  seen.evidence.push_back(evidence(loss.name, step, loss.last_step, loss.shown(last), loss.shown(loss.best),
                                   number(std::accumulate(first, loss.curve.count.end(), 0.0)) +
                                       " equal values; its best was " + number(loss.shown(loss.best))));
  return seen;
}

/// Training falls on since `step`, or keeps what it gained under a rate that is not spent: the weights live, and a
/// validation loss that repeats itself does not look at them.
bool lives(const Patient& patient, std::int64_t step, const SettingValues& settings) {
  const Reading& training = *patient.training();
  const auto since = static_cast<double>(step);
  if (movement_of(training, training.index_at(since), training.size())
          .falls(settings["significance"], settings["matters"] * (training.top - training.best))) {
    return true;
  }
  const bool keeps = training.start - training.end > settings["keeps"] * (training.start - training.best) &&
                     training.start - training.end > settings["drop_level"] * training.level;
  return keeps && !rate_gone(patient, since, settings["rate_gone"]);
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* loss = patient.training();
  if (loss == nullptr) return no_loss_to_check(patient);
  if (loss->size() < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " points"};
  }
  for (const Reading* reading : patient.objectives()) {
    if (reading->size() < settings["fewest_points"]) continue;
    auto seen = died(*reading, settings);
    if (seen && (reading == loss || !lives(patient, seen->first_step, settings))) return std::move(*seen);
  }
  const Flatness flat = flatness_of(*loss, settings["matters"]);
  if (flat.share < settings["flat_share"] || flat.since < 3 || flat.since >= loss->size()) return NotFound{};
  const double drop = loss->start - loss->end;
  if (drop < settings["drop_noise"] * loss->noise.sigma || drop < settings["drop_level"] * loss->level)
    return NotFound{};

  const auto proof = proof_of(patient, *loss, flat, settings);
  if (!proof) return NotFound{};
  const std::int64_t since = loss->step_at(flat.since);
  Observation seen = observe(proof->severity, confidence_of(proof->margin), since, loss->last_step,
                             loss->name + " fell to " + number(loss->end) + " by " + at_step(since) +
                                 " and has stood still since; " + proof->text + ".");
  seen.evidence.push_back(evidence(loss->name, since, loss->last_step, flat.share, settings["flat_share"],
                                   "flat for " + per_cent(flat.share) + " of the run after a drop of " + number(drop)));
  return seen;
}

}  // namespace

Finding loss_stuck_after_drop() {
  return {"loss-stuck-after-drop",
          "The loss fell early and then stood still, far from its promise",
          {Need::curve},
          kDoc,
          {{"fewest_points", 20, "points needed to fit the descent"},
           {"dead_points", 8, "equal values in a row that no converged loss has"},
           {"same", 3e-5, "relative distance of values that are the same; a loss that trains differs by more"},
           {"digits", 1e-3, "smallest change in the log, as a share of the value: coarser rounding tells nothing"},
           {"dead_share", 0.2, "last share of the run that they make up"},
           {"moved", 0.05, "share of its start that the loss must have moved before"},
           {"far", 0.3, "share of its start above which the loss is far from solved"},
           {"keeps", 0.5, "share of its gain that training holds while it lives"},
           {"significance", 0.01, "chance of so clear a fall of training from noise alone"},
           {"flat_share", 0.4, "last share of the run that must be flat"},
           {"early_share", 0.7, "flat share that shows that the stop came early"},
           {"matters", 0.05, "share of the whole gain that counts as movement"},
           {"drop_noise", 6, "noise units the early drop must exceed"},
           {"drop_level", 0.05, "share of the level the early drop must exceed"},
           {"rate_gone", 0.1, "learning rate, as a share of its peak, that counts as gone"},
           {"rate_nothing", 1e-3, "share of its peak at which a learning rate moves nothing any more"},
           {"unigram", 6.3, "nats above which a language model knows no more than how often each token comes"},
           {"unigram_share", 0.5, "last share of the run that must be flat then"},
           {"few_updates", 300, "steps for which every language model may stand there"},
           {"guessing_tokens", 8.7, "least first loss of one that guesses among tokens, ln 6,000"},
           {"most_tokens", 12.2, "the most, ln 200,000"},
           {"poor_accuracy", 0.7, "accuracy below which the level counts as poor"},
           {"many_points", 40, "points of a run of which it can be said that most of it was idle"},
           {"idle_share", 0.85, "last share of the run that must be flat where hardly anything was gained before"},
           {"continued", 0.2, "first step, in lengths of the log, from which on the log continues an earlier one"},
           {"barely", 0.08, "share of its first level below which it is loss-stuck-from-start, or nothing to gain"},
           {"hardly", 0.2, "share of its first level that is hardly anything"},
           {"poor_skill", 0.5, "share of the way from guessing to perfection above which the answers say otherwise"},
           {"kink", 2.5, "residual of the best smooth decay, in noise units, above which the stop was abrupt"},
           {"solved", 0.05, "share of the first level below which a positive loss counts as solved"},
           {"promise_share", 0.4, "share of the drop by which the descent's promise must be missed"}},
          check,
          JudgedBy::loss};
}

}  // namespace osler::catalogue
