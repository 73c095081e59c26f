// OriginCause: why an operation made a NaN or an infinity.
#pragma once

#include <string_view>

namespace osler::monitor {

/// Why an operation made a non-finite value. All but the last three are causes of the catalogue.
enum class OriginCause {
  log_of_zero,
  division_by_zero,
  sqrt_at_zero,
  exp_overflow,
  fp16_overflow,
  exploding_signal,
  corrupt_data,           ///< a tensor from outside (the batch) was not finite
  in_place_modification,  ///< a tensor that others rely on was overwritten
  nonfinite_weight,       ///< a parameter or buffer was not finite before the step
  outside_domain,         ///< an operation that is not defined for such numbers: acos(1.001), 0 x inf, inf - inf
  unknown,
};
/// The id: "log-of-zero".
[[nodiscard]] std::string_view to_string(OriginCause cause);

}  // namespace osler::monitor
