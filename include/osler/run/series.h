// Series: a named sequence of points whose steps rise, made from whatever order the log has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "osler/run/summary.h"

namespace osler {

/// What became of a point offered to a series.
enum class Arrival {
  appended,   ///< it continued the series
  replaced,   ///< same step as the newest point: the later value wins
  held,       ///< its step lies before the newest; kept aside until it is clear whether training restarted
  restarted,  ///< it made clear that training restarted: the series went back, the held points now continue it
};

/// A restart as one series saw it. Arrivals number the points of the whole run from 1 in the order they came.
struct Restart {
  std::int64_t step = 0;                 ///< where the series went on
  std::uint64_t arrival = 0;             ///< the first point after the restart
  std::uint64_t last_before = 0;         ///< the series' last point before it
  std::uint64_t first_of_series = 0;     ///< the series' very first point
  std::int64_t kept_before = INT64_MIN;  ///< the last step that the series kept, the smallest number when none
};

/// One series of a run.
class Series {
 public:
  /// Points with falling steps that it takes to call it a restart and not a straggler.
  static constexpr std::size_t kRestartPoints = 3;

  explicit Series(std::string name) : name_(std::move(name)) {}

  /// Offers a point. `arrival` numbers the points of the whole run in the order they came.
  Arrival add(const Point& point, std::uint64_t arrival, const SummaryLimits& limits);
  /// Joins a restart that another series made clear: forgets what the restart takes back and commits held points. A
  /// series that had ended before the other began stays as it is, for then the log tells one series after another.
  void follow(const Restart& restart, const SummaryLimits& limits);
  /// Joins a restart that the log itself announced: forgets what lies at or after `step`, unless it was written later
  /// than `wall_time`.
  void go_back(std::int64_t step, double wall_time);
  /// Shrinks to limits that were lowered since the last point.
  void fit(const SummaryLimits& limits) {
    summary_.fit(limits);
    longest_launch_.fit(limits);
  }
  /// The longest of the earlier launches that began anew from the first step; empty when there was none.
  [[nodiscard]] const Summary& longest_launch() const { return longest_launch_; }
  /// Goes back to the longest of the earlier launches, if there is one.
  void take_longest_launch();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Summary& summary() const { return summary_; }
  /// How many points came out of order and were left out.
  [[nodiscard]] std::uint64_t out_of_order() const { return out_of_order_ + held_.size(); }
  /// The newest restart that this series made clear by itself.
  [[nodiscard]] const Restart& newest_restart() const { return restart_; }

 private:
  Arrival append(const Point& point, std::uint64_t arrival, const SummaryLimits& limits);
  void commit_held(std::uint64_t arrival, const SummaryLimits& limits);
  void drop_held();
  void go_back_to(std::int64_t step);

  std::string name_;
  Summary summary_;
  Summary longest_launch_;
  std::vector<Point> held_;
  std::uint64_t held_arrival_ = 0;
  std::uint64_t first_arrival_ = 0;
  std::uint64_t last_arrival_ = 0;
  std::uint64_t out_of_order_ = 0;
  Restart restart_;
};

}  // namespace osler
