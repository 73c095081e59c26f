// Runs made by hand for the tests of findings, and the verdict of one finding on them.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "diagnosis/patient.h"
#include "diagnosis/settings.h"
#include "osler/diagnosis/catalogue.h"

namespace osler::sample {

using Values = std::vector<double>;

/// Normal draws that are the same on every machine.
class Noise {
 public:
  explicit Noise(std::uint32_t seed = 1) : engine_(seed) {}

  double uniform() { return (static_cast<double>(engine_()) + 0.5) / 4294967296.0; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

 private:
  std::mt19937 engine_;
};

/// `count` values of a function of the progress from 0 to 1.
inline Values curve(std::size_t count, const std::function<double(double)>& at) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = at(static_cast<double>(i) / static_cast<double>(count - 1));
  return values;
}

/// The same with every value multiplied by a noisy factor around 1.
inline Values noisy(std::size_t count, double relative, std::uint32_t seed, const std::function<double(double)>& at) {
  Noise noise(seed);
  return curve(count, [&](double x) { return at(x) * (1 + relative * noise.normal()); });
}

/// A loss that falls as losses do.
inline double descent(double progress) {
  return 0.3 + 2.0 * std::pow(1 + 40 * progress, -0.6);
}

/// When and at which distances points are recorded.
struct Axis {
  std::int64_t first = 0;
  std::int64_t stride = 1;
  double start_time = kNoTime;
  double seconds_per_step = 1;
};

/// Records `values` as series `name`.
inline void record(Run& run, std::string_view name, const Values& values, const Axis& axis = {}) {
  const SeriesId id = run.series(name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t step = axis.first + static_cast<std::int64_t>(i) * axis.stride;
    run.add(Event{id, step, axis.start_time + axis.seconds_per_step * static_cast<double>(i), values[i]});
  }
}

/// All values multiplied by `factor`.
inline Values times(Values values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

/// What the finding `id` says of a run.
inline Verdict verdict_of(std::string_view id, const Run& run, double now = kNoTime) {
  const Finding* finding = find_finding(id);
  if (finding == nullptr) return NotChecked{"no finding of that name"};
  const auto roles = RoleMap::infer(run);
  return finding->check(Patient(run, *roles, now), SettingValues(*finding, {}));
}

inline bool absent(const Verdict& verdict) {
  return std::holds_alternative<NotFound>(verdict);
}

inline bool unchecked(const Verdict& verdict) {
  return std::holds_alternative<NotChecked>(verdict);
}

/// "absent", "not checked: why", or "severity: summary"; what a failing test should print.
inline std::string in_words(const Verdict& verdict) {
  if (const auto* seen = std::get_if<Observation>(&verdict)) {
    return std::string(to_string(seen->severity)) + ": " + seen->summary;
  }
  if (const auto* reason = std::get_if<NotChecked>(&verdict)) return "not checked: " + reason->reason;
  return "absent";
}

inline bool found(const Verdict& verdict, Severity severity) {
  const auto* seen = std::get_if<Observation>(&verdict);
  return seen != nullptr && seen->severity == severity && !seen->summary.empty() && !seen->evidence.empty() &&
         seen->confidence > 0 && seen->confidence <= 1;
}

/// Nothing, or only a note.
inline bool no_alarm(const Verdict& verdict) {
  const auto* seen = std::get_if<Observation>(&verdict);
  return seen == nullptr || seen->severity == Severity::note;
}

}  // namespace osler::sample
