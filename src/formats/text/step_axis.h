// StepAxis: the one axis on which all lines of a text log are placed, whatever they count.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "formats/text/line_plan.h"

namespace osler::text {

/// How finely a line's own counters place it.
enum class Grain : std::uint8_t { none, epoch, step };

/// The counters of one line.
struct Counters {
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> total;
  std::optional<double> epoch;
  std::optional<std::int64_t> epochs;  ///< that are to be trained
  bool fractional_epoch = false;
  CounterKind kind = CounterKind::none;
  std::uint64_t name = 0;   ///< of the step counter
  std::uint64_t shape = 0;  ///< of the line
  bool evaluation = false;  ///< the line tells of data that is not trained on
  bool batches = false;     ///< the step is that of a batch within its epoch
};

/// Where a line belongs.
struct Place {
  std::int64_t step = 0;
  Grain grain = Grain::none;
  bool own = false;       ///< from the line's own counter, not from a line before
  std::uint8_t lane = 0;  ///< which of several processes that write into one file
};

/// Places lines in the order they come.
///
/// A counter of steps places its line. One that starts again in each epoch is continued by an offset; one that goes
/// back otherwise is a restart and stays as it is. Where only epochs are counted they are the steps, unless lines of
/// one shape come several times in an epoch: then the lines are counted. A line without counter stands where the line
/// before it stood. When two processes write alternately, the steps form two rising
/// sequences; each is a lane of its own.
class StepAxis {
 public:
  Place place(const Counters& counters);
  /// A line that counts but records nothing: a heading.
  void heading(const Counters& counters);
  /// Training begins anew with another part of the model or the data. Where nothing counts, the lines are counted anew.
  void begin_part();
  /// Something outside the lines knows the step.
  void move_to(std::int64_t step);

  /// Where a line without counter stands now.
  [[nodiscard]] std::int64_t current() const { return current_; }
  /// Counts restarts: within one generation the steps of a series do not fall.
  [[nodiscard]] std::uint32_t generation() const { return generation_; }

 private:
  struct Lane {
    std::int64_t last = 0;
    std::int64_t stride = 1;
  };
  struct Epoch {
    std::int64_t offset = 0;
    std::int64_t longest = 0;  // how far the counter came in it
  };
  struct Counter {
    std::optional<std::int64_t> last;  // as written
    std::optional<std::int64_t> total;
    std::optional<std::int64_t> epoch;
    std::optional<std::int64_t> first_epoch;
    bool starts_again = false;  // in each epoch
    bool unsaid = false;        // the epoch is counted here, since the log does not tell it
    int advances = 0;           // in a row
    std::int64_t gap = 1;       // from the step before
    int standing = 0;           // epochs in a row that began where the one before did
    std::map<std::int64_t, Epoch> epochs;
    std::vector<Lane> lanes;
    std::optional<Lane> before_fall;  // the lane as it was before the steps went back
    int since_fall = 0;
  };

  [[nodiscard]] bool counts_evaluation(const Counters& counters) const;
  std::int64_t absolute(Counter& counter, const Counters& counters);
  static std::int64_t offset_of(Counter& counter, const Counters& counters, std::int64_t epoch);
  std::uint8_t lane_of(Counter& counter, std::int64_t step, bool& fell);
  void advance(std::int64_t step, bool fell);
  Place place_by_epoch(const Counters& counters);

  std::unordered_map<std::uint64_t, Counter> counters_;
  std::optional<std::int64_t> epoch_;
  std::optional<std::int64_t> train_total_;
  std::int64_t current_ = 0;
  std::int64_t rows_ = 0;  // with a fractional epoch and nothing finer
  std::uint32_t generation_ = 0;
  bool has_steps_ = false;
  bool has_training_steps_ = false;
  bool moved_ = false;  // from outside
  // Of lines that count epochs only: the shape that came last, how often in this epoch, and the one that is counted.
  std::uint64_t repeated_shape_ = 0;
  std::optional<std::int64_t> repeated_epoch_;
  int repeats_ = 0;
  std::optional<std::uint64_t> counted_shape_;
};

}  // namespace osler::text
