// Turn: a validation curve that falls to a valley and then rises for good.
#pragma once

#include "diagnosis/patient.h"
#include "signal/valley.h"

namespace osler {

/// What makes a rise after a valley count.
struct TurnLimits {
  double noise_units = 2.5;   ///< noise levels the rise must exceed
  double rise_share = 0.03;   ///< share of the gain that must be lost
  double level_share = 0.01;  ///< share of the level that the rise must exceed
  double least_gain = 0.02;   ///< gain assumed for a curve that never fell, as a share of its level
  double p_value = 0.05;      ///< significance of the rise
  double level_enough = 0;    ///< share of the level that matters whatever the gain was; 0 for none
};

/// The valley of a reading and how much its rise matters.
struct Turn {
  signal::Valley valley;
  double units = 0;   ///< the rise in noise units
  double share = 0;   ///< the rise as a share of the gain
  bool real = false;  ///< every limit is exceeded
};

/// Looks for a turn in a reading of at least 4 points.
/// `first_level` is where the objective began before the first evaluation, if that is known (NaN otherwise): the gain
/// is counted from there.
[[nodiscard]] Turn turn_of(const Reading& reading, const TurnLimits& limits, double first_level);
/// The level of the training loss at its start when it is comparable with a validation loss; NaN otherwise.
[[nodiscard]] double comparable_start(const Patient& patient);

/// What a validation metric did after a step.
enum class Motion { improved, flat, declined };
[[nodiscard]] Motion motion_after(const Reading& metric, double step);

/// Training went on improving after `step`, or sits far below `validation` already.
[[nodiscard]] bool training_improves_after(const Patient& patient, double step, const Reading& validation);

/// The loss rises after its valley, mildly, but most answers stay right: an accuracy that is good ends near its best.
/// The model grows surer, not worse.
[[nodiscard]] bool only_grows_surer(const Patient& patient, const Reading& loss, const Turn& turn);

}  // namespace osler
