// loss-spikes: isolated jumps of the loss that recover.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "diagnosis/evidence/solved.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"
#include "signal/spikes.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loss jumps far above its trend and comes back. Once is an accident; again and again is a fault in the data or a
step that is only just stable.

## Signature
A value at least `score` noise units above the running median and at least `height` of the level there, beyond `tail`
times the reach of the ordinary upward scatter (in long curves also `far_tail` times its 97th percentile, unless the
spikes are regular). In the first `settle` of the run only jumps of `dramatic` times the first level count. The
qualifier `period` gives the gap when at least four spikes are regular. A loss that has gained and then lies above
`excursion` times its first level for `stays` points on end counts as well.

## Why it matters
Each spike costs the steps until recovery, and the largest may not recover. A period that matches the epoch, a shard or
a checkpoint names the culprit.

## When it is harmless
Losses of single small batches have long tails; a value that such a tail explains is not a spike, and where the loss
ordinarily scatters by a factor of exp(`wide`) or more it is that of single samples: jumps up to `as_first` times the
first level are then a note. Losses of adversarial and reinforcement training jump by nature.

## References
- Chowdhery et al. 2022, PaLM, section 5.1: spikes, and skipping batches.
- Molybog et al. 2023, A Theory on Adam Instability in Large-Scale Machine Learning.
)";

/// How far ordinary upward scatter reaches. The upper percentile is only safe from the spikes themselves in a long
/// curve, and from their tails when those are left out: the points behind a peak on the way back to the trend.
double upward_reach(const Reading& reading, bool far, const std::vector<signal::Spike>& spikes) {
  constexpr double kBack = 0.1;  // of the height, above which the loss is still on its way back
  std::vector<bool> tail(reading.size(), false);
  for (const signal::Spike& spike : spikes) {
    const double height = spike.peak - spike.base;
    for (std::size_t i = spike.first + 1; i < reading.size(); ++i) {
      if (reading.curve.value[i] - spike.base < kBack * height) break;
      tail[i] = true;
    }
  }
  std::vector<double> above;
  // The steep first tenth would pass for scatter.
  for (std::size_t i = reading.size() / 10; i < reading.size(); ++i) {
    if (!tail[i]) above.push_back(reading.curve.high[i] - reading.smoothed[i]);
  }
  if (above.empty()) return 0;
  return signal::quantile(above, far ? 0.97 : 0.9);
}

/// What single values cost at the start.
double first_level(const Reading& reading) {
  const auto tenth = std::span(reading.curve.high).first(std::max<std::size_t>(4, reading.size() / 10));
  return std::max(std::abs(reading.start), std::abs(signal::quantile(tenth, 0.75)));
}

/// The ordinary scatter about the smoothed curve as a factor, in natural logarithms; 0 when the loss can be negative. A
/// loss rounded to zero when it was printed says nothing about the factor.
double scatter_factor(const Reading& reading) {
  std::vector<double> factors;
  for (std::size_t i = 0; i < reading.size(); ++i) {
    if (reading.curve.low[i] < 0) return 0;
    if (reading.curve.value[i] > 0 && reading.smoothed[i] > 0) {
      factors.push_back(std::log(reading.curve.value[i] / reading.smoothed[i]));
    }
  }
  return factors.empty() ? 0 : signal::mad_scale(factors);
}

std::vector<signal::Spike> spikes_in(const Reading& reading, const SettingValues& settings) {
  signal::SpikeOptions options;
  options.score = settings["score"];
  options.share_of_level = settings["height"];
  std::vector<signal::Spike> spikes = signal::spikes_of(reading.curve, options);
  const double settled =
      reading.curve.step.front() + settings["settle"] * (reading.curve.step.back() - reading.curve.step.front());
  const double at_first = first_level(reading);
  const double near = settings["tail"] * upward_reach(reading, false, spikes);
  std::erase_if(spikes, [&](const signal::Spike& spike) {
    const bool dramatic = spike.peak - spike.base > settings["dramatic"] * at_first;
    return (spike.step < settled && !dramatic) || spike.peak - spike.base < near;
  });
  constexpr std::size_t kLong = 200;
  if (reading.size() < kLong || signal::period_of(spikes)) return spikes;
  const double far = settings["far_tail"] * upward_reach(reading, true, spikes);
  std::erase_if(spikes, [&](const signal::Spike& spike) { return spike.peak - spike.base < far; });
  return spikes;
}

