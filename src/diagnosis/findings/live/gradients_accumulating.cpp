// gradients-accumulating: gradients are never cleared.
#include <algorithm>
#include <cmath>
#include <optional>

#include "diagnosis/recorded.h"
#include "run/series_names.h"
#include "signal/noise.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Each step's gradient contains all the gradients before it: nobody clears them.

## Signature
The monitor projects each gradient on the one before: when the earlier one is wholly contained, the projection is at
least about 1, step after step. Found when the median is above `carried` and at least `share` of the values are, and the
gradient norm has grown to more than `growth` times its first level, and to `root` of what a sum of independent gradients
would have reached by then, the root of the steps: large batches, short steps and the critic of a GAN also give one gradient
like the other, but hardly larger ones. From a plain log: the gradient norm grows with a power of the step of at least
`slowest`, steadily (`order`), from the first step on, to `times` its first level; or it has grown to `calm_times` its
first value and hardly differs from one step to the next, while the losses of the batches do: a sum over hundreds of
batches does not feel the newest one. Or the norm is as large as ever and as calm, while `gone` is all that is left of
the loss: a gradient ends with its loss, a sum of gradients stays.

## Why it matters
The optimizer steps along the sum of all gradients since the start: training behaves like a momentum of 1 and runs away.

## When it is harmless
Accumulating a few batches on purpose before each step: call the monitor once per optimizer step.

## References
- Karpathy 2019, A Recipe for Training Neural Networks.
)";

/// The norm grows in proportion to the step, from the first one on: a sum of gradients does, a gradient does not.
std::optional<Observation> grows_with_steps(const Reading& norm, const SettingValues& settings) {
  const std::size_t n = norm.size();
  if (n < settings["fewest_norms"]) return std::nullopt;
  std::vector<double> steps;
  std::vector<double> sizes;
  for (std::size_t i = 0; i < n; ++i) {
    const double done = norm.curve.step[i] - norm.curve.step.front() + 1;
    if (!(norm.curve.value[i] > 0)) return std::nullopt;
    steps.push_back(std::log(done));
    sizes.push_back(std::log(norm.curve.value[i]));
  }
  const signal::Trend trend = signal::trend_of(steps, sizes);
  const double early = signal::median(std::span(norm.curve.value).first(std::max<std::size_t>(2, n / 20)));
  const double late = signal::median(std::span(norm.curve.value).last(std::max<std::size_t>(3, n / 10)));
  const std::size_t half = n / 2;
  const signal::Trend second =
      signal::trend_of(std::span<const double>(steps).subspan(half), std::span<const double>(sizes).subspan(half));
  // A sum grows fastest at first; what grows by a constant factor hardly moves then.
  const signal::Trend first =
      signal::trend_of(std::span<const double>(steps).first(n / 4), std::span<const double>(sizes).first(n / 4));
  const bool steady = first.slope > settings["slowest"] && trend.tau > settings["order"] &&
                      trend.slope > settings["slowest"] && second.slope > settings["slowest"] / 2 &&
                      second.slope < settings["fastest"];
  if (!steady || late < settings["times"] * early) return std::nullopt;
  Observation seen =
      observe(Severity::warning, confidence_of(late / (settings["times"] * early) + 1), norm.first_step, norm.last_step,
              norm.name + " grows with the number of steps, from " + number(early) + " to " + number(late) +
                  ": gradients are summed up and never cleared.");
  seen.evidence.push_back(evidence(norm.name, norm.first_step, norm.last_step, trend.slope, 1,
                                   "it grows as the step to the power of " + number(trend.slope) + ", in " +
                                       per_cent((1 + trend.tau) / 2) + " of all pairs"));
  return seen;
}

/// The norm has grown and is far calmer than the batches: each one adds little to a sum of many.
std::optional<Observation> deaf_to_batches(const Reading& norm, const Reading& loss, const SettingValues& settings) {
  const std::size_t n = norm.size();
  if (n < settings["fewest_calm"] || loss.size() < settings["fewest_calm"] || loss.negated) return std::nullopt;
  std::vector<double> sizes;
  for (const double value : norm.curve.value) {
    if (!(value > 0)) return std::nullopt;
    sizes.push_back(std::log(value));
  }
  const double late = signal::median(std::span(norm.curve.value).last(n / 4));
  const double calm = signal::difference_noise(std::span<const double>(sizes).subspan(n / 2));
  const auto later = std::span(loss.curve.value).subspan(loss.size() / 2);
  const double level = std::abs(signal::median(later));
  const double batches = level > 0 ? signal::difference_noise(later) / level : 0;
  if (late < settings["calm_times"] * norm.opening || calm > settings["calm"] || batches < settings["batches"] ||
      calm > settings["deaf"] * batches) {
    return std::nullopt;
  }
  Observation seen =
      observe(Severity::warning, confidence_of(settings["deaf"] * batches / std::max(calm, 1e-3)), norm.first_step,
              norm.last_step,
              norm.name + " has grown from " + number(norm.opening) + " to " + number(late) + " and changes by " +
                  per_cent(calm) + " from one value to the next while " + loss.name + " scatters by " +
                  per_cent(batches) + ": gradients are summed up and never cleared.");
  seen.evidence.push_back(evidence(norm.name, norm.first_step, norm.last_step, calm, settings["calm"],
                                   "a gradient of single batches would scatter as the losses do"));
  return seen;
}

