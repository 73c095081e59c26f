// Finding non-finite values: in tensors at rest, and by tracing a step.
#include "osler/torch/origin.h"

#include <ATen/core/grad_mode.h>

#include "torch/host_tensor.h"
#include "torch/origin_trace.h"
#include "torch/saved_state.h"

namespace osler::torch {
namespace {

std::string counted(const OriginTensor& tensor) {
  std::string text;
  if (tensor.nan_count > 0) text += std::to_string(tensor.nan_count) + " NaN";
  if (tensor.inf_count > 0) text += (text.empty() ? "" : " and ") + std::to_string(tensor.inf_count) + " infinite";
  return text + " of " + std::to_string(tensor.count) + " values";
}

/// In the order of the tensor's own dimensions, however it lies in memory.
std::vector<std::int64_t> first_nonfinite(const at::Tensor& tensor) {
  const at::NoGradGuard no_graph;
  const at::Tensor places = at::isfinite(tensor.detach()).logical_not().nonzero().to(at::kCPU);
  if (places.size(0) == 0) return {};
  const std::int64_t* const first = places.data_ptr<std::int64_t>();
  std::vector<std::int64_t> place;
  for (std::int64_t d = 0; d < places.size(1); ++d) place.push_back(first[d * places.stride(1)]);
  return place;
}

void look_at(const std::string& name, const at::Tensor& tensor, bool buffer, bool gradient, stats::Engine& engine,
             std::vector<NonfiniteTensor>& found) {
  const auto host = host_tensor(tensor);
  if (!host || host->view.count() == 0) return;
  stats::Batch batch;
  const std::size_t asked = batch.summarize(host->view);
  if (!engine.submit(batch)) return;
  engine.wait(batch);
  const stats::TensorStats& stats = batch.summary(asked);
  if (stats.nan_count == 0 && stats.inf_count == 0) return;
  found.push_back({name, buffer, gradient, stats.count, stats.nan_count, stats.inf_count, first_nonfinite(tensor)});
}

/// Autograd's refusal, without the list of stack frames that follows it.
std::string complaint_of(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return text.substr(0, text.find("Hint"));
}

std::optional<NonfiniteOrigin> origin_of_pass(const ::torch::nn::Module& model,
                                              const std::function<at::Tensor()>& compute_loss) {
  OriginTrace trace(model);
  const Watch watch(trace);
  const at::Tensor loss = compute_loss();
  try {
    if (loss.requires_grad() && loss.grad_fn() != nullptr) loss.backward();
  } catch (const c10::Error& error) {
    const std::string complaint = complaint_of(error);
    if (complaint.find("inplace operation") == std::string::npos) throw;
    return trace.overwritten(complaint);
  }
  return trace.origin(loss);
}

}  // namespace

std::string_view to_string(OriginPlace place) {
  switch (place) {
    case OriginPlace::batch:
      return "batch";
    case OriginPlace::weights:
      return "weights";
    case OriginPlace::forward:
      return "forward";
    case OriginPlace::backward:
      return "backward";
    case OriginPlace::unknown:
      break;
  }
  return "unknown";
}

std::string describe(const NonfiniteOrigin& origin) {
  if (origin.operation.empty() && !origin.detail.empty()) return origin.detail + ".";
  std::string text = origin.operation.empty() ? "An operation" : origin.operation;
  if (origin.backward) text += " (backward)";
  if (!origin.inside.empty() && origin.inside != origin.operation) text += " inside " + origin.inside;
  if (!origin.layer.empty()) text += " at " + origin.layer;
  const bool brought = origin.cause == OriginCause::corrupt_data || origin.cause == OriginCause::nonfinite_weight;
  if (brought && !origin.inputs.empty()) {
    text += " was given " + counted(origin.inputs.front());
  } else if (!origin.outputs.empty()) {
    text += " made " + counted(origin.outputs.front());
  }
  if (!origin.offenders.empty() && !origin.offenders.front().index.empty()) {
    text += ", the first at " + in_brackets(origin.offenders.front().index);
  }
  if (!origin.detail.empty()) text += ": " + origin.detail;
  return text + ".";
}

std::vector<NonfiniteTensor> find_nonfinite(const ::torch::nn::Module& model) {
  const std::unique_ptr<stats::Engine> engine = stats::make_cpu_engine(0);
  std::vector<NonfiniteTensor> found;
  for (const auto& item : model.named_parameters()) {
    look_at(item.key(), item.value(), false, false, *engine, found);
    if (item.value().grad().defined()) look_at(item.key(), item.value().grad(), false, true, *engine, found);
  }
  for (const auto& item : model.named_buffers()) look_at(item.key(), item.value(), true, false, *engine, found);
  return found;
}

std::optional<NonfiniteOrigin> trace_origin(::torch::nn::Module& model,
                                            const std::function<at::Tensor()>& compute_loss) {
  const std::vector<at::Tensor> parameters = model.parameters();
  const std::vector<at::Tensor> buffers = model.buffers();
  const RandomState random = RandomState::now(parameters);
  BufferState before;
  before.save(buffers);
  std::optional<NonfiniteOrigin> found;
  const auto put_back = [&] {
    random.restore();
    before.restore(buffers);
  };
  try {
    const GradientsAside gradients(parameters);
    found = origin_of_pass(model, compute_loss);
  } catch (...) {
    put_back();
    throw;
  }
  put_back();
  return found;
}

}  // namespace osler::torch
