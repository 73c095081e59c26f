// Bedside: patients with hand-made findings, for the tests of weighing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/weigh.h"
#include "osler/run/role.h"

namespace osler::bedside {

/// Logs `value(step)` every `every` steps.
inline void log(Run& run, const std::string& name, std::int64_t rows, std::int64_t every,
                const std::function<double(double)>& value) {
  const SeriesId id = run.series(name);
  for (std::int64_t row = 0; row < rows; ++row) {
    run.add(Event{id, row * every, kNoTime, value(static_cast<double>(row * every))});
  }
}

/// A patient with hand-made findings.
struct Bedside {
  osler::Run run;
  Verdicts verdicts;

  Bedside& found(const std::string& id, double confidence = 0.9, Severity severity = Severity::warning,
                 std::map<std::string, std::string> qualifiers = {}) {
    Observation seen;
    seen.finding = id;
    seen.severity = severity;
    seen.confidence = confidence;
    seen.qualifiers = std::move(qualifiers);
    verdicts.set(id, seen);
    return *this;
  }
  Bedside& absent(const std::string& id) {
    verdicts.set(id, NotFound{});
    return *this;
  }
  Bedside& unchecked(const std::string& id) {
    verdicts.set(id, NotChecked{"not in the log"});
    return *this;
  }

  [[nodiscard]] Weighing weigh() const {
    const auto roles = RoleMap::infer(run);
    return osler::weigh(Patient(run, *roles), verdicts);
  }
};

/// The ids of the first `at_most` causes.
inline std::vector<std::string> ids(const std::vector<WeighedCause>& causes, std::size_t at_most = 100) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < std::min(at_most, causes.size()); ++i) list.push_back(causes[i].cause);
  return list;
}

/// The id of the most probable cause, or "nothing".
inline std::string first(const Weighing& weighing) {
  return weighing.causes.empty() ? "nothing" : weighing.causes.front().cause;
}

}  // namespace osler::bedside
