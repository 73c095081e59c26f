// Numbers and steps as reports write them.
#pragma once

#include <cstdint>
#include <string>

namespace osler {

/// A number with four significant digits: "0.6931", "3e-05", "NaN".
[[nodiscard]] std::string number(double value);
/// A share as per cent: "12 %", "0.4 %".
[[nodiscard]] std::string per_cent(double share);
/// A factor: "3.2x", "140x".
[[nodiscard]] std::string times(double factor);
/// "step 1200".
[[nodiscard]] std::string at_step(std::int64_t step);

/// How sure a finding is that exceeds its threshold by the factor `margin` (at least 1): 0.6 at the threshold, 0.86 at
/// twice, 0.95 at four times it, never above 0.99. Calibrated on the labelled runs (docs/accuracy.md).
[[nodiscard]] double confidence_of(double margin);

}  // namespace osler
