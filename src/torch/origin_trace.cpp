// Following non-finite values through a pass.
#include "torch/origin_trace.h"

#include <algorithm>
#include <cmath>

#include "torch/host_tensor.h"
#include "torch/operations.h"

namespace osler::torch {
namespace {

constexpr std::string_view kEngine = "autograd::engine::evaluate_function";

std::vector<double> scalars_in(std::span<const c10::IValue> values) {
  std::vector<double> scalars;
  for (const c10::IValue& value : values) {
    if (value.isDouble()) {
      scalars.push_back(value.toDouble());
    } else if (value.isInt()) {
      scalars.push_back(static_cast<double>(value.toInt()));
    }
  }
  return scalars;
}

bool all_finite(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); });
}

}  // namespace

OriginTrace::OriginTrace(const ::torch::nn::Module& model) : names_(model), engine_(stats::make_cpu_engine(0)) {}

OriginTrace::Counts OriginTrace::counts_of(const at::Tensor& tensor) {
  const auto host = host_tensor(tensor);
  if (!host || host->view.count() == 0) return {};
  batch_.clear();
  const std::size_t asked = batch_.summarize(host->view);
  if (!engine_->submit(batch_)) return {};
  engine_->wait(batch_);
  return {batch_.summary(asked).nan_count, batch_.summary(asked).inf_count};
}

void OriginTrace::mark(const at::Tensor& tensor, Mark mark) {
  const void* storage = storage_of(tensor);
  if (storage == nullptr) return;
  marks_.insert_or_assign(storage, mark);
  kept_.push_back(tensor.detach());
}

OriginTrace::Mark OriginTrace::mark_of(const at::Tensor& tensor) const {
  const auto found = marks_.find(storage_of(tensor));
  return found == marks_.end() ? kNone : found->second;
}

std::string OriginTrace::current_node() const {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (frame->node) return frame->plain;
  }
  return "";
}

void OriginTrace::started(const Operation& operation) {
  Frame frame;
  frame.name = operation.name;
  frame.suspects_before = suspects_.size();
  frame.node = operation.kind == Operation::Kind::node;
  frame.engine = operation.name.starts_with(kEngine);
  if (frame.node || frame.engine) {
    begin_node(operation, frame);
    frames_.push_back(std::move(frame));
    return;
  }
  frame.plain = plain_name(operation.name);
  frame.top = frames_.empty() || frames_.back().node || frames_.back().engine;
  frame.pass_over = !operation.name.starts_with("aten::") || uninitialised(frame.plain) || only_looks(frame.plain);
  frame.inputs = tensors_in(operation.values);
  if (in_backward()) {
    frame.layer = frames_.empty() ? "" : frames_.back().layer;
  } else {
    frame.layer = names_.result("", frame.inputs);
    if (operation.sequence >= 0) layer_by_sequence_[operation.sequence] = frame.layer;
  }
  if (!frame.pass_over) {
    frame.scalars = scalars_in(operation.values);
    for (std::size_t i = 0; i < frame.inputs.size(); ++i) {
      inspect_input(frame, frame.inputs[i], i == 0 && overwrites(frame.name));
    }
    note_write(frame);
    // An operation that writes in place destroys what it read; its cause is judged by a copy.
    if (in_place(frame.name) && !frame.inputs.empty()) frame.inputs[0] = frame.inputs[0].detach().clone();
  }
  frames_.push_back(std::move(frame));
}

void OriginTrace::begin_node(const Operation& operation, Frame& frame) {
  ++backward_depth_;
  if (frame.engine) return;
  frame.plain = plain_node_name(operation.name);
  const auto layer = layer_by_sequence_.find(operation.sequence);
  if (layer != layer_by_sequence_.end()) frame.layer = layer->second;
  if (operation.name.find("AccumulateGrad") == std::string_view::npos) return;
  for (const at::Tensor& gradient : tensors_in(operation.values)) {
    const Mark mark = mark_of(gradient);
    if (mark != kNone && mark != kAskedFor && !counts_of(gradient).finite()) reached_gradients_.insert(mark);
  }
}

void OriginTrace::inspect_input(Frame& frame, const at::Tensor& input, bool destination) {
  if (destination) return;
  if (in_backward()) {
    const auto rewritten = rewritten_.find(storage_of(input));
    if (rewritten != rewritten_.end()) frame.overwritten_by = rewritten->second;
  }
  const Counts counts = counts_of(input);
  if (counts.finite()) return;
  Mark mark = mark_of(input);
  if (mark == kNone) {
    // Inside an operation, and in the backward pass, unknown memory is memory that nobody has written yet.
    if (!frame.top || in_backward()) return;
    mark = accuse_outsider(frame, input);
  }
  frame.nan_carried |= counts.nan > 0;
  if (mark == kAskedFor) {
    if (frame.carried == kNone) frame.carried = kAskedFor;
  } else {
    frame.carried = frame.carried >= kNone ? mark : std::min(frame.carried, mark);
  }
}

