// Numbers as a person reads them.
#include "report/numbers.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "run/reach.h"

namespace osler::layout {
namespace {

std::string group_digits(std::string digits) {
  const std::size_t start = digits.starts_with('-') ? 1 : 0;
  for (std::size_t i = digits.size(); i > start + 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

}  // namespace

std::string short_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Inf" : "-Inf";
  const double size = std::fabs(value);
  if (size >= kLargestFigure) return fmt::format("{}{:g}", value > 0 ? ">" : "<-", kLargestFigure);
  if (size == 0) return "0";
  if (size >= 1e7 || size < 1e-3) return fmt::format("{:.3g}", value);
  if (size >= 1000 || value == std::round(value)) return grouped(static_cast<std::int64_t>(std::llround(value)));
  return fmt::format("{:.4g}", value);
}

std::string grouped(std::int64_t value) {
  return group_digits(std::to_string(value));
}
std::string grouped(std::uint64_t value) {
  return group_digits(std::to_string(value));
}

std::string byte_count(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, unit > 0 && value < 10 ? 1 : 0, kUnits[unit]);
}

std::string percent(double share) {
  if (!(share >= 0 && share <= 1)) return "? %";
  if (share > 0 && share < 0.01) return "<1 %";
  if (share < 1 && share > 0.99) return ">99 %";
  return fmt::format("{:.0f} %", share * 100);
}

std::string counted(std::uint64_t count, const std::string& noun) {
  return grouped(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace osler::layout
