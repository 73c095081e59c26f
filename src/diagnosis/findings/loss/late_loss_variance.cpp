// late-loss-variance: the scatter of the loss grows late in training.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/set_up.h"
#include "diagnosis/evidence/solved.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "signal/noise.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
In healthy training the scatter of the loss from batch to batch shrinks, or stays, as the loss falls. Here it grows
towards the end.

## Signature
The noise of the last third is at least `growth` times that of the middle third (of few points more: what chance does is
exceeded by `standard_errors`), makes up at least `level_share` of the
level, and the loss does not fall meanwhile.

## Why it matters
The step has become too long for where the model now is: the curvature grew (sharpening) while the rate stayed.

## When it is harmless
Where nearly everything is solved, single samples that are not make the scatter. A warm restart or a rising rate makes it grow on purpose; a change of data or batch size does it once.

## References
- Cohen et al. 2021, edge of stability; Gilmer et al. 2022, A Loss Curvature Perspective on Training Instability.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* loss = patient.training();
  if (loss == nullptr) return no_loss_to_check(patient);
  const std::size_t n = loss->size();
  if (n < settings["fewest_points"]) return NotChecked{"fewer than " + number(settings["fewest_points"]) + " points"};
  if (few_single_batches(patient, *loss)) return NotChecked{"a few steps of single batches tell no scatter"};
  const auto values = std::span(loss->curve.value);
  const double middle = signal::difference_noise(values.subspan(n / 3, n / 3));
  const double late = signal::difference_noise(values.subspan(2 * n / 3));
  // Of few points a noise is known by half: so much may two of them differ by chance.
  constexpr double kOfLogRatio = 1.7;  // times the root of the points: the deviation of the logarithm of their ratio
  const std::size_t third = n / 3;
  const double chance = std::exp(settings["standard_errors"] * kOfLogRatio / std::sqrt(static_cast<double>(third)));
  const double growth = std::max(settings["growth"], chance);
  // Whether it matters is judged by single values, of which a point may hold many.
  const double spread = signal::median(std::span(loss->curve.variance).subspan(2 * n / 3));
  const double single = std::sqrt(late * late + spread);
  const bool positive = *std::min_element(loss->curve.low.begin(), loss->curve.low.end()) >= 0;
  const double gain = loss->top - loss->best;
  const double scale = std::max(positive ? std::abs(loss->end) : gain, settings["gain_share"] * gain);
  const auto tail_steps = std::span(loss->curve.step).subspan(2 * n / 3);
  const signal::Trend trend = signal::trend_of(tail_steps, values.subspan(2 * n / 3));
  const bool falls = trend.falls(0.05) && -trend.change > late;
  if (!std::isfinite(late) || late < growth * middle || single < settings["level_share"] * scale || falls ||
      middle == 0 || solved(patient)) {
    return NotFound{};
  }
  const std::int64_t since = loss->step_at(2 * n / 3);
  Observation seen = observe(Severity::warning, confidence_of(late / middle / growth), since, loss->last_step,
                             "The scatter of " + loss->name + " grew " + times(late / middle) +
                                 " from the middle to the " + "last third of the run, and the loss no longer falls.");
  seen.evidence.push_back(evidence(loss->name, since, loss->last_step, late, growth * middle,
                                   "noise " + number(late) + " late against " + number(middle) + " before"));
  return seen;
}

}  // namespace

Finding late_loss_variance() {
  return {"late-loss-variance",
          "The scatter of the loss grows late in training",
          {Need::curve},
          kDoc,
          {{"fewest_points", 36, "a third must hold enough points to estimate noise"},
           {"growth", 3.5, "factor by which the noise must grow"},
           {"standard_errors", 4, "by which the growth must exceed what chance does to so few points"},
           {"level_share", 0.05, "noise of single values as a share of the level that matters"},
           {"gain_share", 0.1, "share of the gain that stands for the level of a loss near zero"}},
          check,
          JudgedBy::loss};
}

}  // namespace osler::catalogue
