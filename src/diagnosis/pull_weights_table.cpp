// Written by osler_score --learn; not to be edited by hand. Each row: cause, finding, what is added to the
// log-odds of the cause when the finding is there and when its check found nothing, labelled runs with that cause,
// and in the comment what the cause's file states.
#include "diagnosis/pull_weights.h"

namespace osler {

std::span<const LearnedPull> learned_pulls() {
  static constexpr LearnedPull kRows[] = {
      {"bad-initialization", "initial-loss-wrong", 3.5, -0.0, 194},                  // 3.4, -0.2
      {"batch-too-small", "loss-oscillating", 1.8, 0.0, 58},                         // 2.0, 0.0
      {"batch-too-small", "loss-plateau", 0.3, 0.0, 58},                             // 0.8, 0.0
      {"class-imbalance", "confidence-without-learning", 3.3, -0.2, 54},             // 3.1, -0.3
      {"class-imbalance", "validation-frozen", 2.1, 0.0, 54},                        // 1.9, 0.0
      {"clip-threshold-too-small", "loss-stuck-from-start", 0.3, 0.0, 20},           // 0.4, 0.0
      {"corrupt-data", "loss-spikes", 3.2, 0.0, 77},                                 // 3.0, 0.0
      {"data-leak", "validation-better-than-training", 2.7, -0.5, 19},               // 2.6, -0.5
      {"data-not-normalized", "initial-loss-wrong", 3.5, 0.0, 96},                   // 3.2, 0.0
      {"data-not-normalized", "loss-stuck-from-start", 1.2, 0.0, 96},                // 1.3, 0.0
      {"dead-units", "loss-stuck-from-start", 1.6, 0.0, 99},                         // 1.7, 0.0
      {"disconnected-graph", "vanishing-gradients", 1.5, 0.0, 93},                   // 1.4, 0.0
      {"disconnected-graph", "loss-exactly-zero", 1.7, 0.0, 93},                     // 1.5, 0.0
      {"exploding-signal", "loss-diverging", 1.3, 0.0, 192},                         // 1.4, 0.0
      {"fp16-overflow", "loss-nonfinite-later", 1.9, 0.0, 38},                       // 1.8, 0.0
      {"frozen-parameters", "loss-stuck-from-start", 2.1, 0.0, 59},                  // 1.8, 0.0
      {"frozen-parameters", "underfitting", 1.2, 0.0, 59},                           // 1.0, 0.0
      {"label-noise", "overfitting", 1.3, -0.2, 55},                                 // 1.5, -0.3
      {"label-noise", "underfitting", 1.4, 0.0, 55},                                 // 1.2, 0.0
      {"label-smoothing", "confidence-without-learning", 2.6, 0.0, 18},              // 2.7, 0.0
      {"label-smoothing", "accuracy-outruns-loss", 3.5, -0.4, 18},                   // 3.0, -0.3
      {"log-of-zero", "loss-nonfinite-at-start", 3.0, 0.0, 42},                      // 2.9, 0.0
      {"lr-decayed-too-fast", "learning-rate-spent", 3.8, -0.7, 74},                 // 3.8, -0.8
      {"lr-decayed-too-fast", "loss-stuck-after-drop", 2.5, 0.0, 74},                // 2.8, 0.0
      {"lr-too-high", "loss-nonfinite-later", 1.5, 0.0, 398},                        // 1.4, 0.0
      {"lr-too-high", "loss-diverging", 3.3, -0.0, 398},                             // 2.6, -0.2
      {"lr-too-high", "late-loss-variance", 2.7, 0.0, 398},                          // 2.4, 0.0
      {"lr-too-high", "no-warmup", 1.3, 0.0, 398},                                   // 1.2, 0.0
      {"lr-too-high", "loss-spikes", 1.1, 0.0, 398},                                 // 0.7, 0.0
      {"lr-too-high", "epoch-sawtooth", -1.1, 0.0, 398},                             // -1.0, 0.0
      {"lr-too-low", "loss-too-slow", 3.0, -0.2, 72},                                // 3.1, -0.4
      {"lr-too-low", "loss-stuck-from-start", 2.4, 0.0, 72},                         // 2.2, 0.0
      {"missing-normalization", "loss-stuck-from-start", 0.7, 0.0, 0},               // 0.8, 0.0
      {"model-too-large", "loss-plateau", 0.4, 0.0, 169},                            // 0.3, 0.0
      {"model-too-small", "underfitting", 3.5, -0.1, 55},                            // 3.4, -0.4
      {"model-too-small", "loss-stuck-after-drop", 1.4, 0.0, 55},                    // 1.2, 0.0
      {"model-too-small", "loss-stuck-from-start", -0.8, 0.0, 55},                   // -0.6, 0.0
      {"no-clipping", "loss-diverging", 1.3, 0.0, 177},                              // 1.5, 0.0
      {"no-clipping", "loss-spikes", 1.4, 0.0, 177},                                 // 1.5, 0.0
      {"no-shuffling", "loss-oscillating", 1.1, 0.0, 38},                            // 0.8, 0.0
      {"no-shuffling", "gradient-norm-oscillating", 0.7, 0.0, 38},                   // 0.4, 0.0
      {"saddle-point", "loss-stuck-after-drop", 1.9, 0.0, 19},                       // 2.0, 0.0
      {"saddle-point", "loss-stuck-from-start", -0.5, 0.0, 19},                      // -0.4, 0.0
      {"saddle-point", "vanishing-gradients", 1.0, 0.0, 19},                         // 1.4, 0.0
      {"sharp-minimum", "overfitting", 1.1, -0.3, 20},                               // 1.2, -0.3
      {"too-little-data", "loss-plateau", 0.7, 0.0, 169},                            // 0.3, 0.0
      {"too-much-regularization", "underfitting", 2.7, -0.3, 73},                    // 2.7, -0.5
      {"too-much-regularization", "loss-diverging", 0.9, -0.1, 73},                  // 0.8, -0.1
      {"validation-pipeline-bug", "validation-frozen", 3.5, -0.3, 93},               // 3.5, -0.4
      {"validation-pipeline-bug", "validation-better-than-training", 1.9, 0.0, 93},  // 1.7, 0.0
      {"validation-pipeline-bug", "loss-plateau", 0.9, 0.0, 93},                     // 0.7, 0.0
      {"wrong-loss-function", "initial-loss-wrong", 2.2, 0.0, 72},                   // 2.3, 0.0
      {"wrong-loss-function", "loss-stuck-from-start", 1.2, 0.0, 72},                // 1.4, 0.0
      {"wrong-loss-function", "loss-diverging", 0.5, 0.0, 72},                       // 0.6, 0.0
      {"wrong-loss-function", "loss-plateau", 0.1, 0.0, 72},                         // 0.3, 0.0
  };
  return kRows;
}

}  // namespace osler
