// step-time-drift: whether steps become slower.
#include <span>

#include "diagnosis/pace.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"
#include "signal/robust.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  constexpr std::size_t kFewest = 16;
  const std::optional<Pace> pace = pace_of(patient);
  if (!pace || pace->seconds.size() < kFewest) return std::nullopt;
  const std::span<const double> seconds = pace->seconds;
  const std::size_t third = seconds.size() / 3;
  const double early = signal::median(seconds.first(third));
  if (early <= 0) return std::nullopt;
  return signal::median(seconds.last(third)) / early;
}

}  // namespace

MeasureKind step_time_drift() {
  return {"step-time-drift",
          "drift of the time per step",
          "times",
          "The time per step in the last third of the run over that in its first third.",
          "logs with step times, throughput or wall times of at least 16 points",
          take};
}

}  // namespace osler::catalogue::measure
