// Handing tapped tensors to the trace that is running.
#include "osler/torch/tap.h"

#include <ATen/core/grad_mode.h>

#include <exception>

#include "torch/activation_trace.h"

namespace osler::torch {

at::Tensor tap(const std::string& name, at::Tensor tensor) {
  auto* trace = dynamic_cast<ActivationTrace*>(current_observer());
  if (trace == nullptr || !tensor.defined()) return tensor;
  const bool builds_graph = at::GradMode::is_enabled();
  const at::NoGradGuard no_graph;
  try {
    trace->tap(name, tensor, builds_graph);
  } catch (const std::exception&) {
    // A tensor that cannot be measured is left out: training must not notice.
  }
  return tensor;
}

}  // namespace osler::torch
