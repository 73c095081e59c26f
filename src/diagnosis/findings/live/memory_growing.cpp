// memory-growing: resident memory grows without bound.
#include "diagnosis/layers.h"
#include "diagnosis/recorded.h"
#include "run/series_names.h"
#include "signal/trend.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The resident memory of the process grows step after step.

## Signature
It grows significantly over the second half of the run, by more than `growth` of its size there and more than `bytes`.

## Why it matters
Sooner or later the process is killed. A loss that is summed up with its graph, or outputs kept in a list, does this.

## When it is harmless
Caches that fill up once, and a data set that is read into memory during the first epoch: the first half does not count.

## References
- Paszke et al. 2019, PyTorch: An Imperative Style, High-Performance Deep Learning Library.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto memory = recorded(patient, series_name::kMemoryResident);
  if (!memory || memory->points < settings["fewest"]) {
    return NotChecked{"too few looks at the memory: the monitor in the training process takes them"};
  }
  const signal::Curve curve = layer_curve(*patient.run().find(memory->series));
  const std::size_t half = curve.size() / 2;
  const auto steps = std::span(curve.step).subspan(half);
  const auto values = std::span(curve.value).subspan(half);
  const signal::Trend trend = signal::trend_of(steps, values);
  const double grown = trend.slope * (steps.back() - steps.front());
  const bool matters = grown > settings["growth"] * values.front() && grown > settings["bytes"];
  if (!matters || trend.p_value > settings["p"]) return NotFound{};
  constexpr double kMegabyte = 1e6;
  Observation seen =
      observe(Severity::warning, confidence_of(grown / (settings["growth"] * values.front())), memory->first_step,
              memory->last_step,
              "Resident memory grew by " + number(grown / kMegabyte) + " MB over the second half of the run, to " +
                  number(memory->last / kMegabyte) + " MB.");
  seen.evidence.push_back(evidence(memory->series, memory->first_step, memory->last_step, grown, settings["bytes"],
                                   number(trend.slope) + " bytes with each step"));
  return seen;
}

}  // namespace

Finding memory_growing() {
  return {"memory-growing",
          "Memory grows without bound",
          {Need::live},
          kDoc,
          {{"growth", 0.1, "growth over the second half, as a share of its size"},
           {"bytes", 3e7, "growth that no allocator's habits explain"},
           {"p", 0.01, "significance of the growth"},
           {"fewest", 12, "looks needed to speak of growth"}},
          check};
}

}  // namespace osler::catalogue
