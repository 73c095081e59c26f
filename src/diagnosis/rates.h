// Rates: the learning rate that training as a whole follows, as the findings about schedules read it.
#pragma once

#include <optional>

#include "diagnosis/patient.h"

namespace osler {

/// The learning rate in as fine a curve as the run keeps. With several parameter groups it is the one with the lowest
/// peak above zero: detectors warm their biases down from a rate many times higher. Nothing when the log has no rate
/// above zero.
struct RateCurve {
  std::string name;
  signal::Curve curve;
  double first = 0;  ///< the very first logged rate
  double peak = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
};
[[nodiscard]] std::optional<RateCurve> main_rate(const Patient& patient);

}  // namespace osler
