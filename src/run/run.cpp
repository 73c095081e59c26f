// A run: its series, its marks, its configuration, and the budget that keeps it small.
#include "osler/run/run.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace osler {

SeriesId Run::series(std::string_view name) {
  if (const auto known = ids_.find(name); known != ids_.end()) return known->second;
  if (series_.size() >= limits_.most_series) {
    if (!std::exchange(left_series_out_, true)) {
      const std::string most = std::to_string(limits_.most_series);
      damage.add(
          {std::string(name), 0, 0, "more than " + most + " series: this one and later new ones are left out", 0});
    }
    return kLeftOut;
  }
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
  if (share == 1) fitted_ = current_;
  // Series that get no more points never shrink by themselves; doing it at each halving costs little in all.
  if (2 * current_.buckets >= fitted_.buckets && 2 * current_.recent >= fitted_.recent) return;
  for (Series& series : series_) series.fit(current_);
  fitted_ = current_;
}

void Run::add(const Event& event) {
  if (event.series >= series_.size()) return;
  Series& series = series_[event.series];
  const Arrival arrival = series.add({event.step, event.wall_time, event.value}, ++arrivals_, current_);
  if (arrival == Arrival::restarted) spread_restart(series);
}

void Run::spread_restart(const Series& origin) {
  const Restart& restart = origin.newest_restart();
  // A log that goes back all the time costs each series its own way back, not every series every way.
  if (restart_steps_.size() >= kRestartsSpread || told_before(restart)) return;
  restart_steps_.insert(restart.step);
  last_restart_arrival_ = restart.arrival;
  keep(Mark{Mark::Kind::restart, restart.step, kNoTime, "steps went back to " + std::to_string(restart.step)});
  for (Series& other : series_) {
    if (&other != &origin) other.follow(restart, current_);
  }
}

bool Run::told_before(const Restart& restart) const {
  // Where the log tells one series after another, each tells the same restart again, at the next step it has.
  if (restart.first_of_series < last_restart_arrival_) return false;
  const auto known = restart_steps_.upper_bound(restart.kept_before);
  return known != restart_steps_.end() && *known <= restart.step;
}

void Run::add(Mark mark) {
  if (mark.kind == Mark::Kind::restart && !std::isnan(mark.wall_time)) {
    for (Series& series : series_) series.go_back(mark.step, mark.wall_time);
  }
  keep(std::move(mark));
}

void Run::keep(Mark mark) {
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

void Run::distribution(const Histogram& histogram) {
  if (histogram.series < series_.size()) histograms_.add(histogram);
}

void Run::settle_launches() {
  // A few epochs of a last try say little beside a whole training; of two short ones the longer says more.
  constexpr std::uint64_t kShort = 3;
  constexpr std::uint64_t kFewPoints = 30;
  constexpr double kLonger = 1.25;
  const auto leading = std::max_element(series_.begin(), series_.end(), [](const Series& a, const Series& b) {
    return a.longest_launch().points() < b.longest_launch().points();
  });
  if (leading == series_.end()) return;
  const std::uint64_t longest = leading->longest_launch().points();
  const std::uint64_t last = leading->summary().points();
  if (longest == 0) return;
  const bool short_beside = longest >= kShort * std::max<std::uint64_t>(last, 1);
  const bool short_itself = last < kFewPoints && static_cast<double>(longest) >= kLonger * static_cast<double>(last);
  if (!short_beside && !short_itself) {
    keep(Mark{Mark::Kind::note, leading->summary().last_step(), kNoTime,
              "the log holds several launches; the last, of " + std::to_string(last) +
                  " points, stands for it: the longest before has " + std::to_string(longest)});
    return;
  }
  for (Series& series : series_) series.take_longest_launch();
  keep(Mark{Mark::Kind::note, leading->summary().last_step(), kNoTime,
            "the log holds several launches; the longest, of " + std::to_string(longest) +
                " points, stands for it: the last has " + std::to_string(last)});
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
