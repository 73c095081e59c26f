// Exercise 25: a cross-entropy that no logit can break.
#pragma once

#include <cstddef>
#include <vector>

// The logarithm of softmax(logits), finite for every finite logit. Never exponentiate a number that may be large, and never
// take the logarithm of a probability.
inline std::vector<float> log_softmax(const std::vector<float>& logits) {
  return logits;
}

// The cross-entropy of one sample.
inline float cross_entropy(const std::vector<float>& logits, std::size_t label) {
  (void)logits;
  (void)label;
  return 0;
}
