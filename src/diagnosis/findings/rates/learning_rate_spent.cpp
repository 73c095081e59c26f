// learning-rate-spent: the schedule took the rate away while the loss still had far to go.
#include <algorithm>
#include <cmath>

#include "diagnosis/flatness.h"
#include "diagnosis/movement.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "diagnosis/rates.h"
#include "signal/forecast.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The learning rate has decayed so far that nothing moves any more, long before training ends, though the loss was still
on its way down when the rate fell.

## Signature
The rate has been below `spent_share` of its peak for the last `stretch` of the run or longer. While it was at work
(above `working_share` of the peak) the loss followed a decay whose continuation to the end of the run (power law or
exponential, fitted to that part alone) lies clearly lower: by `promised_share` of what had been gained, or of its level
where that is less, and `noise_units` noise units. Of this promise less than `kept_share` was kept, and since the rate
is spent the loss stands still. A rate that was at work too briefly to fit anything convicts itself when the loss fell
while it lasted and has stood still for the `brief_part` of the run since. A rate that is cut at once to a quarter or less
within the `early` part of the run (`early_steep` where the loss fell steeply) convicts itself when the descent ends with it.

## Why it matters
The rest of the run is computed for nothing. A schedule that is as long as the run would have used it.

## When it is harmless
A schedule that ends where training ends is as it should be, and so are step decays spread over the run. A rate that is
lowered because of a plateau is an answer to it, not its reason. A loss near zero has arrived.

## References
- Loshchilov and Hutter 2017, SGDR: Stochastic Gradient Descent with Warm Restarts.
- Hoffmann et al. 2022, Training Compute-Optimal Large Language Models: the length of the cosine must fit the run.
)";

/// What the loss did until the rate stopped working, and what that promised for the end of the run.
struct Promise {
  double then = 0;  // level of the loss at that time
  double gained = 0;
  double sigma = 0;
  double predicted = 0;
  bool brief = false;  // too few values to predict anything: `then` is the level when the rate was spent
};

std::optional<Promise> promise_of(const signal::Curve& loss, const SpentRate& spent) {
  constexpr std::size_t kEnough = 8;
  constexpr std::size_t kFewest = 4;
  const auto values_until = [&](double until) {
    signal::Curve part;
    for (std::size_t i = 0; i < loss.size(); ++i) {
      if (loss.step[i] < spent.works_from || loss.step[i] > until) continue;
      part.step.push_back(loss.step[i]);
      part.value.push_back(loss.value[i]);
    }
    return part;
  };
  signal::Curve work = values_until(spent.works_until);
  Promise promise;
  promise.brief = work.size() < kEnough;
  if (promise.brief) work = values_until(spent.spent_since);
  if (work.size() < kFewest) return std::nullopt;
  // Lone spikes would bend the fit.
  const std::vector<double> values = signal::running_median(work.value, work.size() < 24 ? 0 : 1);
  const std::size_t end = std::max<std::size_t>(1, values.size() / 8);
  promise.then = signal::median(std::span(values).last(end));
  promise.gained = signal::median(std::span(values).first(std::max<std::size_t>(1, end / 2))) - promise.then;
  promise.sigma = signal::noise_of(values).sigma;
  if (promise.brief) return promise;
  const auto forecast = signal::forecast_of(work.step, values);
  if (!forecast) return std::nullopt;
  promise.predicted = forecast->at(loss.step.back() - work.step.front());
  return promise;
}

/// How clearly the rate was taken away too early: 1 and above is enough.
double margin_of(const Promise& promise, const SpentRate& spent, const Reading& loss, const SettingValues& settings) {
  if (!(promise.gained > 0)) return 0;
  const Movement after = movement_of(loss, loss.index_at(spent.spent_since), loss.size());
  if (after.falls(settings["p_value"], settings["standing_share"] * promise.gained)) return 0;
  if (promise.brief) {
    const double sigma = std::max(after.sigma, 1e-12 * loss.level);
    return spent.spent_part > settings["brief_part"] ? promise.gained / (settings["brief_units"] * sigma) : 0;
  }
  const double promised = promise.then - promise.predicted;
  if (promise.then - loss.end > settings["kept_share"] * promised) return 0;
  const double scale = loss.best > 0 ? std::min(promise.gained, promise.then) : promise.gained;
  return promised / std::max(settings["promised_share"] * scale, settings["noise_units"] * promise.sigma);
}

