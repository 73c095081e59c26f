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

/// The highest rate that working set-ups have, by the configured optimizer: Kingma and Ba 2015 and the defaults of the
/// frameworks for Adam, Goyal et al. 2017 for SGD and where none is named, Chen et al. 2023 for Lion.
[[nodiscard]] double highest_usual_rate(const Patient& patient);

/// Where a rate was at work and since when it is spent.
struct SpentRate {
  double works_from = 0;   ///< step at which it first reached its working level
  double works_until = 0;  ///< last step at that level
  double spent_since = 0;  ///< step from which it stays below what counts as spent
  double spent_part = 0;   ///< share of the run since then
  double left = 0;         ///< the rate now, as a share of the peak
};
/// Levels as shares of the peak.
struct SpentLimits {
  double spent = 0.02;
  double works = 0.3;
  double plan = 0.4;  ///< a step decay whose last step lies beyond this share of the run was planned for all of it
};
/// Nothing when the rate is not spent at `last_step`, or decays in steps that were planned for the whole run.
[[nodiscard]] std::optional<SpentRate> spent_rate(const RateCurve& rate, double last_step, const SpentLimits& limits);

}  // namespace osler
