// loss-too-slow: a steady descent so shallow that it will not get anywhere useful.
#include <algorithm>
#include <cmath>

#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loss falls steadily, without any sign of bending, and has hardly come anywhere: training is still in its first,
straight stretch when it should be in the long tail.

## Signature
A significant falling trend; the second half falls at least `straight` times as fast as the first (a healthy descent
bends: its second half is far slower) but not `picks_up` times as fast (it is only beginning); and the whole gain is
below `gain_share` of the first level.

## Why it matters
At this rate the budget ends before anything useful is reached. The usual reason is a learning rate far below what the
problem would bear.

## When it is harmless
A run that has only just begun (warm-up), and fine-tuning that has little to gain. A log that continues an earlier one
(its first step lies more than `continued` of its length from 0) shows only the tail and is not judged.

## References
- Smith 2018, A disciplined approach to neural network hyper-parameters: Part 1.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* loss = patient.training() != nullptr ? patient.training() : patient.validation();
  if (patient.adversarial() || patient.reinforcement()) return NotChecked{"the run is not judged by a plain loss"};
  if (loss == nullptr) return no_loss_to_check(patient);
  const std::size_t n = loss->size();
  if (n < settings["fewest_points"]) return NotChecked{"fewer than " + number(settings["fewest_points"]) + " points"};
  // A log that begins in the middle of a training shows its long tail, which is straight in every run.
  const double span = loss->curve.step.back() - loss->curve.step.front();
  if (static_cast<double>(loss->first_step) > settings["continued"] * span) {
    return NotChecked{"the log begins at " + at_step(loss->first_step) + ": the descent before it is not seen"};
  }
  const signal::Trend whole = signal::trend_of(loss->curve.step, loss->curve.value);
  if (!whole.falls(settings["p_value"]) || !(loss->start > 0)) return NotFound{};
  // What has risen above its start first, as a contrastive loss does while its queue fills, is not judged from there.
  if (loss->end > loss->start) return NotFound{};
  const double gain = -whole.change / loss->start;
  if (gain > settings["gain_share"] || gain < settings["least_gain"]) return NotFound{};

  const std::size_t half = n / 2;
  const signal::Trend first =
      signal::trend_of(std::span(loss->curve.step).first(half), std::span(loss->curve.value).first(half));
  const signal::Trend second =
      signal::trend_of(std::span(loss->curve.step).subspan(half), std::span(loss->curve.value).subspan(half));
  // Noise blurs both slopes: what it explains is no bend.
  const double steps = loss->curve.step[half] - loss->curve.step.front();
  const double blur =
      steps > 0 ? settings["blur"] * loss->noise.sigma * std::sqrt(12 / static_cast<double>(half)) / steps : 0;
  // A drop in the first points would hide in the first half's median slope.
  const double early_drop = loss->start - loss->course[std::min(n - 1, n / 10 + 1)];
  const bool straight =
      second.falls(settings["p_value"]) && first.slope < 0 &&
      second.slope < settings["straight"] * first.slope + blur &&
      second.slope > settings["picks_up"] * first.slope - blur &&
      early_drop < settings["early_share"] * loss->improvement() + settings["start_noise"] * loss->noise.sigma;
  if (!straight) return NotFound{};
  Observation seen =
      observe(Severity::warning, confidence_of(settings["gain_share"] / std::max(gain, 0.02)), loss->first_step,
              loss->last_step,
              loss->name + " falls steadily but has gained only " + per_cent(gain) + " in " +
                  number(loss->curve.points()) + " points: " + number(loss->start) + " to " + number(loss->end) + ".");
  seen.evidence.push_back(
      evidence(loss->name, loss->first_step, loss->last_step, gain, settings["gain_share"],
               "the second half falls " + times(second.slope / first.slope) + " as fast as the first"));
  return seen;
}

}  // namespace

Finding loss_too_slow() {
  return {"loss-too-slow",
          "The loss falls steadily but far too slowly",
          {Need::curve},
          kDoc,
          {{"fewest_points", 30, "points needed to tell a straight line from a bend"},
           {"p_value", 0.01, "significance of the descent"},
           {"gain_share", 0.25, "share of the first level that a useful run would have gained"},
           {"least_gain", 0.02, "below this nothing moved: that is loss-stuck-from-start"},
           {"straight", 0.6, "how fast the second half must fall against the first to count as straight"},
           {"picks_up", 1.7, "faster than this against the first half the descent is only beginning"},
           {"blur", 1, "standard errors of a slope that count as blur of its value"},
           {"continued", 1, "first step, in lengths of the log, from which on the log continues an earlier one"},
           {"start_noise", 1.5, "noise levels by which the first level may lie too high by chance"},
           {"early_share", 0.3, "share of the gain that may come in the first tenth"}},
          check};
}

}  // namespace osler::catalogue
