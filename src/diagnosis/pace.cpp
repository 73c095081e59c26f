// Reading step times from whatever the log has.
#include "diagnosis/pace.h"

#include <algorithm>
#include <cmath>

#include "signal/robust.h"

namespace osler {
namespace {

constexpr std::size_t kFewestTimes = 5;

/// A time that nearly always grows is time since the start (of the run, or of its latest part), not time per step.
bool is_elapsed(const std::vector<double>& seconds) {
  constexpr double kNearlyAlways = 0.8;
  std::size_t rises = 0;
  for (std::size_t i = 1; i < seconds.size(); ++i) rises += seconds[i] > seconds[i - 1] ? 1 : 0;
  return static_cast<double>(rises) > kNearlyAlways * static_cast<double>(seconds.size() - 1);
}

std::optional<Pace> measured_pace(const Patient& patient, Role role) {
  for (const Cast& cast : patient.roles().in(role)) {
    const signal::Curve curve = signal::curve_of(cast.series->summary());
    Pace pace;
    pace.series = cast.series->name();
    pace.measured = true;
    for (std::size_t i = 0; i < curve.size(); ++i) {
      if (!(curve.value[i] > 0)) continue;
      pace.step.push_back(curve.step[i]);
      pace.seconds.push_back(role == Role::throughput ? 1 / curve.value[i] : curve.value[i]);
    }
    if (pace.seconds.size() < kFewestTimes || is_elapsed(pace.seconds)) continue;
    pace.last_step = cast.series->summary().last_step();
    return pace;
  }
  return std::nullopt;
}

/// The series with the most points among those with wall times.
const Series* best_clock(const Patient& patient) {
  const Series* best = nullptr;
  for (const Series& series : patient.run().all_series()) {
    const auto total = series.summary().total();
    if (!total || std::isnan(total->first_time) || std::isnan(total->last_time)) continue;
    if (best == nullptr || series.summary().points() > best->summary().points()) best = &series;
  }
  return best;
}

}  // namespace

std::optional<Pace> pace_of(const Patient& patient) {
  for (const Role role : {Role::step_time, Role::throughput}) {
    if (auto pace = measured_pace(patient, role)) return pace;
  }
  const Series* series = best_clock(patient);
  if (series == nullptr) return std::nullopt;
  Pace pace;
  pace.series = series->name();
  pace.last_step = series->summary().last_step();
  std::vector<Bucket> buckets = series->summary().buckets();
  thin(buckets, signal::kCurvePoints);
  for (std::size_t i = 1; i < buckets.size(); ++i) {
    const double seconds = buckets[i].first_time - buckets[i - 1].first_time;
    const auto steps = static_cast<double>(buckets[i].first_step - buckets[i - 1].first_step);
    if (!(seconds > 0) || !(steps > 0)) continue;
    pace.step.push_back(static_cast<double>(buckets[i].first_step));
    pace.seconds.push_back(seconds / steps);
  }
  if (pace.seconds.size() < kFewestTimes) return std::nullopt;
  return pace;
}

std::optional<Rhythm> rhythm_of(const Patient& patient) {
  const Series* series = best_clock(patient);
  if (series == nullptr) return std::nullopt;
  Rhythm rhythm;
  rhythm.series = series->name();
  std::vector<double> usual;
  double before = kNoTime;
  std::int64_t before_step = 0;
  for (const Bucket& bucket : series->summary().buckets()) {
    if (std::isnan(bucket.first_time)) continue;
    const double gap = bucket.first_time - before;
    if (gap > rhythm.longest.seconds) rhythm.longest = {gap, before_step};
    const auto points = static_cast<double>(bucket.points());
    if (points > 1) {
      usual.push_back((bucket.last_time - bucket.first_time) / (points - 1));
    } else if (gap > 0) {
      usual.push_back(gap);
    }
    before = bucket.last_time;
    before_step = bucket.last_step;
  }
  if (usual.size() < kFewestTimes) return std::nullopt;
  rhythm.usual_seconds = signal::median(usual);
  rhythm.last_time = before;
  rhythm.last_step = before_step;
  return rhythm;
}

}  // namespace osler