/// Remembers what is changed in place: in memory from outside, or where autograd does not see it.
void OriginTrace::note_write(Frame& frame) {
  if (!in_place(frame.name) || frame.inputs.empty() || in_backward()) return;
  if (!frame.top) {
    frame.foreign = frames_.back().foreign;
    return;
  }
  const at::Tensor& target = frame.inputs.front();
  const void* storage = storage_of(target);
  frame.foreign = !made_here_.contains(storage);
  if (!has_graph_.contains(storage)) return;
  last_write_ = frame.plain;
  last_written_ = names_.of(target);
  if (!target.requires_grad()) rewritten_.insert_or_assign(storage, frame.plain);
}

void OriginTrace::finished(const Operation& operation) {
  if (frames_.empty()) return;
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  if (frame.node || frame.engine) {
    --backward_depth_;
    return;
  }
  const std::vector<at::Tensor> outputs = tensors_in(operation.values);
  const bool forward = !in_backward();
  for (const at::Tensor& output : outputs) {
    if (forward) names_.name(output, names_.result(frame.plain, frame.inputs));
    if (!in_place(frame.name) && !only_looks(frame.plain)) made_here_.insert(storage_of(output));
    if (forward && output.requires_grad()) has_graph_.insert(storage_of(output));
    if (!frame.pass_over) follow(frame, output);
  }
}

void OriginTrace::follow(const Frame& frame, const at::Tensor& output) {
  const Counts counts = counts_of(output);
  const Mark known = mark_of(output);
  if (counts.finite()) {
    if (known != kNone && !in_place(frame.name)) marks_.erase(storage_of(output));
    return;
  }
  // Something inside this operation has been found already: it is known by what it is part of as well.
  if (known != kNone && known != kAskedFor) {
    if (known >= frame.suspects_before && known < suspects_.size()) suspects_[known].origin.inside = frame.plain;
    return;
  }
  if (frame.carried < kNone) {
    mark(output, frame.carried);
  } else if (frame.carried == kAskedFor) {
    mark(output, counts.nan > 0 && !frame.nan_carried ? accuse(frame, output) : kAskedFor);
  } else if (!all_finite(frame.scalars)) {
    mark(output, kAskedFor);
  } else {
    mark(output, accuse(frame, output));
  }
}

OriginTrace::Mark OriginTrace::accuse(const Frame& frame, const at::Tensor& output) {
  Suspect suspect;
  suspect.node = current_node();
  suspect.origin.backward = in_backward();
  suspect.origin.operation = suspect.node.empty() ? frame.plain : suspect.node;
  suspect.origin.layer = frame.layer;
  const Scene scene{frame.plain, suspect.node,  frame.inputs,        frame.scalars,
                    {output},    frame.foreign, frame.overwritten_by};
  judge(scene, *engine_, suspect.origin);
  suspects_.push_back(std::move(suspect));
  return suspects_.size() - 1;
}

OriginTrace::Mark OriginTrace::accuse_outsider(const Frame& frame, const at::Tensor& input) {
  Suspect suspect;
  NonfiniteOrigin& origin = suspect.origin;
  const std::string_view parameter = names_.parameter(input);
  judge({frame.plain, "", {}, {}, {input}, false, ""}, *engine_, origin);
  origin.cause = parameter.empty() ? OriginCause::corrupt_data : OriginCause::nonfinite_weight;
  origin.operation = frame.plain;
  origin.layer = frame.layer;
  origin.inputs = std::move(origin.outputs);
  origin.outputs.clear();
  origin.inputs.front().name = parameter.empty() ? "a tensor from outside the model" : std::string(parameter);
  origin.detail = origin.inputs.front().name +
                  (parameter.empty() ? " that went into it was not finite" : " was not finite before the step");
  suspects_.push_back(std::move(suspect));
  mark(input, suspects_.size() - 1);
  return suspects_.size() - 1;
}

NonfiniteOrigin OriginTrace::overwritten(const std::string& complaint) const {
  NonfiniteOrigin origin;
  origin.cause = OriginCause::in_place_modification;
  origin.operation = last_write_;
  origin.layer = last_written_;
  origin.detail = complaint;
  return origin;
}

std::optional<NonfiniteOrigin> OriginTrace::origin(const at::Tensor& loss) const {
  const bool loss_finite = at::isfinite(loss.detach()).all().item<bool>();
  if (!loss_finite) {
    const Mark mark = mark_of(loss);
    if (mark < suspects_.size()) return suspects_[mark].origin;
    NonfiniteOrigin unknown;
    unknown.detail = "the operation that made it was not seen";
    return unknown;
  }
  if (reached_gradients_.empty()) return std::nullopt;
  return suspects_[*reached_gradients_.begin()].origin;
}

}  // namespace osler::torch