/// The scatter reaches up to the spikes without a gap: more values lie between half their height and all of it than
/// there are spikes. Batches that cost a lot are then the far end of the noise.
bool fat_tailed(const Reading& reading, const std::vector<signal::Spike>& spikes, double per_spike) {
  constexpr std::size_t kAround = 3;  // points beside a spike that belong to it
  double lowest = spikes.front().peak - spikes.front().base;
  for (const signal::Spike& spike : spikes) lowest = std::min(lowest, spike.peak - spike.base);
  double between = 0;
  for (std::size_t i = reading.size() / 10; i < reading.size(); ++i) {
    const bool beside = std::any_of(spikes.begin(), spikes.end(), [&](const signal::Spike& spike) {
      return i + kAround >= spike.first && i < spike.last + kAround;
    });
    const double height = reading.curve.high[i] - reading.smoothed[i];
    between += !beside && height > lowest / 2 && height < lowest ? 1 : 0;
  }
  return between > per_spike * static_cast<double>(spikes.size());
}

/// A lone jump, or a few among thousands of batches, that left no trace: worth a note, not a warning.
bool is_accident(const Patient& patient, const Reading& reading, const std::vector<signal::Spike>& spikes,
                 const SettingValues& settings) {
  const bool validation = &reading == patient.validation();
  const bool traceless = std::all_of(spikes.begin(), spikes.end(), [](const auto& spike) { return spike.recovered; });
  // Running averages of a normalisation that were caught at a bad moment make one evaluation leap, however far.
  if (validation && traceless && spikes.size() == 1) return true;
  const bool dramatic = std::any_of(spikes.begin(), spikes.end(), [&](const auto& spike) {
    return spike.peak - spike.base > settings["dramatic"] * std::abs(reading.top);
  });
  const bool rare = reading.curve.points() >= settings["long"] && !signal::period_of(spikes) &&
                    spikes.size() <= std::max<std::size_t>(2, reading.size() / 150);
  // Where nearly every sample is solved, one that is not costs as much as at the start; that is the data, not an upset.
  const double first = std::max(std::abs(reading.start), std::abs(reading.opening));
  const bool low = std::all_of(spikes.begin(), spikes.end(), [&](const auto& spike) {
    return spike.base < settings["solved"] * first && spike.peak < settings["as_first"] * first;
  });
  const bool no_harm = solved(patient) && std::all_of(spikes.begin(), spikes.end(), [&](const auto& spike) {
                         return spike.peak < settings["as_first"] * first;
                       });
  const double most = settings["as_first"] * first_level(reading);
  const bool single_samples =
      scatter_factor(reading) >= settings["wide"] && !signal::period_of(spikes) &&
      std::all_of(spikes.begin(), spikes.end(), [&](const auto& spike) { return spike.peak < most; });
  const bool noise = !signal::period_of(spikes) && fat_tailed(reading, spikes, settings["between"]);
  return traceless && (rare || low || no_harm || single_samples || noise || (spikes.size() == 1 && !dramatic));
}

/// The longest stretch of points on end above `high`, from index `from` on.
struct Above {
  std::size_t first = 0;
  std::size_t points = 0;
  double peak = 0;
};
Above longest_above(std::span<const double> values, std::size_t from, double high) {
  Above longest;
  std::size_t points = 0;
  for (std::size_t i = from; i < values.size(); ++i) {
    points = values[i] > high ? points + 1 : 0;
    if (points > longest.points) longest = {i + 1 - points, points, 0};
  }
  const auto stretch = values.subspan(longest.first, longest.points);
  if (!stretch.empty()) longest.peak = *std::max_element(stretch.begin(), stretch.end());
  return longest;
}

/// The first value, where it is no accident that it lies below what follows: `times` of it is more than the scatter of
/// single values, as factors, explains.
double sure_opening(const Reading& reading, double times) {
  constexpr double kDeviations = 4;
  return std::log(times) > kDeviations * scatter_factor(reading) ? reading.opening : first_level(reading);
}

