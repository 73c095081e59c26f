// Choosing among the learning rates of several parameter groups.
#include "diagnosis/rates.h"

#include <algorithm>

namespace osler {

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

}  // namespace osler
