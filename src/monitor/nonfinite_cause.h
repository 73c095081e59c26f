// judge(): why an operation made a non-finite value, by its name and what went into it.
#pragma once

#include <optional>
#include <string>

#include "osler/monitor/origin_cause.h"

namespace osler::monitor {

/// What is known of an operation whose inputs were finite and whose result is not.
struct NonfiniteClues {
  std::string plain;             ///< the operation's plain name: "log"
  std::string node;              ///< of a backward operation, the plain name of the forward one; empty otherwise
  bool half = false;             ///< the result is stored in half precision (f16)
  bool infinite = false;         ///< infinities came out, no NaN
  std::optional<double> first;   ///< the first input's element at the first bad place
  std::optional<double> second;  ///< the second input's, or the scalar
  double largest = 0;            ///< the largest magnitude among the inputs
  bool infinite_inputs = false;  ///< infinities went in, no NaN: they were asked for
};

/// The cause, and what about the inputs explains it, in a few words.
struct NonfiniteJudgement {
  OriginCause cause = OriginCause::unknown;
  std::string detail;
};

[[nodiscard]] NonfiniteJudgement judge(const NonfiniteClues& clues);

}  // namespace osler::monitor
