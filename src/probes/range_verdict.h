// What a learning rate range test has to say, whoever trained.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "osler/run/experiment.h"
#include "probes/range_curve.h"

namespace osler::probes {

/// Judges the passes of a range test and writes values, columns, outcome and verdict. `present` is the rate that the
/// optimizer has, `batches` what is wrong with the batches that were drawn.
void write_range(std::span<const double> rates, const std::vector<RangePass>& passes, double present,
                 const RangeCurveOptions& options, const std::optional<std::string>& batches, Experiment& experiment);

}  // namespace osler::probes
