// Written by osler_score --calibrate; not to be edited by hand. Each row: the finding (the first row is for those
// without their own), intercept and slope between the log-odds of clearness and confidence, the warnings on
// labelled runs it was fitted to, and how many of them the label does not allow.
#include "diagnosis/calibration.h"

namespace osler {

std::span<const CalibrationRow> calibration_table() {
  static constexpr CalibrationRow kRows[] = {
      {"", 1.94, 0.45, 2020, 33},
      {"exploding-gradients", 1.88, 0.29, 112, 2},
      {"gradient-nonfinite", 2.49, 0.64, 126, 0},
      {"gradient-norm-oscillating", 2.49, 0.53, 30, 0},
      {"initial-loss-wrong", 2.24, 0.55, 42, 0},
      {"late-loss-variance", 2.58, 0.55, 40, 0},
      {"learning-rate-spent", 2.36, 0.56, 46, 0},
      {"loss-diverging", 2.47, 0.63, 126, 0},
      {"loss-nonfinite-at-start", 2.26, 0.60, 99, 0},
      {"loss-nonfinite-later", 2.41, 0.61, 90, 0},
      {"loss-oscillating", 1.95, 0.30, 115, 3},
      {"loss-scale-collapsing", 2.30, 0.56, 38, 0},
      {"loss-spikes", 1.13, 0.49, 102, 3},
      {"loss-stuck-from-start", 2.89, 0.71, 308, 1},
      {"loss-too-slow", 1.49, 0.40, 36, 1},
      {"overconfidence", 0.98, 0.25, 45, 4},
      {"overfitting", 1.41, 0.33, 210, 11},
      {"underfitting", 1.34, 0.25, 36, 2},
      {"validation-frozen", 2.64, 0.62, 94, 0},
      {"vanishing-gradients", 1.90, 0.59, 86, 1},
  };
  return kRows;
}

}  // namespace osler
