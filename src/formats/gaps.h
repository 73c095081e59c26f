// GapFilter: tells a NaN or infinity that means "not measured" from one that was computed.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "osler/run/event.h"
#include "osler/run/role.h"

namespace osler {

/// Which family of figures of merit a series belongs to.
enum class Merit : std::uint8_t { none, loss, other };
[[nodiscard]] Merit merit_of(std::string_view name);
[[nodiscard]] Merit merit_of(Role role);

/// The figures of merit that have a value in one row.
class RowFigures {
 public:
  void count(Merit merit, double value) {
    if (!std::isfinite(value) || merit == Merit::none) return;
    ++all_;
    if (merit == Merit::loss) ++losses_;
  }
  /// Whether another figure of the family has a value beside this one, which was counted.
  [[nodiscard]] bool beside(Merit merit, double value) const {
    return (merit == Merit::loss ? losses_ : all_) > (std::isfinite(value) ? 1U : 0U);
  }

 private:
  std::size_t losses_ = 0;
  std::size_t all_ = 0;
};

/// Writers of tables put `nan` where a row has no value: training rows have none for the validation loss, and the other
/// way round. Others put `inf`, with which a variable was made before the first evaluation. Such a NaN comes where
/// another figure of the same family has a value, and the series goes on after it. A NaN that was computed comes where
/// no other figure has a value, or after a stretch without gaps, and often stays.
///
/// A NaN that may be a gap is held until the series goes on: then it was one and is left out, unless the series had
/// been measured in every row until then. One that outlasts all earlier gaps three times over is handed on. What is
/// held is bounded, and depends on the rows alone, not on how the input was cut.
class GapFilter {
 public:
  /// Takes the next value of a figure of merit. `others` says that another figure of its family has a value in the row.
  void take(const Event& event, bool others, EventSink& sink);
  /// No more rows come. `every_row` says that each row should have every figure: one row per epoch.
  void finish(bool every_row, EventSink& sink);

 private:
  static constexpr std::size_t kMostHeld = 16;  // points of one series
  static constexpr std::size_t kMostHeldInAll = 100'000;
  static constexpr std::uint32_t kLongestFirstGap = 64;  // rows; a first gap may be this long
  static constexpr std::uint32_t kIsolated = 2;          // values in a row before a gap

  struct Track {
    std::uint32_t values = 0;   // finite ones, in all
    std::uint32_t streak = 0;   // finite ones in a row, before the gap that is held
    std::uint32_t gaps = 0;     // known ones
    std::uint32_t longest = 0;  // of them, in rows
    std::uint32_t run = 0;      // rows of the gap that is held
    bool together = false;      // was measured in a row where another figure was
    bool lone = false;          // a known gap had rows in which no other figure had a value
    bool run_lone = false;      // so has the gap that is held
    bool passing = false;       // the NaN are known to be computed
    std::vector<Event> held;
  };

  void value(Track& track, const Event& event, bool others, EventSink& sink);
  void nan(Track& track, const Event& event, bool others, EventSink& sink);
  void release(Track& track, EventSink& sink);
  void drop(Track& track);

  std::vector<Track> tracks_;  // by series
  std::size_t held_ = 0;
};

}  // namespace osler
