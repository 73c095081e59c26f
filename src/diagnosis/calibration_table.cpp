// Written by osler_score --calibrate; not to be edited by hand. Each row: the finding (the first row is for those
// without their own), intercept and slope between the log-odds of clearness and confidence, the warnings on
// labelled runs it was fitted to, and how many of them the label does not allow.
#include "diagnosis/calibration.h"

namespace osler {

std::span<const CalibrationRow> calibration_table() {
  static constexpr CalibrationRow kRows[] = {
      {"", 1.86, 0.52, 2012, 32},
      {"exploding-gradients", 2.27, 0.66, 109, 0},
      {"gradient-nonfinite", 2.37, 0.69, 126, 0},
      {"gradient-norm-oscillating", 2.40, 0.60, 30, 0},
      {"initial-loss-wrong", 2.13, 0.61, 42, 0},
      {"late-loss-variance", 2.49, 0.61, 40, 0},
      {"learning-rate-spent", 2.29, 0.62, 49, 0},
      {"loss-diverging", 2.32, 0.68, 116, 0},
      {"loss-nonfinite-at-start", 2.14, 0.65, 99, 0},
      {"loss-nonfinite-later", 2.30, 0.66, 90, 0},
      {"loss-oscillating", 1.86, 0.35, 115, 3},
      {"loss-plateau", 2.41, 0.63, 48, 0},
      {"loss-scale-collapsing", 2.19, 0.62, 38, 0},
      {"loss-spikes", 0.85, 0.45, 105, 6},
      {"loss-stuck-from-start", 2.80, 0.76, 312, 1},
      {"loss-too-slow", 1.38, 0.46, 36, 1},
      {"overconfidence", 1.06, 0.25, 47, 4},
      {"overfitting", 1.16, 0.48, 209, 10},
      {"underfitting", 1.28, 0.32, 44, 2},
      {"validation-frozen", 2.55, 0.68, 97, 0},
      {"vanishing-gradients", 1.78, 0.64, 86, 1},
  };
  return kRows;
}

}  // namespace osler
