// part-of-loss-dead: one of the parts that add up to the loss is exactly zero while the others move.
#include <algorithm>
#include <cmath>
#include <string>

#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loss is a sum of parts (box, objectness, mask, classification), and one of them has become exactly zero: nothing takes
part in it any more.

## Signature
A part that was above zero in at least `alive_share` of the run is exactly zero for the last `dead_share` of it and at
least `fewest_points` values, while another part is not; and no validation metric improves meanwhile.

## Why it matters
A part without targets is learned by nobody: no anchor is matched, every mask is empty, a term was switched off by a
filter. The total still falls, by what is left of it.

## When it is harmless
A term that is zero from the first step on may be so by construction: the classification loss of a detector with a single
class. A term that a schedule switches off on purpose is meant.

## References
- Lin et al. 2017, Focal Loss for Dense Object Detection: too few positives.
)";

struct Part {
  Reading reading;
  double zero_share = 0;   ///< of the points, at the end of the run and without a break
  double alive_share = 0;  ///< of the points, above zero
};

Part part_of(const Cast& cast) {
  Part part{read_series(*cast.series, false), 0, 0};
  const auto& curve = part.reading.curve;
  const auto points = static_cast<double>(curve.size());
  std::size_t zeros = 0;
  while (zeros < curve.size() && curve.high[curve.size() - 1 - zeros] == 0 && curve.low[curve.size() - 1 - zeros] == 0)
    ++zeros;
  part.zero_share = static_cast<double>(zeros) / points;
  part.alive_share =
      static_cast<double>(std::count_if(curve.high.begin(), curve.high.end(), [](double v) { return v > 0; })) / points;
  return part;
}

bool metric_improves_since(const Patient& patient, double step) {
  const auto& metrics = patient.validation_quality();
  return std::any_of(metrics.begin(), metrics.end(), [&](const Reading& metric) {
    if (metric.size() < 4) return false;
    const std::size_t from = metric.index_at(step);
    const double before = metric.smoothed[from];
    return before - metric.end > 2 * metric.noise.sigma && before - metric.end > 0.05 * metric.level;
  });
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  std::vector<Part> parts;
  for (const Cast& cast : patient.roles().in(Role::train_loss)) {
    const auto total = cast.series->summary().total();
    if (!cast.guess.component || !total || total->count < settings["fewest_points"]) continue;
    parts.push_back(part_of(cast));
  }
  if (parts.size() < 2) return NotChecked{"fewer than two parts of a loss"};
  const bool others = std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.zero_share == 0; });
  for (const Part& part : parts) {
    const Reading& loss = part.reading;
    const auto zeros = part.zero_share * static_cast<double>(loss.size());
    if (!others || part.zero_share < settings["dead_share"] || zeros < settings["fewest_points"] ||
        part.alive_share < settings["alive_share"]) {
      continue;
    }
    const std::size_t at = loss.size() - static_cast<std::size_t>(std::lround(zeros));
    const std::int64_t since = loss.step_at(at);
    if (metric_improves_since(patient, static_cast<double>(since))) continue;
    Observation seen =
        observe(Severity::warning, confidence_of(2 * part.zero_share / settings["dead_share"]), since, loss.last_step,
                loss.name + " is exactly zero since " + at_step(since) + " while other parts of the loss are not.");
    seen.evidence.push_back(evidence(loss.name, since, loss.last_step, 0, loss.start,
                                     "it began at " + number(loss.start) + "; zero means that no target takes part"));
    return seen;
  }
  return NotFound{};
}

}  // namespace

Finding part_of_loss_dead() {
  return {.id = "part-of-loss-dead",
          .title = "One part of the loss is exactly zero",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 8, "values of a part, and zeros in a row, that are needed"},
                       {"alive_share", 0.1, "share of the run in which the part was above zero"},
                       {"dead_share", 0.25, "last share of the run in which it is zero"}},
          .check = check};
}

}  // namespace osler::catalogue
