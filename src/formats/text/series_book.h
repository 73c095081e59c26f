// SeriesBook: decides which named numbers of a text become series, and hands their points on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/gaps.h"
#include "formats/text/line_plan.h"
#include "formats/text/step_axis.h"
#include "osler/base/damage.h"
#include "osler/run/event.h"

namespace osler::text {

/// A number on its way into a series.
struct Sighting {
  std::int64_t step = 0;
  double wall_time = kNoTime;
  double value = 0;
  bool others = false;  ///< another figure of its family has a value in the line
};

/// Names and their points. A name that is certain passes at once; another one waits until it came again and changed,
/// so that settings and remarks do not become series. The memory is bounded: at most kMostNames are recorded, and at
/// most kMostWaiting wait. A NaN in a figure of merit that means "not measured" is left out (GapFilter).
class SeriesBook {
 public:
  static constexpr std::size_t kMostNames = 100'000;
  static constexpr std::size_t kMostWaiting = 16'384;

  /// The number of the entry for `name` as seen in lines of that grain. The first grain of a name has it for itself;
  /// the same name in lines of another grain ("EPOCH 1 done: loss 0.85" beside "iter 3 loss 0.9") is another series.
  std::uint32_t entry(std::string_view name, Grain grain);

  /// Which family of figures the entry belongs to.
  [[nodiscard]] Merit merit(std::uint32_t entry) const { return entries_[entry].merit; }

  /// Takes one number. `own` says that the step was counted for it and not taken over from a line before; only then
  /// may several numbers of a series share one step.
  void add(std::uint32_t entry, Sighting sighting, bool own, Trust trust, std::uint32_t generation, EventSink& sink);

  /// Lets pass what waits beside a counter: no second sighting will come.
  void finish(EventSink& sink);

  /// Whether so much waits that it should be forgotten.
  [[nodiscard]] bool crowded() const { return entries_.size() - open_ >= kMostWaiting; }
  /// Forgets what waits. Entry numbers from before are void then.
  void tidy();
  /// Whether names had to be left out.
  [[nodiscard]] bool full() const { return full_; }

 private:
  struct Entry {
    std::string name;
    Grain grain = Grain::none;
    Merit merit = Merit::none;
    SeriesId id = 0;
    bool open = false;
    bool changed = false;
    Trust trust = Trust::none;  // the best seen so far
    std::uint32_t seen = 0;
    std::uint32_t generation = 0;
    std::int64_t last_step = 0;
    double first_value = 0;
    std::vector<Sighting> waiting;
  };

  void open(Entry& entry, EventSink& sink);
  void tell(const Entry& entry, const Sighting& sighting, EventSink& sink);

  std::vector<Entry> entries_;
  std::string key_;                                         // of the name asked for, kept for its memory
  std::unordered_map<std::string, std::uint32_t> numbers_;  // by name and grain
  std::unordered_map<std::string, Grain> grains_;           // which grain of a name became a series first
  GapFilter gaps_;
  std::size_t open_ = 0;
  bool full_ = false;
};

}  // namespace osler::text
