// Finding the clipping limit, and the share of norms beyond it.
#include "diagnosis/clipping.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/configured.h"
#include "signal/robust.h"

namespace osler {
namespace {

constexpr double kAtLimit = 0.99;  // the seeds count a step as clipped from 99 % of the limit on

/// A constant series such as "max_grad_norm" is the limit, whatever role its name suggests.
bool names_limit(const Series& series) {
  const auto total = series.summary().total();
  if (!total || total->count == 0 || total->min != total->max) return false;
  const std::string& name = series.name();
  return name.find("max") != std::string::npos || name.find("clip") != std::string::npos;
}

/// The share of a curve's values above `level`; within a merged point they are taken as evenly spread.
double share_above(const signal::Curve& curve, double level) {
  double above = 0;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double width = curve.high[i] - curve.low[i];
    const double part = width > 0 ? std::clamp((curve.high[i] - level) / width, 0.0, 1.0) : curve.high[i] > level;
    above += part * curve.count[i];
  }
  return above / curve.points();
}

/// In reinforcement learning "clip" mostly means the policy's ratio, so only names that speak of gradients count.
std::optional<double> told_limit(const Patient& patient) {
  if (!patient.reinforcement()) return clip_limit(patient);
  return configured_number(patient, {"max_grad_norm", "clip_grad_norm", "gradient_clip_val", "grad_clip"});
}

/// The norms of the whole gradient, and the limit where a series is named like a norm and never changes.
struct Norms {
  std::string name;
  signal::Curve curve;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  const Series* limit = nullptr;
};
Norms norms_of(const Patient& patient) {
  Norms norms;
  for (const Cast& cast : patient.roles().in(Role::gradient_norm)) {
    if (names_limit(*cast.series)) {
      norms.limit = cast.series;
    } else if (norms.curve.empty()) {
      norms.name = cast.series->name();
      norms.curve = signal::curve_of(cast.series->summary(), SummaryLimits{}.buckets);
      norms.first_step = cast.series->summary().total()->first_step;
      norms.last_step = cast.series->summary().total()->last_step;
    }
  }
  const Reading* computed = patient.gradient_norm();
  if (norms.curve.empty() && computed != nullptr && computed->computed) {
    norms.name = computed->name;
    norms.curve = computed->curve;
    norms.first_step = computed->first_step;
    norms.last_step = computed->last_step;
  }
  return norms;
}

void find_limit(const Patient& patient, const Norms& norms, Clipping& found) {
  found.limit = std::nan("");
  if (norms.limit != nullptr) {
    found.limit = norms.limit->summary().total()->last;
    found.limit_from = norms.limit->name();
  } else if (const auto limit = told_limit(patient)) {
    found.limit = *limit;
    const Series* series = patient.roles().first(Role::clip_threshold);
    found.limit_from = series != nullptr ? series->name() : "the configuration";
  } else if (found.highest > 0 && share_above(norms.curve, kAtLimit * found.highest) > 0.5) {
    found.limit = found.highest;
    found.limit_from = "the norms themselves, which never exceed it";
  }
}

/// What the log itself says of how often it clipped: a mark on each step, or the share of the steps so far.
void take_count(const Patient& patient, Clipping& found) {
  const Series* told = patient.roles().first(Role::clipped_share);
  if (told == nullptr) return;
  const signal::Curve curve = signal::curve_of(told->summary(), SummaryLimits{}.buckets);
  const Bucket total = *told->summary().total();
  if (curve.empty() || total.min < 0 || total.max > 100) return;
  const bool marks =
      std::all_of(curve.low.begin(), curve.low.end(), [](double low) { return low == 0 || low == 1; }) &&
      std::all_of(curve.high.begin(), curve.high.end(), [](double high) { return high == 0 || high == 1; });
  const double unit = total.max > 1 ? 100 : 1;
  if (!marks) {
    found.share = total.last / unit;
  } else if (found.points > total.count) {
    // Marks may begin with the first clipped step; the norms tell how many steps there were.
    found.share = total.mean * static_cast<double>(total.count) / found.points;
  } else {
    found.share = total.mean;
  }
  found.counted_by = told->name();
  found.points = std::max(found.points, curve.points());
  if (!found.norm.empty()) return;
  found.first_step = total.first_step;
  found.last_step = total.last_step;
}

}  // namespace

std::optional<Clipping> clipping_of(const Patient& patient) {
  const Norms norms = norms_of(patient);
  Clipping found;
  found.limit = std::nan("");
  if (!norms.curve.empty()) {
    found.norm = norms.name;
    found.points = norms.curve.points();
    found.median = signal::median(norms.curve.value);
    found.highest = *std::max_element(norms.curve.high.begin(), norms.curve.high.end());
    found.first_step = norms.first_step;
    found.last_step = norms.last_step;
    find_limit(patient, norms, found);
  }
  if (found.limit > 0) {
    // Rounding and the small constant in the usual formula leave clipped norms a hair away from the limit.
    constexpr double kHair = 1e-3;
    found.after = found.highest <= (1 + kHair) * found.limit && found.highest >= kAtLimit * found.limit;
    found.share = share_above(norms.curve, kAtLimit * found.limit);
  } else {
    found.limit = std::nan("");
  }
  take_count(patient, found);
  if (std::isnan(found.limit) && found.counted_by.empty()) return std::nullopt;
  return found;
}

}  // namespace osler
