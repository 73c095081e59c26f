// Written by osler_score --learn; not to be edited by hand. Each row: cause, finding, what is added to the
// log-odds of the cause when the finding is there and when its check found nothing, labelled runs with that cause,
// and in the comment what the cause's file states.
#include "diagnosis/pull_weights.h"

namespace osler {

std::span<const LearnedPull> learned_pulls() {
  static constexpr LearnedPull kRows[] = {
      {"bad-initialization", "initial-loss-wrong", 3.5, -0.2, 192},                  // 3.4, -0.2
      {"batch-too-small", "loss-oscillating", 1.9, 0.0, 58},                         // 2.0, 0.0
      {"class-imbalance", "confidence-without-learning", 3.3, -0.2, 53},             // 3.1, -0.3
      {"class-imbalance", "validation-frozen", 2.0, 0.0, 53},                        // 1.9, 0.0
      {"clip-threshold-too-small", "loss-stuck-from-start", 0.3, 0.0, 20},           // 0.4, 0.0
      {"corrupt-data", "loss-spikes", 3.1, 0.0, 76},                                 // 3.0, 0.0
      {"data-not-normalized", "initial-loss-wrong", 3.5, 0.0, 94},                   // 3.2, 0.0
      {"data-not-normalized", "loss-stuck-from-start", 1.1, 0.0, 94},                // 1.3, 0.0
      {"dead-units", "loss-stuck-from-start", 1.6, 0.0, 98},                         // 1.7, 0.0
      {"disconnected-graph", "vanishing-gradients", 1.5, 0.0, 93},                   // 1.4, 0.0
      {"disconnected-graph", "loss-exactly-zero", 1.7, 0.0, 93},                     // 1.5, 0.0
      {"exploding-signal", "loss-diverging", 1.3, 0.0, 191},                         // 1.4, 0.0
      {"frozen-parameters", "loss-stuck-from-start", 2.1, 0.0, 57},                  // 1.8, 0.0
      {"frozen-parameters", "underfitting", 1.1, 0.0, 57},                           // 1.0, 0.0
      {"label-noise", "underfitting", 1.4, 0.0, 55},                                 // 1.2, 0.0
      {"label-smoothing", "confidence-without-learning", 2.6, 0.0, 18},              // 2.7, 0.0
      {"label-smoothing", "accuracy-outruns-loss", 3.5, -0.4, 18},                   // 3.0, -0.3
      {"log-of-zero", "loss-nonfinite-at-start", 3.1, 0.0, 42},                      // 2.9, 0.0
      {"log-of-zero", "exploding-gradients", -2.2, 0.5, 42},                         // -2.2, 0.4
      {"lr-decayed-too-fast", "loss-stuck-after-drop", 2.5, 0.0, 74},                // 2.8, 0.0
      {"lr-too-high", "loss-nonfinite-later", 1.5, 0.0, 398},                        // 1.4, 0.0
      {"lr-too-high", "loss-diverging", 3.1, -0.2, 398},                             // 2.6, -0.2
      {"lr-too-high", "late-loss-variance", 2.7, 0.0, 398},                          // 2.4, 0.0
      {"lr-too-high", "no-warmup", 1.3, 0.0, 398},                                   // 1.2, 0.0
      {"lr-too-high", "loss-spikes", 1.2, 0.0, 398},                                 // 0.7, 0.0
      {"lr-too-high", "loss-stuck-from-start", 0.5, 0.0, 398},                       // 0.4, 0.0
      {"lr-too-high", "epoch-sawtooth", -1.1, 0.0, 398},                             // -1.0, 0.0
      {"lr-too-low", "loss-too-slow", 3.0, -0.3, 72},                                // 3.1, -0.4
      {"missing-normalization", "loss-stuck-from-start", 0.7, 0.0, 0},               // 0.8, 0.0
      {"model-too-small", "underfitting", 3.5, -0.1, 55},                            // 3.4, -0.4
      {"model-too-small", "loss-stuck-after-drop", 1.4, 0.0, 55},                    // 1.2, 0.0
      {"no-clipping", "loss-diverging", 1.3, 0.0, 177},                              // 1.5, 0.0
      {"no-clipping", "loss-spikes", 1.4, 0.0, 177},                                 // 1.5, 0.0
      {"no-shuffling", "loss-oscillating", 1.1, 0.0, 38},                            // 0.8, 0.0
      {"no-shuffling", "gradient-norm-oscillating", 0.7, 0.0, 38},                   // 0.4, 0.0
      {"saddle-point", "loss-stuck-after-drop", 1.9, 0.0, 18},                       // 2.0, 0.0
      {"saddle-point", "loss-stuck-from-start", -0.5, 0.0, 18},                      // -0.4, 0.0
      {"saddle-point", "vanishing-gradients", 1.0, 0.0, 18},                         // 1.4, 0.0
      {"too-little-data", "loss-plateau", 0.6, 0.0, 169},                            // 0.3, 0.0
      {"too-much-regularization", "underfitting", 2.7, -0.1, 73},                    // 2.7, -0.5
      {"too-much-regularization", "loss-diverging", 1.0, -0.0, 73},                  // 0.8, -0.1
      {"validation-pipeline-bug", "validation-frozen", 3.5, -0.3, 91},               // 3.5, -0.4
      {"validation-pipeline-bug", "validation-better-than-training", 1.9, 0.0, 91},  // 1.7, 0.0
      {"validation-pipeline-bug", "loss-plateau", 1.0, 0.0, 91},                     // 0.7, 0.0
      {"wrong-loss-function", "initial-loss-wrong", 2.2, 0.0, 72},                   // 2.3, 0.0
      {"wrong-loss-function", "loss-stuck-from-start", 1.3, 0.0, 72},                // 1.4, 0.0
  };
  return kRows;
}

}  // namespace osler
