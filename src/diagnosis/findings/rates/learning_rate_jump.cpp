// learning-rate-jump: the rate leaps up where no schedule would.
#include <algorithm>
#include <cmath>
#include <set>

#include "diagnosis/movement.h"
#include "diagnosis/observe.h"
#include "diagnosis/rates.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
In the middle of its decay the learning rate leaps back up, within a step or two, and stays there.

## Signature
After it had fallen, the rate rises by a factor of `factor` or more within `quick` logged values and stays up. Not
counted are restarts of a cycle: the rate had reached the bottom (below `bottom_share` of the peak, or flattened out),
or rises come at regular or regularly growing distances, or there are more than `most_jumps` of them. It is a warning
when the loss gets worse with it, or when the log shows a restart at that place; otherwise a note.

## Why it matters
A run that resumes from a checkpoint without the scheduler's state begins its schedule anew: the high rate undoes part
of what was learned, and the decay at the end is cut short.

## When it is harmless
Warm restarts, cyclic schedules, warm-up, and a second stage of training that was planned raise the rate on purpose.

## References
- Loshchilov and Hutter 2017, SGDR: Stochastic Gradient Descent with Warm Restarts.
- Smith 2017, Cyclical Learning Rates for Training Neural Networks.
)";

struct Jump {
  std::size_t before = 0;  // last point below
  std::size_t after = 0;   // first point above
  double factor = 1;
  bool completes_cycle = false;
};

/// A fall by the same factor in each half of its way has no bottom, however flat it looks.
bool exponential(const signal::Curve& rate, std::size_t first, std::size_t last) {
  constexpr double kAlike = 0.15;  // relative difference of the logarithms of the two factors
  const std::size_t middle = first + (last - first) / 2;
  if (last - first < 4 || !(rate.value[last] > 0)) return false;
  const double early = std::log(rate.value[first] / rate.value[middle]) / (rate.step[middle] - rate.step[first]);
  const double late = std::log(rate.value[middle] / rate.value[last]) / (rate.step[last] - rate.step[middle]);
  return early > 0 && std::abs(late / early - 1) < kAlike;
}

/// The rate came down by a few large steps and stood in between: such a plan is not run again from its top.
bool in_steps(std::size_t levels, std::size_t values) {
  constexpr std::size_t kFewest = 3;  // levels: one step down may be any plan
  constexpr std::size_t kStands = 3;  // values at each level
  return levels >= kFewest && values >= kStands * levels;
}

/// Whether the fall that ends at `last` had come to its end: close to zero, or smooth and flattened out.
bool bottomed(const signal::Curve& rate, std::size_t last, const SettingValues& settings) {
  const auto begin = rate.value.begin();
  const auto peak = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(last) + 1);
  const auto first = static_cast<std::size_t>(peak - begin);
  const std::set<double> levels(peak, begin + static_cast<std::ptrdiff_t>(last) + 1);
  if (in_steps(levels.size(), last + 1 - first)) return false;
  if (rate.value[last] <= settings["bottom_share"] * *peak) return true;
  constexpr std::size_t kSmooth = 6;  // fewer levels than this are a step decay, which has no bottom
  if (levels.size() < kSmooth) return false;
  // The next step of a fall that goes on as it did would have reached the bottom: a log by epochs misses it by one.
  if (last > first && rate.value[last] <= rate.value[last - 1] - rate.value[last]) return true;
  if (exponential(rate, first, last)) return false;
  const std::size_t tail = last - std::max<std::size_t>(1, (last - first) / 10);
  const double usual = (*peak - rate.value[last]) / (rate.step[last] - rate.step[first]);
  const double late = (rate.value[tail] - rate.value[last]) / (rate.step[last] - rate.step[tail]);
  constexpr double kFlat = 0.35;  // over its last tenth a whole cosine falls at a quarter of its mean rate
  return late < kFlat * usual;
}

std::vector<Jump> jumps_of(const signal::Curve& rate, const SettingValues& settings) {
  std::vector<Jump> jumps;
  double peak = 0;
  for (std::size_t i = 0; i + 1 < rate.size(); ++i) {
    peak = std::max(peak, rate.value[i]);
    if (!(rate.value[i + 1] > rate.value[i])) continue;
    Jump jump{i, i + 1, 1, false};
    while (jump.after + 1 < rate.size() && rate.value[jump.after + 1] > rate.value[jump.after]) ++jump.after;
    i = jump.after - 1;
    constexpr double kFallen = 0.9;
    const bool fallen = rate.value[jump.before] > 0 && rate.value[jump.before] < kFallen * peak;
    if (!fallen) continue;
    jump.factor = rate.value[jump.after] / rate.value[jump.before];
    // A second warm-up, back to where the first one led, is a schedule that starts over as well.
    const bool quick = static_cast<double>(jump.after - jump.before) <= settings["quick"];
    const bool warms_again = jump.factor >= settings["rewarmed"] && rate.value[jump.after] > settings["again"] * peak;
    if (jump.factor < settings["factor"] || (!quick && !warms_again)) continue;
    constexpr std::size_t kStays = 5;
    const std::size_t length = std::min(kStays, rate.size() - jump.after);
    const double later = signal::median(std::span(rate.value).subspan(jump.after, length));
    if (later * later < rate.value[jump.before] * rate.value[jump.after]) continue;
    jump.completes_cycle = bottomed(rate, jump.before, settings);
    jumps.push_back(jump);
  }
  return jumps;
}

