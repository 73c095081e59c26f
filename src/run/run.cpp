// A run: its series, its marks, its configuration, and the budget that keeps it small.
#include "osler/run/run.h"

#include <algorithm>

namespace osler {

SeriesId Run::series(std::string_view name) {
  if (const auto known = ids_.find(name); known != ids_.end()) return known->second;
  const auto id = static_cast<SeriesId>(series_.size());
  series_.emplace_back(std::string(name));
  ids_.emplace(std::string(name), id);
  fit_limits();
  return id;
}

void Run::fit_limits() {
  const std::size_t share = std::max<std::size_t>(series_.size(), 1);
  current_.buckets = std::clamp(limits_.buckets_in_all / share, limits_.fewest_buckets,
                                std::max(limits_.per_series.buckets, limits_.fewest_buckets));
  current_.recent = std::min(limits_.recent_in_all / share, limits_.per_series.recent);
}

void Run::add(const Event& event) {
  Series& series = series_[event.series];
  const Arrival arrival = series.add({event.step, event.wall_time, event.value}, ++arrivals_, current_);
  if (arrival == Arrival::restarted) spread_restart(series);
}

void Run::spread_restart(const Series& origin) {
  const std::int64_t step = origin.restart_step();
  const bool first_of_this_restart =
      marks_.empty() || marks_.back().kind != Mark::Kind::restart || marks_.back().step != step;
  // Each series of a restarted run confirms the restart by itself; the first to do so speaks for all.
  if (first_of_this_restart && marks_.size() < kMarksKept) {
    add(Mark{Mark::Kind::restart, step, kNoTime, "steps went back to " + std::to_string(step)});
    for (Series& other : series_) {
      if (&other != &origin) other.restart(step, origin.restart_arrival(), current_);
    }
  }
}

void Run::add(Mark mark) {
  if (marks_.size() < kMarksKept) marks_.push_back(std::move(mark));
}

void Run::config(std::string_view key, std::string_view value) {
  const auto known = config_.find(key);
  if (known != config_.end()) {
    known->second = value;
  } else if (config_.size() < kConfigKept) {
    config_.emplace(key, value);
  }
}

const Series* Run::find(std::string_view name) const {
  const auto known = ids_.find(name);
  return known == ids_.end() ? nullptr : &series_[known->second];
}

StepRange Run::steps() const {
  StepRange range;
  bool any = false;
  for (const Series& series : series_) {
    if (series.summary().empty()) continue;
    const Bucket total = *series.summary().total();
    range.first = any ? std::min(range.first, total.first_step) : total.first_step;
    range.last = any ? std::max(range.last, total.last_step) : total.last_step;
    range.count = std::max(range.count, total.points());
    any = true;
  }
  return range;
}

}  // namespace osler
