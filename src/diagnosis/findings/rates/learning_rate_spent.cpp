// learning-rate-spent: the schedule took the rate away while the loss still had far to go.
#include <algorithm>
#include <cmath>

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
exponential, fitted to that part alone) lies clearly lower: by `promised_share` of what had been gained and `noise_units`
noise units. Of this promise less than `kept_share` was kept, and since the rate is spent the loss stands still.

## Why it matters
The rest of the run is computed for nothing. A schedule that is as long as the run would have used it.

## When it is harmless
A schedule that ends where training ends is as it should be. Step decays come after the loss has levelled out, and lower
it once more; a rate that is lowered because of a plateau is an answer to it, not its reason. A loss near zero has
arrived.

## References
- Loshchilov and Hutter 2017, SGDR: Stochastic Gradient Descent with Warm Restarts.
- Hoffmann et al. 2022, Training Compute-Optimal Large Language Models: the length of the cosine must fit the run.
)";

/// Where the rate works and where it is spent, in steps.
struct Course {
  double works_from = 0;
  double works_until = 0;
  double spent_since = 0;
  double spent_part = 0;  // of the whole run
  double left = 0;        // the rate now, as a share of the peak
};

std::optional<Course> course_of(const RateCurve& rate, double last_step, const SettingValues& settings) {
  const std::vector<double>& value = rate.curve.value;
  const std::vector<double>& step = rate.curve.step;
  std::size_t spent = value.size();
  while (spent > 0 && value[spent - 1] <= settings["spent_share"] * rate.peak) --spent;
  if (spent == value.size() || spent == 0) return std::nullopt;
  const auto works = [&](double now) { return now >= settings["working_share"] * rate.peak; };
  const auto first = std::find_if(value.begin(), value.end(), works);
  std::size_t last = spent;
  while (last > 0 && !works(value[last - 1])) --last;
  if (first == value.end() || last == 0) return std::nullopt;
  Course course;
  course.works_from = step[static_cast<std::size_t>(first - value.begin())];
  course.works_until = step[last - 1];
  course.spent_since = step[spent];
  course.spent_part = (last_step - step[spent]) / std::max(last_step - step.front(), 1.0);
  course.left = value.back() / rate.peak;
  return course;
}

struct Promise {
  double then = 0;       // level of the loss when the rate stopped working
  double predicted = 0;  // at the end of the run, by the decay until then
  double gained = 0;     // until then
  double sigma = 0;
};

/// What the decay under a working rate promised for the end of the run.
std::optional<Promise> promise_of(const signal::Curve& loss, const Course& course) {
  std::vector<double> steps;
  std::vector<double> values;
  for (std::size_t i = 0; i < loss.size(); ++i) {
    if (loss.step[i] < course.works_from || loss.step[i] > course.works_until) continue;
    steps.push_back(loss.step[i]);
    values.push_back(loss.value[i]);
  }
  // Lone spikes would bend the fit.
  values = signal::running_median(values, values.size() < 24 ? 0 : 1);
  const auto forecast = signal::forecast_of(steps, values);
  if (!forecast) return std::nullopt;
  Promise promise;
  const std::size_t end = std::max<std::size_t>(1, values.size() / 8);
  promise.then = signal::median(std::span(values).last(end));
  promise.gained = signal::median(std::span(values).first(std::max<std::size_t>(1, end / 2))) - promise.then;
  promise.predicted = forecast->at(loss.step.back() - steps.front());
  promise.sigma = std::max(signal::noise_of(values).sigma, forecast->residual);
  return promise;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (patient.adversarial() || patient.reinforcement()) {
    return NotChecked{"the course of these losses promises nothing: networks play against each other or for a reward"};
  }
  const Reading* loss = patient.training();
  if (loss == nullptr) return no_loss_to_check(patient);
  const auto rate = main_rate(patient);
  if (!rate) return NotChecked{"no learning rate above 0 in the log"};
  if (rate->curve.points() < settings["fewest_points"] || loss->size() < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " values of the rate or of the loss"};
  }
  const auto course = course_of(*rate, loss->curve.step.back(), settings);
  if (!course || course->spent_part < settings["stretch"]) return NotFound{};
  const bool arrived = loss->best >= 0 && loss->end < settings["solved_share"] * loss->start;
  const auto promise = promise_of(close_up(patient, *loss), *course);
  if (!promise || arrived) return NotFound{};

  const double promised = promise->then - promise->predicted;
  const double kept = promise->then - loss->end;
  const double least = std::max(settings["promised_share"] * promise->gained, settings["noise_units"] * promise->sigma);
  const std::size_t since = loss->index_at(course->spent_since);
  const Movement after = movement_of(*loss, since, loss->size());
  const bool stands = !after.falls(settings["p_value"], settings["standing_share"] * promise->gained);
  if (promised < least || promise->gained <= 0 || kept > settings["kept_share"] * promised || !stands) {
    return NotFound{};
  }

  const auto from = static_cast<std::int64_t>(course->spent_since);
  Observation seen = observe(Severity::warning, confidence_of(promised / least), from, loss->last_step,
                             rate->name + " has been below " + per_cent(settings["spent_share"]) +
                                 " of its peak since " + at_step(from) + ", and " + loss->name + " has stood at " +
                                 number(loss->end) + " since, though it was still falling before.");
  seen.evidence.push_back(evidence(rate->name, from, rate->last_step, course->left, settings["spent_share"],
                                   "the rate is " + number(course->left * rate->peak) + ", its peak was " +
                                       number(rate->peak) + "; it is spent for the last " +
                                       per_cent(course->spent_part) + " of the run"));
  seen.evidence.push_back(evidence(loss->name, static_cast<std::int64_t>(course->works_until), loss->last_step,
                                   loss->end, promise->predicted,
                                   "its decay at the working rate, from " + number(promise->then) + " on, pointed to " +
                                       number(promise->predicted)));
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
       {"promised_share", 0.1, "further gain promised, as a share of the gain so far, for it to matter"},
       {"noise_units", 2, "noise levels that the promised gain must exceed"},
       {"kept_share", 0.65, "share of the promise whose keeping acquits the schedule"},
       {"p_value", 0.01, "significance of a fall after the rate is spent"},
       {"standing_share", 0.05, "fall after the rate is spent, as a share of the gain, that still counts as standing"},
       {"solved_share", 0.05, "share of the first loss below which it has arrived"}},
      check};
}

}  // namespace osler::catalogue
