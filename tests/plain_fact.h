// A plain fact about random runs: what is drawn, and whether anybody would call it sick.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string>

#include "drawn_log.h"
#include "osler/diagnosis/diagnose.h"

namespace osler {

struct Property {
  const char* name;
  std::function<void(Log&, Random&)> draw;
  bool sick;
};

/// Falls as losses do from 1 to `floor`.
inline double descent(double x, double floor, double speed) {
  return floor + (1 - floor) * std::pow(1 + speed * x, -1.1);
}

inline std::string told(const Report& report) {
  std::string text;
  for (const Observation& seen : report.findings) {
    text +=
        fmt::format("\n    {} {} ({:.2f}): {}", to_string(seen.severity), seen.finding, seen.confidence, seen.summary);
  }
  return text.empty() ? "\n    nothing" : text;
}

/// The draws of a property that are judged wrongly, with what was said of them; empty when there is none.
inline std::string wrong_draws(const Property& property, std::uint64_t seed) {
  std::string wrong;
  for (std::size_t i = 0; i < kDraws; ++i) {
    Random random(seed + i);
    Log log(random);
    property.draw(log, random);
    const Result<Report> report = diagnose(log.run());
    if (!report) return "a run could not be diagnosed";
    const bool alarmed = report->status == Status::warning || report->status == Status::critical;
    if (alarmed != property.sick) {
      wrong += fmt::format("\n  draw {}, {} points: {}{}", i, log.points(), report->headline, told(*report));
    }
  }
  return wrong;
}

}  // namespace osler
