// StepRows: events of one step that follow each other become one row.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "osler/run/event.h"

namespace osler::recording {

/// The values of one step.
struct StepRow {
  std::int64_t step = 0;
  double wall_time = kNoTime;  ///< of the first value that has one
  std::vector<Event> values;
};

/// Gathers rows. A series that comes again at the same step starts a new row.
class StepRows {
 public:
  /// Takes the next event; calls `on_row` for the row that it ends.
  template <typename OnRow>
  void add(const Event& event, OnRow&& on_row) {
    const bool same = !row_.values.empty() && row_.step == event.step;
    if (!same || is_in_row(event.series)) finish(on_row);
    if (row_.values.empty()) {
      row_.step = event.step;
      row_.wall_time = event.wall_time;
      ++number_;
    }
    if (std::isnan(row_.wall_time)) row_.wall_time = event.wall_time;
    if (row_of_.size() <= event.series) row_of_.resize(event.series + 1, 0);
    row_of_[event.series] = number_;
    row_.values.push_back(event);
  }
  /// Ends the row that is open, if any.
  template <typename OnRow>
  void finish(OnRow&& on_row) {
    if (row_.values.empty()) return;
    on_row(static_cast<const StepRow&>(row_));
    row_.values.clear();
  }

 private:
  [[nodiscard]] bool is_in_row(SeriesId series) const { return series < row_of_.size() && row_of_[series] == number_; }

  StepRow row_;
  std::uint64_t number_ = 0;
  std::vector<std::uint64_t> row_of_;  // the newest row each series is in
};

}  // namespace osler::recording
