// Prognosis: where the loss will be at the end that is planned for a run, if the training goes on as it does.
#pragma once

#include <optional>

#include "diagnosis/patient.h"
#include "osler/diagnosis/report.h"

namespace osler {

/// Where a curve is heading, and the unit in which such words turned out wrong.
struct Foresight {
  double now = 0;    ///< the level of the last points
  double value = 0;  ///< the level expected
  double scale = 0;  ///< how far decays that fit as well differ, with the noise of the levels
  double ahead = 0;  ///< the stretch to come, in lengths of the one that is known
};

/// Extends a falling curve to `step`. Nothing when it has fewer points than can tell, does not fall, or `step` lies too
/// far away.
[[nodiscard]] std::optional<Foresight> foresee(const signal::Curve& curve, double step);

/// One class of horizons with what was learned for it: `osler_score --learn-margins` writes the table.
struct MarginRow {
  double most_ahead = 0;  ///< holds for foresights up to this far ahead
  std::size_t cuts = 0;   ///< the cut runs behind it
  double low = 0;         ///< scales below the value that 5 in 100 fell short of, negative
  double high = 0;        ///< scales above it that 5 in 100 exceeded
};

/// What nine in ten runs kept to: the interval around a foresight, by the margins learned from runs that were cut.
struct Prospects {
  double low = 0;
  double high = 0;
};
[[nodiscard]] Prospects within(const Foresight& foresight, const MarginRow& margin);

/// Whether what is foreseen is certain enough to say something; margins are learned from no other.
[[nodiscard]] bool worth_telling(const Foresight& foresight);

/// The step at which the run is planned to end, by its configuration or by a rate on its way to zero; nothing when that
/// is not known or not ahead.
struct PlannedEnd {
  double step = 0;
  std::string from;  ///< "max_steps 20000", "the learning rate reaches zero"
};
[[nodiscard]] std::optional<PlannedEnd> planned_end(const Patient& patient);

/// The prognosis of a run that is still on its way; nothing where none can be told.
[[nodiscard]] std::optional<Prognosis> prognosis_of(const Patient& patient);

}  // namespace osler