/// Rises at equal distances, or at distances that grow by a fixed factor, belong to a schedule.
bool regular(const std::vector<Jump>& jumps, const signal::Curve& rate) {
  if (jumps.size() < 2) return false;
  std::vector<double> gaps = {rate.step[jumps[0].after] - rate.step.front()};
  for (std::size_t i = 1; i < jumps.size(); ++i)
    gaps.push_back(rate.step[jumps[i].after] - rate.step[jumps[i - 1].after]);
  const double growth = gaps[1] / std::max(gaps[0], 1.0);
  constexpr double kTolerance = 0.1;
  return std::abs(growth / std::max(1.0, std::round(growth)) - 1) < kTolerance;
}

/// The rate came down from its peak by a plan: smoothly, or in several steps, not by one that a hand may have taken.
bool planned_decay(const signal::Curve& rate, std::size_t until) {
  constexpr std::size_t kLevels = 6;
  const auto end = rate.value.begin() + static_cast<std::ptrdiff_t>(until) + 1;
  const auto peak = std::max_element(rate.value.begin(), end);
  const std::set<double> levels(peak, end);
  return levels.size() >= kLevels || in_steps(levels.size(), static_cast<std::size_t>(end - peak));
}

bool loss_suffers(const Patient& patient, double step, const SettingValues& settings) {
  const Reading* loss = patient.training();
  if (loss == nullptr || loss->size() < 10) return false;
  const std::size_t at = loss->index_at(step);
  const std::size_t around = std::max<std::size_t>(3, loss->size() / 20);
  if (at < around || at + around >= loss->size()) return false;
  const auto& value = loss->curve.value;
  const double before = signal::median(std::span(value).subspan(at - around, around));
  const double after = signal::median(std::span(value).subspan(at + 1, around));
  const double error = loss->noise.sigma / std::sqrt(static_cast<double>(around));
  return after - before > settings["noise_units"] * error &&
         after - before > settings["worse_share"] * std::max(loss->top - loss->best, 0.0);
}

bool restarted_at(const Patient& patient, double from, double to) {
  const auto& marks = patient.run().marks();
  return std::any_of(marks.begin(), marks.end(), [&](const Mark& mark) {
    const auto step = static_cast<double>(mark.step);
    return mark.kind == Mark::Kind::restart && step >= from && step <= to;
  });
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto rate = main_rate(patient);
  if (!rate) return NotChecked{"no learning rate above 0 in the log"};
  if (rate->curve.points() < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " values of the learning rate"};
  }
  const signal::Curve& curve = rate->curve;
  const std::vector<Jump> jumps = jumps_of(curve, settings);
  if (jumps.empty() || static_cast<double>(jumps.size()) > settings["most_jumps"] || regular(jumps, curve)) {
    return NotFound{};
  }
  const auto jump = std::find_if(jumps.begin(), jumps.end(), [](const Jump& j) { return !j.completes_cycle; });
  if (jump == jumps.end()) return NotFound{};

  const double gap = curve.step[jump->after] - curve.step[jump->before];
  const bool restart = restarted_at(patient, curve.step[jump->before] - 2 * gap, curve.step[jump->after] + 2 * gap);
  const bool harm = loss_suffers(patient, curve.step[jump->before], settings);
  const auto from = std::llround(curve.step[jump->after]);
  const double before = curve.value[jump->before];
  const double after = curve.value[jump->after];
  // Back to where the schedule began, alone, and not from its bottom: the scheduler's state was not restored.
  const bool begins_again =
      jumps.size() == 1 && after > settings["again"] * rate->peak && planned_decay(curve, jump->before);
  const double confidence = confidence_of(std::log(jump->factor) / std::log(settings["factor"]));
  Observation seen =
      observe(harm || restart || begins_again ? Severity::warning : Severity::note, confidence, from, rate->last_step,
              rate->name + " leaps from " + number(before) + " to " + number(after) + " at " + at_step(from) +
                  (restart ? ", where training was resumed."
                   : harm  ? ", and the loss gets worse with it."
                           : ", in the middle of its decay."));
  seen.qualifiers["resumed"] = restart ? "yes" : "unknown";
  seen.evidence.push_back(evidence(rate->name, std::llround(curve.step[jump->before]), from, jump->factor,
                                   settings["factor"], "the rate rose " + times(jump->factor) + " at once"));
  return seen;
}

}  // namespace

Finding learning_rate_jump() {
  return {"learning-rate-jump",
          "The learning rate leaps up in the middle of its decay",
          {Need::curve},
          kDoc,
          {{"fewest_points", 10, "values of the rate needed to know its schedule"},
           {"factor", 1.25, "rise at once that no smooth schedule makes"},
           {"quick", 3, "logged values within which it must happen; slower is a warm-up"},
           {"rewarmed", 2, "rise by which a second warm-up counts, where it leads back to the peak"},
           {"bottom_share", 0.05, "share of the peak at which a cycle is complete and may start again"},
           {"again", 0.9, "share of the peak to which a schedule that begins again returns"},
           {"most_jumps", 3, "more rises than this are a cyclic schedule"},
           {"noise_units", 3, "standard errors by which the loss must get worse"},
           {"worse_share", 0.1, "share of its whole range that the loss must give back for it to matter"}},
          check};
}

}  // namespace osler::catalogue
