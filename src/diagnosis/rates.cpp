// Choosing among the learning rates of several parameter groups.
#include "diagnosis/rates.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "diagnosis/measuring.h"

namespace osler {
namespace {

/// A few levels with the last change late in the run: a step decay that was planned for all of it.
bool decays_by_plan(const signal::Curve& rate, double share) {
  constexpr std::size_t kFewLevels = 6;
  const std::set<double> levels(rate.value.begin(), rate.value.end());
  if (levels.size() > kFewLevels) return false;
  std::size_t last = rate.size() - 1;
  while (last > 0 && rate.value[last - 1] == rate.value[last]) --last;
  return rate.step[last] - rate.step.front() > share * (rate.step.back() - rate.step.front());
}

}  // namespace

double highest_usual_rate(const Patient& patient) {
  constexpr double kOfSgd = 0.5;
  const std::string optimizer = optimizer_of(patient).value_or("");
  const auto named = [&](std::string_view part) { return optimizer.find(part) != std::string::npos; };
  if (named("sgd")) return kOfSgd;  // beside another optimizer, too: the rate may be that of either
  if (named("lion")) return 1e-3;
  if (named("adam") || named("prop")) return 5e-3;
  return kOfSgd;
}

std::optional<RateCurve> main_rate(const Patient& patient) {
  const Series* chosen = nullptr;
  Bucket whole;
  for (const Cast& cast : patient.roles().in(Role::learning_rate)) {
    const auto total = cast.series->summary().total();
    if (!total || total->count == 0 || !(total->max > 0)) continue;
    // A group logged less often than the first is something else: a summary, or the rate at evaluations.
    if (chosen != nullptr && (total->count != whole.count || total->max >= whole.max)) continue;
    chosen = cast.series;
    whole = *total;
  }
  if (chosen == nullptr) return std::nullopt;
  RateCurve rate;
  rate.name = chosen->name();
  rate.curve = signal::curve_of(chosen->summary(), SummaryLimits{}.buckets);
  rate.first = whole.first;
  rate.peak = whole.max;
  rate.first_step = whole.first_step;
  rate.last_step = whole.last_step;
  return rate;
}

std::optional<SpentRate> spent_rate(const RateCurve& rate, double last_step, const SpentLimits& limits) {
  const std::vector<double>& value = rate.curve.value;
  const std::vector<double>& step = rate.curve.step;
  std::size_t spent = value.size();
  while (spent > 0 && value[spent - 1] <= limits.spent * rate.peak) --spent;
  if (spent == value.size() || spent == 0 || decays_by_plan(rate.curve, limits.plan)) return std::nullopt;
  const auto works = [&](double now) { return now >= limits.works * rate.peak; };
  const auto first = std::find_if(value.begin(), value.end(), works);
  std::size_t last = spent;
  while (last > 0 && !works(value[last - 1])) --last;
  if (first == value.end() || last == 0) return std::nullopt;
  SpentRate found;
  found.works_from = step[static_cast<std::size_t>(first - value.begin())];
  found.works_until = step[last - 1];
  found.spent_since = step[spent];
  found.spent_part = (last_step - step[spent]) / std::max(last_step - step.front(), 1.0);
  found.left = value.back() / rate.peak;
  return found;
}

}  // namespace osler