/// The rate left its working level in one step, as plateau schedulers and persons lower it, not along a smooth plan.
bool lowered_at_once(const RateCurve& rate, const SpentRate& spent) {
  const auto& step = rate.curve.step;
  const auto next =
      static_cast<std::size_t>(std::upper_bound(step.begin(), step.end(), spent.works_until) - step.begin());
  constexpr double kJump = 2;
  return next > 0 && next < step.size() && rate.curve.value[next - 1] >= kJump * rate.curve.value[next];
}

/// Validation was flat before the rate was lowered: the schedule answered a plateau, it did not make it.
bool answers_a_plateau(const Patient& patient, const RateCurve& rate, const SpentRate& spent) {
  constexpr std::size_t kFewest = 10;
  const Reading* validation = patient.validation();
  if (validation == nullptr || validation->size() < kFewest || !lowered_at_once(rate, spent)) return false;
  // A plateau takes a few evaluations to be seen.
  constexpr std::size_t kPatience = 4;
  if (validation->curve.step[kPatience] > spent.works_until) return false;
  const Flatness flat = flatness_of(*validation);
  constexpr std::size_t kLate = 2;  // evaluations by which the start of a flat stretch may be seen too late
  if (flat.since >= validation->size()) return false;
  return validation->curve.step[flat.since - std::min(flat.since, kLate)] < spent.works_until;
}

/// The rate was cut at once while the loss was still falling well, and the descent ended with it.
struct Cut {
  std::size_t at = 0;  // index in the rate's curve of the first low value
  double before = 0;   // fall of the loss per length of the run before the cut
  double after = 0;    // the same after it
  double factor = 1;
};

std::optional<Cut> early_cut(const RateCurve& rate, const Reading& loss, const SettingValues& settings) {
  const auto& steps = rate.curve.step;
  const double begin = loss.curve.step.front();
  const double length = loss.curve.step.back() - begin;
  for (std::size_t i = 1; i < rate.curve.size(); ++i) {
    const double factor = rate.curve.value[i - 1] / std::max(rate.curve.value[i], 1e-300);
    const double when = (steps[i] - begin) / length;
    const bool at_work = rate.curve.value[i - 1] > settings["working_share"] * rate.peak;
    const bool for_good = *std::max_element(rate.curve.value.begin() + static_cast<std::ptrdiff_t>(i),
                                            rate.curve.value.end()) < rate.curve.value[i - 1] / 2;
    if (factor < settings["cut"] || !at_work || !for_good || when < settings["window"] ||
        when > settings["early_steep"]) {
      continue;
    }
    const Movement before =
        movement_of(loss, loss.index_at(steps[i] - settings["window"] * length), loss.index_at(steps[i]));
    const std::size_t settled = loss.index_at(steps[i] + settings["settles"] * length);
    const Movement after = movement_of(loss, settled, loss.size());
    if (before.points < 6 || after.points < 6) return std::nullopt;
    const double fast = before.fall() / settings["window"];
    const double slow = std::max(after.fall(), 0.0) / (1 - when - settings["settles"]);
    const bool fell = before.falls(settings["p_value"] * 5, settings["falling"] * std::abs(before.from));
    const bool arrived = loss.best >= 0 && loss.end < settings["near_end"] * loss.start;
    // Plans cut at a third of the run and later, but not while the loss still falls steeply.
    const bool planned = when > settings["early"];
    const bool steep = before.fall() > settings["steep"] * std::abs(before.from);
    if (fell && !arrived && (!planned || steep) && fast > settings[planned ? "slower_planned" : "slower"] * slow) {
      return Cut{i, fast, slow, factor};
    }
  }
  return std::nullopt;
}

