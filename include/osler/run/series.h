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

/// One series of a run.
class Series {
 public:
  /// Points with falling steps that it takes to call it a restart and not a straggler.
  static constexpr std::size_t kRestartPoints = 3;

  explicit Series(std::string name) : name_(std::move(name)) {}

  /// Offers a point. `arrival` numbers the points of the whole run in the order they came.
  Arrival add(const Point& point, std::uint64_t arrival, const SummaryLimits& limits);
  /// Forgets what lies at or after `step`, unless the series grew since `since_arrival`; then commits held points.
  void restart(std::int64_t step, std::uint64_t since_arrival, const SummaryLimits& limits);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Summary& summary() const { return summary_; }
  /// How many points came out of order and were left out.
  [[nodiscard]] std::uint64_t out_of_order() const { return out_of_order_ + held_.size(); }
  /// The step at which the newest restart of this series began, and the arrival number of its first point.
  [[nodiscard]] std::int64_t restart_step() const { return restart_step_; }
  [[nodiscard]] std::uint64_t restart_arrival() const { return restart_arrival_; }

 private:
  void commit_held(std::uint64_t arrival, const SummaryLimits& limits);

  std::string name_;
  Summary summary_;
  std::vector<Point> held_;
  std::uint64_t held_arrival_ = 0;
  std::uint64_t last_arrival_ = 0;
  std::uint64_t out_of_order_ = 0;
  std::int64_t restart_step_ = 0;
  std::uint64_t restart_arrival_ = 0;
};

}  // namespace osler