/// The loss lay far above its start for several points on end: too long for a spike, and won back too late to be
/// harmless.
std::optional<Observation> excursion_of(const Patient& patient, const Reading& reading, const SettingValues& settings) {
  const std::vector<double>& values = reading.curve.value;
  if (reading.negated || !(reading.start > 0) || !(reading.opening > 0)) return std::nullopt;
  const auto gained = std::find_if(values.begin(), values.end(), [&](double value) { return value < reading.start; });
  double start = reading.start;
  double high = settings["excursion"] * first_level(reading);
  Above above = longest_above(values, static_cast<std::size_t>(gained - values.begin()), high);
  // One evaluation in a hundred leaps before the averages of a normalisation have settled; training does not.
  if (static_cast<double>(above.points) < settings["stays"] && &reading == patient.training()) {
    start = sure_opening(reading, settings["flung"]);
    high = settings["excursion"] * start;
    above = longest_above(values, 0, high);
    const bool long_enough =
        static_cast<double>(above.points) >= settings["stays_share"] * static_cast<double>(values.size());
    if (above.peak < settings["flung"] * start || !long_enough || solved(patient)) return std::nullopt;
  }
  // What has not come back has diverged, or is another objective.
  if (static_cast<double>(above.points) < settings["stays"] || values.back() > start) return std::nullopt;
  const std::int64_t since = std::llround(reading.curve.step[above.first]);
  const std::int64_t until = std::llround(reading.curve.step[above.first + above.points - 1]);
  Observation seen =
      observe(Severity::warning, confidence_of(above.peak / high + 1), since, until,
              reading.name + " rose to " + number(above.peak) + " at " + at_step(since) + ", far above the " +
                  number(start) + " of its start, and stayed up for " + std::to_string(above.points) + " points.");
  seen.evidence.push_back(evidence(reading.name, since, until, above.peak, high,
                                   std::to_string(above.points) + " points on end above " + number(high)));
  seen.qualifiers["count"] = "1";
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (patient.objectives().empty()) return no_loss_to_check(patient);
  bool checked = false;
  for (const Reading* reading : patient.objectives()) {
    if (reading->size() < settings["fewest_points"]) continue;
    checked = true;
    const std::vector<signal::Spike> spikes = spikes_in(*reading, settings);
    if (spikes.empty() || is_accident(patient, *reading, spikes, settings)) {
      if (auto seen = excursion_of(patient, *reading, settings)) return std::move(*seen);
      continue;
    }
    const auto& worst =
        *std::max_element(spikes.begin(), spikes.end(), [](const auto& a, const auto& b) { return a.score < b.score; });
    const std::string count = spikes.size() == 1 ? "once" : std::to_string(spikes.size()) + " times";
    Observation seen =
        observe(Severity::warning, confidence_of(worst.score / settings["score"]), std::llround(spikes.front().step),
                std::llround(spikes.back().step),
                reading->name + (reading->negated ? " collapsed " : " spiked ") + count +
                    (reading->negated ? ", lowest at " : ", highest at ") + at_step(std::llround(worst.step)) + ": " +
                    number(reading->shown(worst.base)) + " to " + number(reading->shown(worst.peak)) +
                    (worst.recovered ? ", and recovered." : ", not yet recovered."));
    seen.qualifiers["count"] = std::to_string(spikes.size());
    if (const auto period = signal::period_of(spikes)) seen.qualifiers["period"] = number(*period);
    constexpr std::size_t kShown = 5;
    for (const auto& spike : std::span(spikes).first(std::min(kShown, spikes.size()))) {
      const std::int64_t at = std::llround(spike.step);
      seen.evidence.push_back(evidence(reading->name, at, at, reading->shown(spike.peak), reading->shown(spike.base),
                                       (reading->negated ? "fell to " : "jumped to ") +
                                           number(reading->shown(spike.peak)) + ", " + number(spike.score) +
                                           " noise units"));
    }
    return seen;
  }
  if (!checked) return NotChecked{"no loss with at least " + number(settings["fewest_points"]) + " points"};
  return NotFound{};
}

}  // namespace

Finding loss_spikes() {
  return {
      "loss-spikes",
      "The loss jumps and recovers",
      {Need::curve},
      kDoc,
      {{"fewest_points", 12, "below this a jump cannot be told from the trend"},
       {"long", 200, "points from which on a few recovered jumps are a note: the log holds single batches"},
       {"score", 8, "noise units above the smoothed curve"},
       {"height", 0.8, "share of the level that the jump must exceed"},
       {"far_tail", 3, "how many times the jump must exceed the 97th percentile of upward scatter in a long curve"},
       {"dramatic", 3, "jump, in units of the first level, that counts even at the start"},
       {"tail", 4, "how many times the jump must exceed the reach (90th percentile) of ordinary upward scatter"},
       {"solved", 0.05, "level, as a share of the first, below which jumps are single samples that were not solved"},
       {"as_first", 10, "how many times the first level such a jump may reach"},
       {"between", 1, "values per spike, between half its height and all of it, that make it the end of the noise"},
       {"wide", 0.5, "ordinary scatter, in natural logarithms, from which on the log holds losses of single samples"},
       {"excursion", 3, "first levels above which a loss that has gained is far out"},
       {"stays", 3, "points on end that it must stay there"},
       {"stays_share", 0.04, "the same, as a share of the run, where it was flung out before anything was learned"},
       {"flung", 5, "times its first value that it must have reached in that case"},
       {"settle", 0.03, "first share of the run in which jumps belong to the start"}},
      check,
      JudgedBy::loss};
}

}  // namespace osler::catalogue
