// BareRows: rows at the end of a log that have a step and nothing else.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "osler/base/damage.h"

namespace osler {

/// Counts them as they come, and says at the end that they were there: pandas and strict JSON libraries write NaN as
/// nothing, so that a training which broke looks like one that ended earlier.
class BareRows {
 public:
  void row(bool bare, std::uint64_t line) {
    if (bare && count_ == 0) first_ = line;
    count_ = bare ? count_ + 1 : 0;
  }
  void finish(DamageReport& damage) const {
    if (count_ < kFewest) return;
    damage.add({{},
                0,
                first_,
                fmt::format("the last {} rows have a step and no value: NaN looks like this where it is written as "
                            "an empty cell or null",
                            count_),
                0});
  }

 private:
  static constexpr std::uint64_t kFewest = 20;  // that are no accident

  std::uint64_t count_ = 0;  // in a row
  std::uint64_t first_ = 0;  // the line of the first of them
};

}  // namespace osler
