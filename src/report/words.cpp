// The words a report uses for degrees and kinds.
#include "report/words.h"

#include <fmt/format.h>

#include <cmath>

#include "report/numbers.h"

namespace osler::layout {

std::string_view in_words(double confidence) {
  if (confidence >= 0.95) return "almost certain";
  if (confidence >= 0.85) return "very likely";
  if (confidence >= 0.70) return "likely";
  if (confidence >= 0.50) return "more likely than not";
  return "possible";
}

std::string_view in_words(Need need) {
  switch (need) {
    case Need::curve:
      return "scalars from any log";
    case Need::layer:
      return "statistics per layer";
    case Need::activation:
      return "statistics of activations";
    case Need::batch:
      return "the data itself";
    case Need::live:
      return "hooks in the training process";
    case Need::probe:
      break;
  }
  return "an active experiment";
}

std::string_view strength(double log_odds) {
  const double size = std::fabs(log_odds);
  return size >= 2 ? "strongly" : size >= 1 ? "clearly" : "slightly";
}

std::string in_words(const Measured& measured) {
  constexpr double kTail = 0.05;  // beyond this share a value is called out, within it is called usual
  const MeasureKind* kind = find_measure(measured.measure);
  std::string text = kind == nullptr ? measured.measure : std::string(kind->title);
  text += " " + short_number(measured.value);
  if (kind != nullptr && !kind->unit.empty()) text += " " + std::string(kind->unit);
  if (!measured.quantile) return text + ": no healthy runs to compare with";
  const double below = *measured.quantile;
  const std::string those = grouped(static_cast<std::uint64_t>(measured.runs)) + " healthy " + measured.among;
  if (below >= 1) return text + ": above all of " + those;
  if (below <= 0) return text + ": below all of " + those;
  // One decimal where it says something: a share of a hundred runs has none.
  const int digits = measured.runs >= 1000 ? 1 : 0;
  const auto share = [&](double part) { return fmt::format("{:.{}f} %", 100 * part, digits); };
  if (below > 1 - kTail) return text + ": above " + share(below) + " of " + those;
  if (below < kTail) return text + ": below " + share(1 - below) + " of " + those;
  return text + ": usual, above " + share(below) + " of " + those;
}

}  // namespace osler::layout
