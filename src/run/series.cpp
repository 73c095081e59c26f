// Putting points in order: duplicates, stragglers and restarts.
#include "osler/run/series.h"

#include <utility>

#include "run/reach.h"

namespace osler {

Arrival Series::add(const Point& offered, std::uint64_t arrival, const SummaryLimits& limits) {
  const Point point{offered.step, offered.wall_time, within_reach(offered.value)};
  if (first_arrival_ == 0) first_arrival_ = arrival;
  if (summary_.empty() || point.step > summary_.last_step()) {
    // Back to the front after fewer than kRestartPoints late points: those were stragglers.
    drop_held();
    return append(point, arrival, limits);
  }
  if (!held_.empty() && point.step == held_.back().step) {
    held_.back() = point;
    return Arrival::held;
  }
  const bool continues_held = !held_.empty() && point.step > held_.back().step;
  if (point.step == summary_.last_step() && !continues_held) {
    summary_.replace_last(point);
    last_arrival_ = arrival;
    return Arrival::replaced;
  }
  if (!continues_held) drop_held();
  if (held_.empty()) held_arrival_ = arrival;
  held_.push_back(point);
  if (held_.size() < kRestartPoints) return Arrival::held;
  commit_held(arrival, limits);
  return Arrival::restarted;
}

Arrival Series::append(const Point& point, std::uint64_t arrival, const SummaryLimits& limits) {
  summary_.append(point, limits);
  last_arrival_ = arrival;
  return Arrival::appended;
}

void Series::drop_held() {
  out_of_order_ += held_.size();
  held_.clear();
}

void Series::commit_held(std::uint64_t arrival, const SummaryLimits& limits) {
  restart_.step = held_.front().step;
  restart_.arrival = held_arrival_;
  restart_.last_before = last_arrival_;
  restart_.first_of_series = first_arrival_;
  go_back_to(restart_.step);
  restart_.kept_before = summary_.empty() ? INT64_MIN : summary_.last_step();
  for (const Point& point : held_) summary_.append(point, limits);
  held_.clear();
  last_arrival_ = arrival;
}

void Series::follow(const Restart& restart, const SummaryLimits& limits) {
  if (last_arrival_ < restart.first_of_series) return;
  if (!held_.empty() && held_arrival_ > restart.last_before) {
    commit_held(held_arrival_, limits);
    return;
  }
  drop_held();
  if (last_arrival_ < restart.arrival) go_back_to(restart.step);
}

void Series::go_back_to(std::int64_t step) {
  const auto total = summary_.total();
  if (total && step <= total->first_step && summary_.points() > longest_launch_.points()) longest_launch_ = summary_;
  summary_.rewind(step);
}

void Series::take_longest_launch() {
  if (longest_launch_.empty()) return;
  summary_ = std::move(longest_launch_);
  longest_launch_ = Summary();
  held_.clear();
}

void Series::go_back(std::int64_t step, double wall_time) {
  if (summary_.empty() || summary_.last_step() < step) return;
  if (summary_.last_time() > wall_time) return;
  drop_held();
  summary_.rewind(step);
}

}  // namespace osler
