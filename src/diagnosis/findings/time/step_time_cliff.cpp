// step-time-cliff: from some step on every step takes several times as long.
#include <algorithm>
#include <cmath>

#include "diagnosis/observe.h"
#include "diagnosis/pace.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Steps become several times slower at one point of the run and stay slow.

## Signature
One change point splits the logarithm of the step time into two levels: the later is at least `factor` times the
earlier, nine tenths of the later times exceed nine tenths of the earlier ones, and both parts have `fewest_points`
values. It is a warning when the log measures step times or throughput and the factor reaches `warn_factor`; with the
clock of the log's lines alone, or below that factor, a note.

## Why it matters
The run costs a multiple of what was planned. Usual reasons: memory is full and swaps or fragments, the data loader fell
behind, another job shares the machine, a debug option was left on, the processor throttles.

## When it is harmless
The first steps are slow while kernels are compiled; evaluations and checkpoints are slow one by one. Longer sequences
or larger images later in a curriculum take longer by design.

## References
- Mohan et al. 2021, Analyzing and Mitigating Data Stalls in DNN Training.
)";

/// The split of `values` into two constant parts with the least squares, each of at least `fewest` values.
std::size_t best_split(const std::vector<double>& values, std::size_t fewest) {
  const std::size_t n = values.size();
  std::vector<double> sum(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) sum[i + 1] = sum[i] + values[i];
  std::size_t best = fewest;
  double largest = -1;
  for (std::size_t split = fewest; split + fewest <= n; ++split) {
    // Between-group squares; the total is fixed, so the largest leaves the least within.
    const auto left = static_cast<double>(split);
    const auto right = static_cast<double>(n - split);
    const double difference = sum[split] / left - (sum[n] - sum[split]) / right;
    const double between = left * right * difference * difference;
    if (between > largest) {
      largest = between;
      best = split;
    }
  }
  return best;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto pace = pace_of(patient);
  if (!pace) return NotChecked{"no step times, throughput or wall times in the log"};
  const auto fewest = static_cast<std::size_t>(settings["fewest_points"]);
  if (pace->seconds.size() < 2 * fewest) {
    return NotChecked{"fewer than " + number(2 * settings["fewest_points"]) + " step times"};
  }
  // Single slow steps (an evaluation, a checkpoint) must not pull the split to themselves.
  std::vector<double> level = signal::running_median(pace->seconds, 2);
  for (double& value : level) value = std::log(value);
  const std::size_t split = best_split(level, fewest);
  const auto before = std::span(pace->seconds).first(split);
  const auto after = std::span(pace->seconds).subspan(split);
  const double usual = signal::median(before);
  const double slow = signal::median(after);
  const double factor = slow / usual;
  const bool apart = signal::quantile(after, 0.1) > signal::quantile(before, 0.9);
  if (factor < settings["factor"] || !apart) return NotFound{};

  const std::int64_t since = std::llround(pace->step[split]);
  const bool serious = pace->measured && factor >= settings["warn_factor"];
  const std::string unit = pace->measured ? "" : " s";
  Observation seen = observe(serious ? Severity::warning : Severity::note, confidence_of(factor / settings["factor"]),
                             since, pace->last_step,
                             "Steps take " + times(factor) + " as long since " + at_step(since) + ": " + number(slow) +
                                 unit + " instead of " + number(usual) + unit + ".");
  seen.evidence.push_back(evidence(pace->series, since, pace->last_step, slow, settings["factor"] * usual,
                                   "median " + number(usual) + unit + " before and " + number(slow) + unit +
                                       " after, " + (pace->measured ? "as logged" : "by the clock of the log")));
  return seen;
}

}  // namespace

Finding step_time_cliff() {
  return {"step-time-cliff",
          "Steps become several times slower",
          {Need::curve, Need::live},
          kDoc,
          {{"fewest_points", 8, "step times needed before and after the change"},
           {"factor", 2, "slowdown that is worth a word"},
           {"warn_factor", 3, "slowdown that is a warning"}},
          check,
          JudgedBy::loss};
}

}  // namespace osler::catalogue
