// Standing: whether the second run of a comparison is better or worse than the first, and on what that rests.
#pragma once

#include "osler/diagnosis/compare.h"

namespace osler {

/// The series by which runs are judged: validation before training, a loss before a metric; nullptr when there is none.
[[nodiscard]] const SeriesComparison* judge_of(const Comparison& comparison);

/// Sets standing, reason and verdict of a comparison whose series, range and reports are there. `end_a` and `end_b` are
/// where the runs end on the common axis.
void set_standing(Comparison& comparison, double end_a, double end_b, const CompareOptions& options);

/// A place on the common axis as the facts name it: "step 1200".
[[nodiscard]] std::string place_on(Axis axis, double at);

/// Since when a side that is lost has no finite value: " after step 199", " at all".
[[nodiscard]] std::string lost_since(const Side& side);

/// A compared series as the facts name it.
[[nodiscard]] std::string name_of(const SeriesComparison& series);

}  // namespace osler
