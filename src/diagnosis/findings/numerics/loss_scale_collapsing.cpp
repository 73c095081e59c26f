// loss-scale-collapsing: the loss scale of mixed precision keeps falling.
#include <algorithm>
#include <cmath>

#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Mixed-precision training multiplies the loss so that small gradients survive in half precision. The scale is halved
whenever a gradient overflows; here it is halved again and again and never recovers.

## Signature
A scale that was once above `dynamic` sits at `bottom` or below for the last `stretch` of the run: critical. Or over the
second half it is halved at least `halvings` times on balance, and not doubled once in `quiet` of that time at the end:
a warning.

## Why it matters
Every halving is a skipped step. At a scale of 1 gradients below 6e-8 are lost, and overflow goes on: something in the
network is beyond the range of half precision, and NaN is next.

## When it is harmless
The first steps search for a workable scale and may halve it a dozen times. Then it doubles every few thousand steps and
is halved now and then. A scale that is 1 from the start means that scaling is off.

## References
- Micikevicius et al. 2018, Mixed Precision Training.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Series* series = patient.roles().first(Role::loss_scale);
  if (series == nullptr) return NotChecked{"no loss scale in the log"};
  const signal::Curve scale = signal::curve_of(series->summary(), SummaryLimits{}.buckets);
  const std::size_t n = scale.size();
  if (scale.points() < settings["fewest_points"] || n < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " values of the loss scale"};
  }
  const double highest = *std::max_element(scale.high.begin(), scale.high.end());
  if (highest < settings["dynamic"]) return NotFound{};
  const Bucket total = *series->summary().total();

  std::size_t bottom = n;
  while (bottom > 0 && scale.high[bottom - 1] <= settings["bottom"]) --bottom;
  const double end = signal::median(std::span(scale.value).last(std::max<std::size_t>(1, n / 20)));
  const double middle = signal::median(std::span(scale.value).subspan(n / 2, std::max<std::size_t>(1, n / 20)));
  const double halvings = std::log2(std::max(middle, 1e-300) / std::max(end, 1e-300));
  std::size_t rise = n - 1;
  while (rise > 0 && scale.value[rise] <= scale.value[rise - 1]) --rise;
  const bool collapsed = static_cast<double>(n - bottom) >= std::max(3.0, settings["stretch"] * static_cast<double>(n));
  const bool falling =
      halvings >= settings["halvings"] && static_cast<double>(n - rise) > settings["quiet"] * static_cast<double>(n);
  if (!collapsed && !falling) return NotFound{};

  std::size_t since = collapsed ? bottom : n - 1;
  while (since > 0 && scale.value[since - 1] >= scale.value[since] && scale.value[since - 1] < highest) --since;
  const std::int64_t from = std::llround(scale.step[since]);
  Observation seen = observe(collapsed ? Severity::critical : Severity::warning,
                             collapsed ? 0.95 : confidence_of(halvings / settings["halvings"]), from, total.last_step,
                             series->name() + " fell from " + number(highest) + " to " + number(end) +
                                 (collapsed ? ", its lowest, and stays there." : " and keeps falling."));
  seen.evidence.push_back(evidence(series->name(), from, total.last_step, end, settings["bottom"],
                                   number(std::log2(highest / std::max(end, 1e-300))) + " halvings from its highest, " +
                                       number(halvings) + " of them in the second half"));
  return seen;
}

}  // namespace

Finding loss_scale_collapsing() {
  return {"loss-scale-collapsing",
          "The loss scale keeps falling",
          {Need::curve, Need::live},
          kDoc,
          {{"fewest_points", 10, "values of the scale needed to see where it goes"},
           {"dynamic", 16, "scale that must have been reached for scaling to be in use"},
           {"bottom", 1, "scale at which nothing is scaled any more"},
           {"stretch", 0.05, "last part of the run that it must stay there"},
           {"halvings", 4, "net halvings over the second half that count as falling; a balanced scale has about none"},
           {"quiet", 0.2, "last part of the run without any doubling"}},
          check};
}

}  // namespace osler::catalogue
