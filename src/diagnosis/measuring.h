// Measuring: what several measures ask of a run.
#pragma once

#include <optional>
#include <string>

#include "diagnosis/patient.h"

namespace osler {

/// The reading when it has enough points for a statistic of its shape, else nullptr.
[[nodiscard]] const Reading* long_enough(const Reading* reading);
/// Noise of a single point over the median of the absolute values. Nothing for short or vanishing readings.
[[nodiscard]] std::optional<double> scatter_over_level(const Reading* reading);
/// The median of the last third over that of the first third. Nothing where the first is not above zero.
[[nodiscard]] std::optional<double> late_over_early(const Reading* reading);
/// The highest learning rate of the log, or else the configured one; nothing when it is not above zero.
[[nodiscard]] std::optional<double> highest_rate(const Patient& patient);
/// The configured optimizer in small letters.
[[nodiscard]] std::optional<std::string> optimizer_of(const Patient& patient);

/// The groups of runs that a run belongs to, the narrowest first: by what is trained, by whether it is logged by the
/// step or by the epoch, and by the optimizer.
[[nodiscard]] std::vector<std::string> strata_of(const Patient& patient);

}  // namespace osler