Observation describe_cut(const RateCurve& rate, const Reading& loss, const Cut& cut, const SettingValues& settings) {
  const std::int64_t at = std::llround(rate.curve.step[cut.at]);
  Observation seen = observe(
      Severity::warning, confidence_of(cut.before / (settings["slower"] * std::max(cut.after, 1e-300))), at,
      loss.last_step,
      rate.name + " was cut from " + number(rate.curve.value[cut.at - 1]) + " to " + number(rate.curve.value[cut.at]) +
          " at " + at_step(at) + " while " + loss.name + " was still falling fast; it has hardly moved since.");
  seen.evidence.push_back(
      evidence(loss.name, at, loss.last_step, cut.after, cut.before,
               "before the cut it fell " + times(cut.before / std::max(cut.after, 1e-300)) + " as fast as after it"));
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* loss = patient.training();
  if (loss == nullptr) return no_loss_to_check(patient);
  const auto rate = main_rate(patient);
  if (!rate) return NotChecked{"no learning rate above 0 in the log"};
  if (rate->curve.points() < settings["fewest_points"] || loss->size() < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " values of the rate or of the loss"};
  }
  if (const auto cut = early_cut(*rate, *loss, settings)) return describe_cut(*rate, *loss, *cut, settings);
  const auto spent = spent_rate(*rate, loss->curve.step.back(),
                                {settings["spent_share"], settings["working_share"], settings["plan_share"]});
  if (!spent || spent->spent_part < settings["stretch"]) return NotFound{};
  if (answers_a_plateau(patient, *rate, *spent)) return NotFound{};
  const bool arrived = loss->best >= 0 && loss->end < settings["solved_share"] * loss->start;
  const auto promise = promise_of(close_up(patient, *loss), *spent);
  if (!promise || arrived) return NotFound{};
  const double margin = margin_of(*promise, *spent, *loss, settings);
  if (margin < 1) return NotFound{};

  const auto from = static_cast<std::int64_t>(spent->spent_since);
  Observation seen = observe(Severity::warning, confidence_of(margin), from, loss->last_step,
                             rate->name + " has been below " + per_cent(settings["spent_share"]) +
                                 " of its peak since " + at_step(from) + ", and " + loss->name + " has stood at " +
                                 number(loss->end) + " since, though it was still falling before.");
  seen.evidence.push_back(evidence(rate->name, from, rate->last_step, spent->left, settings["spent_share"],
                                   "the rate is " + number(spent->left * rate->peak) + ", its peak was " +
                                       number(rate->peak) + "; it is spent for the last " +
                                       per_cent(spent->spent_part) + " of the run"));
  seen.evidence.push_back(evidence(loss->name, static_cast<std::int64_t>(spent->works_until), loss->last_step,
                                   loss->end, promise->brief ? promise->then : promise->predicted,
                                   promise->brief ? "it fell by " + number(promise->gained) + " before that"
                                                  : "its decay at the working rate, from " + number(promise->then) +
                                                        " on, pointed to " + number(promise->predicted)));
  return seen;
}

}  // namespace

Finding learning_rate_spent() {
  return {
      "learning-rate-spent",
      "The learning rate is used up while the loss still had far to go",
      {Need::curve},
      kDoc,
      {{"fewest_points", 20, "values of the rate and of the loss needed to see a schedule"},
       {"spent_share", 0.02, "share of the peak below which a rate hardly moves anything"},
       {"stretch", 0.25, "last part of the run that must be spent; a cosine to 0 spends its last 9 %"},
       {"working_share", 0.3, "share of the peak above which the rate is at work"},
       {"plan_share", 0.4, "part of the run beyond which the last step of a step decay shows that it is for all of it"},
       {"promised_share", 0.1, "further gain promised, as a share of gain or level, for it to matter"},
       {"noise_units", 1, "noise levels of single values that the promised gain must exceed"},
       {"kept_share", 0.65, "share of the promise whose keeping acquits the schedule"},
       {"p_value", 0.01, "significance of a fall after the rate is spent"},
       {"standing_share", 0.05, "fall after the rate is spent, as a share of the gain, that still counts as standing"},
       {"brief_part", 0.7, "part of the run that must be spent when the rate was at work too briefly to predict from"},
       {"brief_units", 5, "noise levels by which the loss must have fallen before, in that case"},
       {"cut", 4, "factor by which a rate is cut at once"},
       {"early", 0.32, "part of the run within which a cut comes early; plans cut at a third or later"},
       {"early_steep", 0.45, "the same where the loss still fell steeply"},
       {"steep", 0.2, "fall within the window, as a share of the level, that is steep"},
       {"slower_planned", 20, "factor by which the descent must have slowed down then"},
       {"window", 0.12, "part of the run before the cut over which the loss must fall"},
       {"settles", 0.05, "part of the run after the cut in which the noise it takes away looks like a fall"},
       {"falling", 0.12, "fall within the window, as a share of the level, that is fast"},
       {"near_end", 0.2, "share of the first loss below which a cut came late enough"},
       {"slower", 12, "factor by which the descent slows down with the cut"},
       {"solved_share", 0.02, "share of the first loss below which it has arrived"}},
      check,
      JudgedBy::loss};
}

}  // namespace osler::catalogue
