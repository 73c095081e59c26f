// Written by osler_score --calibrate; not to be edited by hand. Each row: the finding (the first row is for those
// without their own), intercept and slope between the log-odds of clearness and confidence, the warnings on
// labelled runs it was fitted to, and how many of them the label does not allow.
#include "diagnosis/calibration.h"

namespace osler {

std::span<const CalibrationRow> calibration_table() {
  static constexpr CalibrationRow kRows[] = {
      {"", 0.78, 0.27, 2310, 379},
      {"confidence-without-learning", 0.80, 0.32, 41, 7},
      {"exploding-gradients", 0.69, 0.32, 56, 5},
      {"gradient-nonfinite", 1.30, 0.41, 91, 4},
      {"loss-beyond-chance", -0.39, 0.27, 60, 28},
      {"loss-diverging", 1.18, 0.31, 69, 7},
      {"loss-nonfinite-at-start", 1.13, 0.41, 109, 5},
      {"loss-nonfinite-later", 1.62, 0.59, 82, 0},
      {"loss-oscillating", 0.99, 0.24, 69, 9},
      {"loss-plateau", -0.70, 0.18, 45, 28},
      {"loss-spikes", 0.18, 0.43, 81, 10},
      {"loss-stuck-from-start", 1.80, 0.45, 281, 10},
      {"loss-too-slow", 1.85, 0.29, 167, 8},
      {"metric-contradicts-loss", 1.43, 0.21, 47, 5},
      {"overconfidence", 1.35, 0.20, 68, 6},
      {"overfitting", 1.10, 0.22, 246, 39},
      {"predicts-one-class", 0.85, 0.15, 51, 19},
      {"underfitting", 0.52, 0.29, 273, 48},
      {"validation-better-than-training", 0.21, 0.18, 43, 20},
      {"validation-frozen", 0.31, 0.15, 112, 65},
      {"vanishing-gradients", 0.78, 0.41, 32, 3},
  };
  return kRows;
}

}  // namespace osler
