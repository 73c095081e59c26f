// LinePlan: what the numbers of a line mean, worked out once for all lines of the same shape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/text/scan.h"
#include "formats/text/settings.h"
#include "formats/text/vocabulary.h"

namespace osler::text {

/// How sure it is that a named number is a series and not a remark.
enum class Trust : std::uint8_t {
  none,      ///< not recorded at all
  setting,   ///< named like a setting: a series only if it comes all the time
  doubtful,  ///< a series once it came often enough and changed
  likely,    ///< beside a counter: a series once it came again and changed
  certain,
};

/// What becomes of one number.
struct Slot {
  enum class Use : std::uint8_t { skip, value, ratio };  // ratio: the number divided by the next
  Use use = Use::skip;
  Trust trust = Trust::none;
  Split split = Split::none;  ///< said earlier in the line
  bool takes_block = false;   ///< a heading above may say the split
  bool drops_nonfinite = false;
  std::string name;
  /// Which series it is in which context (heading, process); filled by the reader.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> series;
};

/// How a line shows progress.
enum class Bar : std::uint8_t {
  none,
  tqdm,   ///< "42%|...| 420/1000 [...]": each state is worth keeping
  keras,  ///< "420/1000 [===>...]": running means that the last state of an epoch completes
};

/// Where a line's counter comes from, which decides how it is trusted.
enum class CounterKind : std::uint8_t {
  none,
  named,      ///< "step 100"
  bare,       ///< a number without name in the right place: "[100/600]"
  bar,        ///< a progress bar that shows each step
  epoch_bar,  ///< a progress bar that is drawn once per epoch
};

/// The plan for one shape of line. Indices count the numbers of the line; -1 where there is none.
struct LinePlan {
  std::vector<Slot> slots;
  std::int16_t epoch = -1;
  std::int16_t step = -1;
  std::int16_t total = -1;      ///< how many steps there are in all, or in the epoch
  std::int16_t epochs = -1;     ///< how many epochs are to be trained: "Epoch 3/50"
  std::int16_t rank = -1;       ///< which of several processes speaks
  std::int16_t fixed_rank = 0;  ///< the same, where it is part of a word ("[rank1]:")
  CounterKind counter_kind = CounterKind::none;
  std::uint64_t counter = 0;  ///< tells counters of different names apart
  Bar bar = Bar::none;
  bool batches = false;        ///< the step counts the batches of an epoch: "[Batch 300/940]"
  bool may_be_length = false;  ///< the step may be the length of an episode: "steps: 21, reward: 30"
  bool evaluation = false;     ///< the line tells of data that is not trained on
  Split split = Split::none;   ///< the first split the line names by itself
  std::uint8_t named = 0;      ///< how many numbers have a name, counters included
  bool fractional_epoch = false;
  bool heading = false;           ///< the line starts with its counter and says little else
  bool dated = false;             ///< a date stands in front
  bool values = false;            ///< some slot records something
  bool metric = false;            ///< one of them is a figure of merit
  bool code = false;              ///< the line is source code: nothing is taken from it
  bool crash = false;             ///< the line tells that training was ended
  bool norm = false;              ///< one of the values is a norm
  bool clipped = false;           ///< the line says that the gradient was clipped
  bool possible_step = false;     ///< its only number counts steps if it rises from one such line to the next
  std::optional<double> count;    ///< the newest of those numbers; filled by the reader
  bool rose = false;              ///< it did rise
  std::vector<Setting> settings;  ///< of the run, in a line that does not count

  [[nodiscard]] bool counted() const { return epoch >= 0 || step >= 0; }
};

/// The plan for lines that look like `line`.
[[nodiscard]] LinePlan plan_line(std::string_view line, const Scan& scan);

}  // namespace osler::text
