// Formatting of numbers for people.
#include "diagnosis/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "run/reach.h"

namespace osler {

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  // No series keeps larger values: this stands for whatever the log had.
  if (std::abs(value) >= kLargestFigure) return fmt::format("{}{:g}", value > 0 ? ">" : "<-", kLargestFigure);
  return fmt::format("{:.4g}", value);
}

std::string per_cent(double share) {
  constexpr double kInDigits = 1e6;
  const double value = 100 * share;
  if (!(std::abs(value) < kInDigits)) return number(value) + " %";
  return std::abs(value) < 10 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

std::string times(double factor) {
  if (!(std::abs(factor) < kLargestFigure)) return number(factor) + "x";
  return factor < 10 ? fmt::format("{:.1f}x", factor) : fmt::format("{:.3g}x", factor);
}

std::string at_step(std::int64_t step) {
  std::string digits = std::to_string(step);
  const std::size_t sign = step < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > sign + 3; i -= 3) digits.insert(i - 3, ",");
  return "step " + digits;
}

double confidence_of(double margin) {
  constexpr double kAtThreshold = 0.4;
  constexpr double kSteepness = 1.5;
  constexpr double kMost = 0.99;
  return std::min(kMost, 1 - kAtThreshold * std::pow(std::max(margin, 1.0), -kSteepness));
}

}  // namespace osler
