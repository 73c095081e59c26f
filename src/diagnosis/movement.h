// Movement: how a curve moved over a stretch, and a closer look at curves than their readings give.
#pragma once

#include <cstddef>

#include "diagnosis/patient.h"

namespace osler {

/// How a reading moved over a stretch of its points. Falling is progress.
struct Movement {
  std::size_t points = 0;
  double from = 0;   ///< median of the first eighth of the stretch
  double to = 0;     ///< median of the last eighth
  double sigma = 0;  ///< noise of a single point of the stretch
  signal::Trend trend;

  [[nodiscard]] double fall() const { return from - to; }
  /// It fell significantly, and by more than `least` and twice the noise.
  [[nodiscard]] bool falls(double alpha, double least) const;
  [[nodiscard]] bool rises(double alpha, double least) const;
};

/// The movement over the points `first` up to but not including `last`.
[[nodiscard]] Movement movement_of(const Reading& reading, std::size_t first, std::size_t last);
[[nodiscard]] Movement movement_of(const Reading& reading);

/// The training objective clearly got better over the run: significantly, beyond its noise, by a tenth of its level.
/// What looks odd but leaves this untouched is worth a note, not a warning.
[[nodiscard]] bool training_improves(const Patient& patient);

/// The curve of a reading in as many points as its series keeps: up to four times as fine. The sum of several series is
/// returned as it is.
[[nodiscard]] signal::Curve close_up(const Patient& patient, const Reading& reading);

/// How much single logged values of a reading scatter, however many of them a point of its curve stands for.
[[nodiscard]] double scatter_of_values(const Patient& patient, const Reading& reading);

/// The training loss is all there is to judge by, its values scatter by a good part of their level, and what it may
/// have moved lies within that: neither progress nor standstill shows.
[[nodiscard]] bool lost_in_scatter(const Patient& patient);

/// The very first finite value that was logged.
[[nodiscard]] double first_value(const Patient& patient, const Reading& reading);

}  // namespace osler
