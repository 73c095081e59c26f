// Putting points in order: duplicates, stragglers and restarts.
#include "osler/run/series.h"

namespace osler {

Arrival Series::add(const Point& point, std::uint64_t arrival, const SummaryLimits& limits) {
  const bool continues_held = !held_.empty() && point.step > held_.back().step;
  if (summary_.empty() || (point.step > summary_.last_step() && held_.empty())) {
    summary_.append(point, limits);
    last_arrival_ = arrival;
    return Arrival::appended;
  }
  if (point.step == summary_.last_step() && !continues_held) {
    summary_.replace_last(point);
    last_arrival_ = arrival;
    return Arrival::replaced;
  }
  if (point.step > summary_.last_step()) {
    // Back to the front after fewer than kRestartPoints late points: those were stragglers.
    out_of_order_ += held_.size();
    held_.clear();
    summary_.append(point, limits);
    last_arrival_ = arrival;
    return Arrival::appended;
  }
  if (!held_.empty() && !continues_held) {
    out_of_order_ += held_.size();
    held_.clear();
  }
  if (held_.empty()) held_arrival_ = arrival;
  held_.push_back(point);
  if (held_.size() < kRestartPoints) return Arrival::held;
  commit_held(arrival, limits);
  return Arrival::restarted;
}

void Series::commit_held(std::uint64_t arrival, const SummaryLimits& limits) {
  restart_step_ = held_.front().step;
  restart_arrival_ = held_arrival_;
  last_arrival_ = arrival;
  summary_.rewind(restart_step_);
  for (const Point& point : held_) summary_.append(point, limits);
  held_.clear();
}

void Series::restart(std::int64_t step, std::uint64_t since_arrival, const SummaryLimits& limits) {
  if (!held_.empty()) {
    commit_held(last_arrival_, limits);
  } else if (last_arrival_ < since_arrival) {
    summary_.rewind(step);
  }
}

}  // namespace osler