/// The loss is all but gone and the norm is not: the gradient of a loss that ends in nothing ends with it.
std::optional<Observation> outlives_the_loss(const Reading& norm, const Reading& loss, const SettingValues& settings) {
  const std::size_t n = norm.size();
  if (n < settings["fewest_calm"] || loss.negated || loss.nonfinite > 0 || !(loss.start > 0) || loss.best < 0 ||
      loss.end > settings["gone"] * loss.start) {
    return std::nullopt;
  }
  const std::span<const double> last = std::span(norm.curve.value).last(n / 4);
  const double late = signal::median(last);
  // What clipping holds is the same to the last digit.
  const bool held = std::all_of(last.begin(), last.end(), [&](double value) { return value == last.front(); });
  if (late < norm.opening || held || signal::difference_noise(last) > settings["calm"] * late) return std::nullopt;
  const std::string left = norm.name + " is " + number(late) + " at the end, " + number(norm.opening) +
                           " at the start, though " + loss.name + " fell from " + number(loss.start) + " to " +
                           number(loss.end);
  Observation seen =
      observe(Severity::warning, confidence_of(settings["gone"] * loss.start / std::max(loss.end, 1e-30)),
              norm.first_step, norm.last_step, left + ": gradients are summed up and never cleared.");
  seen.evidence.push_back(evidence(norm.name, norm.first_step, norm.last_step, late / norm.opening, 1,
                                   "the gradient of a loss that is all but gone is small"));
  return seen;
}

/// Whether the norm has become as large as a sum of all gradients so far would be.
bool grows_like_a_sum(const Reading& norm, const SettingValues& settings) {
  if (norm.curve.empty() || norm.nonfinite > 0) return true;
  if (norm.top <= settings["growth"] * norm.start) return false;
  const auto highest = std::max_element(norm.curve.value.begin(), norm.curve.value.end());
  const double steps =
      norm.curve.step[static_cast<std::size_t>(highest - norm.curve.value.begin())] - norm.curve.step[0];
  return norm.top > settings["root"] * std::sqrt(steps) * norm.start;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  // A monitor that runs the whole step clears them itself.
  const auto cleared = recorded(patient, series_name::kCheckGradientsCleared);
  if (cleared && cleared->last > 0) return NotFound{};
  const Reading* logged = patient.gradient_norm();
  if (logged != nullptr) {
    if (auto seen = grows_with_steps(*logged, settings)) return std::move(*seen);
    const Reading* loss = patient.training();
    if (loss != nullptr && !patient.reinforcement()) {
      if (auto seen = deaf_to_batches(*logged, *loss, settings)) return std::move(*seen);
      if (auto seen = outlives_the_loss(*logged, *loss, settings)) return std::move(*seen);
    }
  }
  const auto carried = recorded(patient, series_name::kCheckGradientsCarried);
  if (!carried || carried->points < settings["fewest"]) {
    if (logged != nullptr && logged->size() >= settings["fewest_norms"]) return NotFound{};
    return NotChecked{"consecutive gradients were not compared: the monitor in the training process does that"};
  }
  const double share = share_above(patient, *carried, settings["carried"]);
  if (carried->late < settings["carried"] || share < settings["share"]) return NotFound{};
  if (logged != nullptr && !grows_like_a_sum(*logged, settings)) return NotFound{};
  Observation seen = observe(Severity::warning, 0.9, carried->first_step, carried->last_step,
                             "Each gradient contains the one before it: gradients are never cleared.");
  seen.evidence.push_back(evidence(carried->series, carried->first_step, carried->last_step, carried->late,
                                   settings["carried"], "median share of the earlier gradient in the later one"));
  return seen;
}

}  // namespace

Finding gradients_accumulating() {
  return {"gradients-accumulating",
          "Gradients are never cleared",
          {Need::curve, Need::live},
          kDoc,
          {{"gone", 1e-3, "share of its start that is left of a loss whose gradient must have shrunk with it"},
           {"carried", 0.9,
            "share of the earlier gradient in the later one; independent batches have well below this once training is "
            "under way"},
           {"growth", 3, "times its first level that the gradient norm must have reached; sums of a few gradients do"},
           {"root", 0.5,
            "times the root of the steps that the norm must have grown by; sums in seven trainings of ours reached 1.7 "
            "to 54 times it, generators and critics that are no sums 0.3"},
           {"share", 0.8, "share of the comparisons in which it must be so"},
           {"fewest_norms", 12, "gradient norms needed to see how they grow"},
           {"order", 0.7, "Kendall's tau of norm and step; a norm that grows for other reasons wanders"},
           {"slowest", 0.45, "power of the step with which a sum of gradients grows at least: random ones give 0.5"},
           {"fastest", 1.6, "power beyond which it is no sum: a signal that explodes grows ever faster"},
           {"times", 5, "growth over the run below which it may be anything"},
           {"fewest_calm", 20, "norms and losses needed to see how they scatter"},
           {"calm_times", 4, "growth that such a calm norm must show"},
           {"calm", 0.1, "change of the norm from one value to the next, as a share, of a sum over many batches"},
           {"batches", 0.05, "scatter of the losses, as a share of their level, that shows that batches differ"},
           {"deaf", 0.4, "share of that scatter which the norm may have"},
           {"fewest", 5, "comparisons of successive steps needed to judge"}},
          check};
}

}  // namespace osler::catalogue
