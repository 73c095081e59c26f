// Finding the clipping limit, and the share of norms beyond it.
#include "diagnosis/clipping.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/facts.h"
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

}  // namespace

std::optional<Clipping> clipping_of(const Patient& patient) {
  const Series* norms = nullptr;
  const Series* logged_limit = nullptr;
  for (const Cast& cast : patient.roles().in(Role::gradient_norm)) {
    if (names_limit(*cast.series)) {
      logged_limit = cast.series;
    } else if (norms == nullptr) {
      norms = cast.series;
    }
  }
  if (norms == nullptr) return std::nullopt;
  const signal::Curve curve = signal::curve_of(norms->summary(), SummaryLimits{}.buckets);
  if (curve.empty()) return std::nullopt;

  Clipping found;
  found.norm = norms->name();
  found.points = curve.points();
  found.median = signal::median(curve.value);
  found.highest = *std::max_element(curve.high.begin(), curve.high.end());
  found.first_step = norms->summary().total()->first_step;
  found.last_step = norms->summary().total()->last_step;
  if (logged_limit != nullptr) {
    found.limit = logged_limit->summary().total()->last;
    found.limit_from = logged_limit->name();
  } else if (const auto limit = told_limit(patient)) {
    found.limit = *limit;
    const Series* series = patient.roles().first(Role::clip_threshold);
    found.limit_from = series != nullptr ? series->name() : "the configuration";
  } else if (found.highest > 0 && share_above(curve, kAtLimit * found.highest) > 0.5) {
    found.limit = found.highest;
    found.limit_from = "the norms themselves, which never exceed it";
  }
  if (!(found.limit > 0)) return std::nullopt;
  // Rounding and the small constant in the usual formula leave clipped norms a hair away from the limit.
  constexpr double kHair = 1e-3;
  found.after = found.highest <= (1 + kHair) * found.limit && found.highest >= kAtLimit * found.limit;
  found.share = share_above(curve, kAtLimit * found.limit);
  return found;
}

}  // namespace osler
