// How non-finite values pass through operations: which were asked for, which are carried on, and who made one.
#pragma once

#include <span>
#include <string_view>

namespace osler::monitor {

/// What the inputs of an operation bring that is not finite.
enum class Carried {
  nothing,
  asked_for,  ///< infinities that the program wanted, such as a mask of -inf
  fault       ///< what somebody is accused of already, or what came from outside
};

/// An operation whose result is not finite.
struct FlowClues {
  std::string_view plain;  ///< its plain name: "log"
  Carried carried = Carried::nothing;
  bool nan_carried = false;    ///< NaN went in
  bool nan_made = false;       ///< NaN came out
  bool scalars_finite = true;  ///< all numbers that the program wrote down for it are finite
};

/// What such a result is.
enum class FlowRuling { carried_on, asked_for, accused };

[[nodiscard]] FlowRuling ruling(const FlowClues& clues);

/// A tensor that was there before the step and holds -inf.
struct MaskClues {
  bool nan = false;
  bool above = false;    ///< it holds +inf
  bool numbers = false;  ///< it holds finite numbers
  double highest = 0;    ///< of the finite numbers
  double lowest = 0;
};

/// Whether it is a mask, to be added to scores by the operation that reads it: nothing above zero, and no NaN.
[[nodiscard]] bool looks_like_mask(std::string_view plain, const MaskClues& clues);

/// addmm and its like with a beta of zero do not read what they add to: it may be memory that nobody has written.
[[nodiscard]] bool ignores_first(std::string_view plain, std::span<const double> scalars);

}  // namespace osler::monitor
