// Softmax and its relatives in the form that does not overflow: references to read, to test against and to use.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace osler::torch {

// All of them take any floating type, work along one dimension, and let autograd through. LibTorch's own functions give
// the same values faster; these show why they are right.

/// log(sum(exp(x))). The largest element is taken out first, so the sum lies between 1 and the number of elements: it
/// can neither overflow nor vanish. An infinite largest element is the answer itself.
[[nodiscard]] at::Tensor stable_log_sum_exp(const at::Tensor& x, std::int64_t dimension = -1);
/// exp(x) / sum(exp(x)), from differences to the largest element, of which exp() is at most 1.
[[nodiscard]] at::Tensor stable_softmax(const at::Tensor& x, std::int64_t dimension = -1);
/// log(softmax(x)) without ever holding a probability: one below the smallest number would become log(0).
[[nodiscard]] at::Tensor stable_log_softmax(const at::Tensor& x, std::int64_t dimension = -1);
/// The mean of -log softmax(logits) at the targets: logits of shape (samples, classes), one class number for each.
/// Throws std::invalid_argument for other shapes and for targets that are no classes.
[[nodiscard]] at::Tensor stable_cross_entropy(const at::Tensor& logits, const at::Tensor& targets);

}  // namespace osler::torch
