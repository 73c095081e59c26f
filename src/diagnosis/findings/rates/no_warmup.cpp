// no-warmup: full learning rate from the first step, and a rough start.
#include <algorithm>
#include <cmath>

#include "diagnosis/movement.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "diagnosis/rates.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The learning rate is at its peak from the first step on, and the first part of training is unstable: the loss leaps
above where it began before it settles.

## Signature
The first logged rate is at least `full_share` of the peak. Within the first `early` of the run at least `leaps` values
of the loss lie above its very first value, by more than `noise_units` noise units (measured right after the start,
where noise is largest), by more than the `tail` of what follows, and by more than `gain_share` of all that is gained later. Up to the middle one of these leaps at
least `above_share` of the values lie above the first. With `clear_leaps` leaps and `clear_share` of the values above it
is a warning, otherwise a note.

## Why it matters
Adaptive optimizers know the size of the gradients only after some hundred steps; attention at random weights has large
ones. Full steps in a wrong direction spoil the initialisation, and the model may never quite recover.

## When it is harmless
Convolutional networks under plain SGD start well without warm-up. One or two higher values right after the start are
ordinary. Fine-tuning at a small rate needs none.

## References
- Vaswani et al. 2017, Attention Is All You Need.
- Goyal et al. 2017, Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour.
- Liu et al. 2020, On the Variance of the Adaptive Learning Rate and Beyond.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* loss = patient.training();
  if (loss == nullptr) return no_loss_to_check(patient);
  const auto rate = main_rate(patient);
  if (!rate) return NotChecked{"no learning rate above 0 in the log"};
  const signal::Curve curve = close_up(patient, *loss);
  const double span = curve.empty() ? 0 : curve.step.back() - curve.step.front();
  const auto early = static_cast<std::size_t>(std::count_if(curve.step.begin(), curve.step.end(), [&](double step) {
    return step <= curve.step.front() + settings["early"] * span;
  }));
  if (static_cast<double>(early) < settings["fewest_early"]) {
    return NotChecked{"fewer than " + number(settings["fewest_early"]) + " losses in the first " +
                      per_cent(settings["early"]) + " of the run"};
  }
  const bool from_the_start = static_cast<double>(rate->first_step) <= curve.step.front() + settings["early"] * span;
  if (!from_the_start) return NotChecked{"the learning rate of the first steps is not in the log"};
  if (rate->first < settings["full_share"] * rate->peak) return NotFound{};

  const std::span<const double> settled = std::span(curve.value).subspan(curve.size() / 2);
  // The noise right after the start, where it is largest; a single first value may lie anywhere within it.
  const std::span<const double> next = std::span(curve.value).subspan(early, std::min(2 * early, curve.size() - early));
  const double sigma = std::max(signal::noise_of(settled).sigma, signal::noise_of(next).sigma);
  // In a long log the first point of the curve already stands for several values, and the first value alone has the
  // scatter of a single one.
  constexpr double kByChance = 2;
  const auto after = std::span(curve.variance).subspan(early, next.size());
  const double single = after.empty() ? 0 : std::sqrt(signal::median(after));
  const double start = std::max(first_value(patient, *loss) + kByChance * single, signal::median(next));
  const double gain = start - loss->best;
  // Single samples scatter with long tails: a leap must also be higher than what comes right after the start.
  const double usual = next.empty() ? start : signal::quantile(next, settings["tail"]);
  const double limit =
      std::max(usual, start + std::max(settings["noise_units"] * sigma, settings["gain_share"] * std::max(gain, 0.0)));
  const std::span<const double> rough = std::span(curve.value).first(early);
  const auto leaps = std::count_if(rough.begin(), rough.end(), [&](double value) { return value > limit; });
  // Where the first value lies within the scatter of those that follow, the scatter is noise and not a leap. Judged up
  // to the middle leap, since the descent soon takes the curve below its start.
  std::size_t middle = 0;
  for (std::ptrdiff_t left = (leaps + 1) / 2; left > 0 && middle + 1 < early;) left -= rough[++middle] > limit ? 1 : 0;
  const auto above = std::count_if(rough.begin() + 1, rough.begin() + static_cast<std::ptrdiff_t>(middle) + 1,
                                   [&](double value) { return value > start; });
  const double share = static_cast<double>(above) / static_cast<double>(std::max<std::size_t>(middle, 1));
  const bool settles = signal::median(settled) < start;
  const auto count = static_cast<double>(leaps);
  if (count < settings["leaps"] || share < settings["above_share"] || !settles || !(gain > 0)) return NotFound{};
  const bool clear = count >= settings["clear_leaps"] && share >= settings["clear_share"];

  const double highest = *std::max_element(rough.begin(), rough.end());
  const auto until = std::llround(curve.step[early - 1]);
  Observation seen =
      observe(clear ? Severity::warning : Severity::note, confidence_of((highest - start) / (limit - start)),
              loss->first_step, until,
              rate->name + " is at its full " + number(rate->peak) + " from the first step, and " + loss->name +
                  " leaps from " + number(start) + " to " + number(highest) + " before it settles.");
  seen.evidence.push_back(evidence(loss->name, loss->first_step, until, highest, limit,
                                   std::to_string(leaps) + " of the first " + std::to_string(early) +
                                       " values lie above " + number(limit) + ", the first was " + number(start)));
  return seen;
}

}  // namespace

Finding no_warmup() {
  return {
      "no-warmup",
      "Full learning rate from the first step, with a rough start",
      {Need::curve, Need::live},
      kDoc,
      {{"early", 0.08, "part of the run in which an instability belongs to the start (seeds: warm-up of 5 to 10 %)"},
       {"fewest_early", 6, "losses in that part needed to judge it"},
       {"full_share", 0.9, "share of the peak that the first rate must have"},
       {"leaps", 3, "values above the first that it takes; one or two are ordinary"},
       {"above_share", 0.6,
        "share of the values up to the middle leap that lie above the first; among noise it is half"},
       {"clear_leaps", 8, "leaps that make it a warning"},
       {"clear_share", 0.9, "share of the values above the first that makes it a warning"},
       {"noise_units", 6, "noise levels that a leap must exceed"},
       {"tail", 0.98, "quantile of the losses right after the start that a leap must exceed"},
       {"gain_share", 0.15, "share of the whole gain that a leap must exceed"}},
      check,
      JudgedBy::loss};
}

}  // namespace osler::catalogue
