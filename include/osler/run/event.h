// Event and EventSink: the one line along which all data flows, live or from disk.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace osler {

/// The number of a series within its run, given out by EventSink::series.
using SeriesId = std::uint32_t;

/// The wall time of an event whose source does not say.
inline constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();

/// One recorded number: at `step`, series `series` had `value`. Values may be NaN or infinite.
struct Event {
  SeriesId series = 0;
  std::int64_t step = 0;
  double wall_time = kNoTime;  ///< seconds since the Unix epoch
  double value = 0;

  friend bool operator==(const Event&, const Event&) = default;
};

/// The distribution of a tensor's values at one step. Bin `i` holds `counts[i]` values up to `limits[i]` and above the
/// limit before it; the first bin begins at `min`.
struct Histogram {
  SeriesId series = 0;  ///< histograms have names of their own among the series
  std::int64_t step = 0;
  double wall_time = kNoTime;
  double min = 0;
  double max = 0;
  double count = 0;
  double sum = 0;
  double sum_squares = 0;
  std::vector<double> limits;  ///< rising
  std::vector<double> counts;

  friend bool operator==(const Histogram&, const Histogram&) = default;
};

/// Something that happened to the run as a whole.
struct Mark {
  enum class Kind {
    restart,   ///< the steps went back: training was resumed or started again, the later segment wins
    finished,  ///< the source says that training ended by plan
    crashed,   ///< the source says that training ended by an error
    note,      ///< anything else worth showing
  };
  Kind kind = Kind::note;
  std::int64_t step = 0;
  double wall_time = kNoTime;
  std::string text;

  friend bool operator==(const Mark&, const Mark&) = default;
};

/// Receives the events of one run. Implementations state whether they may be used from several threads.
class EventSink {
 public:
  virtual ~EventSink() = default;

  /// The id of the series called `name`, made on first use. Ids count up from 0.
  virtual SeriesId series(std::string_view name) = 0;
  virtual void add(const Event& event) = 0;
  virtual void add(Mark mark) = 0;
  /// One entry of the run's configuration; a later value for the same key wins.
  virtual void config(std::string_view key, std::string_view value) = 0;
  /// A whole distribution. Sinks that only keep numbers ignore it: its statistics come as events of their own.
  virtual void distribution(const Histogram& /*histogram*/) {}
};

}  // namespace osler
