// Softmax, log-softmax, log-sum-exp and cross-entropy, safe at any size of the inputs.
#include "osler/torch/numerics.h"

#include <fmt/format.h>

#include <stdexcept>

namespace osler::torch {
namespace {

/// The largest element along a dimension, as a constant for autograd: it cancels in all that follows.
at::Tensor largest(const at::Tensor& x, std::int64_t dimension) {
  const at::Tensor top = x.detach().amax(dimension, /*keepdim=*/true);
  // Infinity less infinity is no number; such an element needs no shift.
  return at::where(top.isinf(), at::zeros_like(top), top);
}

}  // namespace

at::Tensor stable_log_sum_exp(const at::Tensor& x, std::int64_t dimension) {
  const at::Tensor top = largest(x, dimension);
  return ((x - top).exp().sum(dimension, /*keepdim=*/true).log() + top).squeeze(dimension);
}

at::Tensor stable_softmax(const at::Tensor& x, std::int64_t dimension) {
  const at::Tensor e = (x - largest(x, dimension)).exp();
  return e / e.sum(dimension, /*keepdim=*/true);
}

at::Tensor stable_log_softmax(const at::Tensor& x, std::int64_t dimension) {
  const at::Tensor shifted = x - largest(x, dimension);
  return shifted - shifted.exp().sum(dimension, /*keepdim=*/true).log();
}

at::Tensor stable_cross_entropy(const at::Tensor& logits, const at::Tensor& targets) {
  if (logits.dim() != 2 || targets.dim() != 1 || logits.size(0) != targets.size(0) || logits.numel() == 0) {
    throw std::invalid_argument(
        "osler: stable_cross_entropy needs logits of shape (samples, classes) and one target for each "
        "sample");
  }
  const bool whole = !targets.is_floating_point() && !targets.is_complex();
  if (!whole || targets.lt(0).any().item<bool>() || targets.ge(logits.size(1)).any().item<bool>()) {
    throw std::invalid_argument(
        fmt::format("osler: the targets of stable_cross_entropy are class numbers from 0 to {}", logits.size(1) - 1));
  }
  return -stable_log_softmax(logits, 1).gather(1, targets.to(at::kLong).unsqueeze(1)).mean();
}

}  // namespace osler::torch
