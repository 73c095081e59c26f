// Written by osler_score --calibrate; not to be edited by hand. Each row: the finding (the first row is for those
// without their own), intercept and slope between the log-odds of clearness and confidence, the warnings on
// labelled runs it was fitted to, and how many of them the label does not allow.
#include "diagnosis/calibration.h"

namespace osler {

std::span<const CalibrationRow> calibration_table() {
  static constexpr CalibrationRow kRows[] = {
      {"", 0.42, 0.38, 919, 89},
      {"exploding-gradients", 0.65, 0.35, 32, 1},
      {"gradient-nonfinite", 1.08, 0.60, 33, 0},
      {"loss-diverging", 0.99, 0.43, 51, 3},
      {"loss-nonfinite-later", 1.09, 0.63, 32, 0},
      {"loss-oscillating", 0.26, 0.35, 37, 5},
      {"loss-spikes", -0.17, 0.54, 39, 3},
      {"loss-stuck-from-start", 2.14, 0.35, 95, 1},
      {"loss-too-slow", 0.40, 0.17, 39, 9},
      {"overfitting", 1.18, 0.33, 80, 3},
      {"reward-stuck-from-start", 0.95, 0.64, 33, 2},
      {"underfitting", -0.58, 0.29, 47, 12},
      {"validation-frozen", 0.83, 0.38, 32, 2},
  };
  return kRows;
}

}  // namespace osler
