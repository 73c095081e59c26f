// Following non-finite values through a pass.
#include "torch/origin_trace.h"

#include <ATen/SequenceNumber.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "monitor/nonfinite_flow.h"
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

/// Anything else is a region that someone named.
bool is_operation(std::string_view name) {
  return name.find("::") != std::string_view::npos && !name.starts_with("profiler::");
}

/// The class of a user's function whose backward node this is; empty for LibTorch's own.
std::string users_function(std::string_view node) {
  constexpr std::string_view kWrapper = "CppNode<";
  const auto begin = node.find(kWrapper);
  if (begin == std::string_view::npos) return "";
  node.remove_prefix(begin + kWrapper.size());
  if (node.ends_with('>')) node.remove_suffix(1);
  if (const auto colons = node.rfind("::"); colons != std::string_view::npos) node.remove_prefix(colons + 2);
  return std::string(node);
}

bool has_weights(Part part) {
  return part == Part::weighted || part == Part::recurrent || part == Part::embedding || part == Part::normalisation;
}

bool all_finite(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); });
}

}  // namespace

OriginTrace::OriginTrace(const ::torch::nn::Module& model) : names_(model), engine_(stats::make_cpu_engine(0)) {
  for (const at::Tensor& parameter : model.parameters()) first_seen_.emplace(storage_of(parameter), parameter);
  for (const at::Tensor& buffer : model.buffers()) {
    first_seen_.emplace(storage_of(buffer), buffer);
    buffers_.insert(storage_of(buffer));
  }
}

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

const OriginTrace::Frame* OriginTrace::current_node() const {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (frame->node) return &*frame;
  }
  return nullptr;
}

const OriginTrace::Frame* OriginTrace::around() const {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (frame->node || frame->engine) return nullptr;
    if (!frame->pass_over) return &*frame;
  }
  return nullptr;
}

void OriginTrace::started(const Operation& operation) {
  Frame frame;
  frame.name = operation.name;
  frame.suspects_before = suspects_.size();
  frame.node = operation.kind == Operation::Kind::node;
  frame.engine = operation.name.starts_with(kEngine);
  if (frame.node || frame.engine) {
    begin_node(operation, frame);
  } else {
    begin_function(operation, frame);
  }
  frames_.push_back(std::move(frame));
}

void OriginTrace::begin_function(const Operation& operation, Frame& frame) {
  frame.plain = plain_name(operation.name);
  frame.top = around() == nullptr;
  frame.pass_over = !is_operation(operation.name) || uninitialised(frame.plain) || only_looks(frame.plain);
  frame.scalars = scalars_in(operation.values);
  const std::vector<bool> written = frame.pass_over ? std::vector<bool>{} : destinations_of(operation);
  for (std::size_t i = 0; i < operation.values.size(); ++i) {
    if (i < written.size() && written[i]) continue;
    // What is added to a product with a factor of zero is not read.
    if (i == 0 && !frame.pass_over && (overwrites(frame.name) || monitor::ignores_first(frame.plain, frame.scalars)))
      continue;
    for (const at::Tensor& tensor : tensors_in(operation.values.subspan(i, 1))) frame.inputs.push_back(tensor);
  }
  name_layer(operation, frame);
  if (frame.pass_over) {
    if (only_looks(frame.plain) && !frame.inputs.empty()) {
      first_seen_.try_emplace(storage_of(frame.inputs[0]), frame.inputs[0]);
    }
    return;
  }
  for (const at::Tensor& input : frame.inputs) inspect_input(frame, input);
  note_write(operation, frame);
  // An operation that writes in place destroys what it read; its cause is judged by a copy.
  if (in_place(frame.name) && !overwrites(frame.name) && !frame.inputs.empty()) {
    frame.inputs[0] = frame.inputs[0].detach().clone();
  }
}

void OriginTrace::name_layer(const Operation& operation, Frame& frame) {
  if (!in_backward()) {
    // What has weights of its own is known by them, anything else by what it works on.
    const std::vector<at::Tensor> tensors = tensors_in(operation.values);
    const bool own = has_weights(part_of(frame.plain));
    const Frame* const outer = around();
    frame.layer = outer != nullptr && has_weights(part_of(outer->plain))
                      ? outer->layer
                      : names_.result(own ? std::string_view(frame.plain) : std::string_view(), tensors);
    if (operation.sequence >= 0) {
      layer_by_sequence_[operation.sequence] = frame.layer;
    } else if (!operation.builds_graph) {
      // The forward pass of a user's function: its backward node has taken the number before the next one.
      layer_by_sequence_.try_emplace(static_cast<std::int64_t>(at::sequence_number::peek()) - 1, frame.layer);
    }
    return;
  }
  if (!frames_.empty()) frame.layer = frames_.back().layer;
  // A pass that is computed again inside the backward pass (checkpointing), or a node that knows no layer.
  if (!operation.builds_graph && !frame.layer.empty()) return;
  std::string named;
  if (operation.builds_graph) named = names_.result("", frame.inputs);
  for (std::size_t i = 0; i < frame.inputs.size() && named.empty(); ++i) named = names_.layer(frame.inputs[i]);
  if (!named.empty()) frame.layer = named;
  if (operation.builds_graph && operation.sequence >= 0) layer_by_sequence_[operation.sequence] = frame.layer;
}

void OriginTrace::begin_node(const Operation& operation, Frame& frame) {
  ++backward_depth_;
  if (frame.engine) return;
  const std::string users_own = users_function(operation.name);
  frame.custom = !users_own.empty();
  frame.plain = frame.custom ? users_own : plain_node_name(operation.name);
  const auto layer = layer_by_sequence_.find(operation.sequence);
  if (layer != layer_by_sequence_.end()) frame.layer = layer->second;
  if (operation.name.find("AccumulateGrad") == std::string_view::npos) return;
  for (const at::Tensor& gradient : tensors_in(operation.values)) {
    Mark mark = mark_of(gradient);
    if (mark == kAskedFor || counts_of(gradient).finite()) continue;
    if (mark == kNone) mark = accuse_outsider(frame, gradient);
    reached_gradients_.insert(mark);
  }
}

void OriginTrace::inspect_input(Frame& frame, const at::Tensor& input) {
  if (in_backward()) {
    const auto rewritten = rewritten_.find(storage_of(input));
    if (rewritten != rewritten_.end()) frame.overwritten_by = rewritten->second;
  }
  const Counts counts = counts_of(input);
  if (counts.finite()) return;
  Mark mark = mark_of(input);
  if (mark == kNone) mark = explain_unmarked(frame, input, counts);
  frame.nan_carried |= counts.nan > 0;
  if (mark == kAskedFor) {
    if (frame.carried == kNone) frame.carried = kAskedFor;
  } else {
    frame.carried = frame.carried >= kNone ? mark : std::min(frame.carried, mark);
  }
}

/// Who brought a non-finite tensor that no operation is known to have made.
OriginTrace::Mark OriginTrace::explain_unmarked(const Frame& frame, const at::Tensor& input, const Counts& counts) {
  const Frame* const outer = around();
  Mark found = kAskedFor;
  if (outer != nullptr) {
    // A temporary, written by the operation around this one: it holds what went into that, or what that has made.
    const bool fresh = counts.nan > 0 && !outer->nan_carried;
    if (outer->carried < kNone) {
      found = outer->carried;
    } else if (outer->carried == kNone || fresh) {
      const bool asked = !fresh && !all_finite(outer->scalars);
      if (asked) ask_for(*outer);
      if (!asked) found = accuse(*outer, input);
    }
  } else if (looks_like_mask(frame, input, counts)) {
    ask_for(frame);
  } else {
    return accuse_outsider(frame, input);
  }
  mark(input, found);
  return found;
}

/// A mask that was made before the step: nothing above zero, -inf, and no NaN, to be added to scores.
bool OriginTrace::looks_like_mask(const Frame& frame, const at::Tensor& tensor, const Counts& counts) const {
  const void* const storage = storage_of(tensor);
  if (counts.nan > 0 || (!names_.parameter(tensor).empty() && !buffers_.contains(storage))) return false;
  const at::Tensor finite = tensor.detach().masked_select(at::isfinite(tensor.detach()));
  monitor::MaskClues clues;
  clues.above = (tensor.detach() == std::numeric_limits<double>::infinity()).any().item<bool>();
  clues.numbers = finite.numel() > 0;
  if (clues.numbers) {
    clues.highest = finite.max().item<double>();
    clues.lowest = finite.min().item<double>();
  }
  return monitor::looks_like_mask(frame.plain, clues);
}

void OriginTrace::ask_for(const Frame& frame) {
  if (asked_) return;
  asked_.emplace();
  asked_->operation = frame.plain;
  asked_->layer = frame.layer;
  asked_->backward = in_backward();
  asked_->cause = OriginCause::outside_domain;
  asked_->place = in_backward() ? OriginPlace::backward : OriginPlace::forward;
  asked_->detail = "an infinity that was asked for, as by a mask, reached the loss";
}

/// Remembers what is changed in place: in memory from outside, or where autograd does not see it.
void OriginTrace::note_write(const Operation& operation, Frame& frame) {
  if (!in_place(frame.name) || in_backward()) return;
  const std::vector<at::Tensor> tensors = tensors_in(operation.values);
  if (tensors.empty()) return;
  if (!frame.top) {
    frame.foreign = frames_.back().foreign;
    return;
  }
  const at::Tensor& target = tensors.front();
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
  // A number that no backward node has taken goes to whoever comes next.
  if (forward && frame.top && operation.sequence >= 0 &&
      static_cast<std::int64_t>(at::sequence_number::peek()) == operation.sequence) {
    layer_by_sequence_.erase(operation.sequence);
  }
  for (const at::Tensor& output : outputs) {
    const bool keeps_name = frame.inputs.empty() && in_place(frame.name);
    if ((forward || operation.builds_graph) && !keeps_name) {
      names_.name(output, names_.result(frame.plain, frame.inputs));
    }
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
  using monitor::Carried;
  monitor::FlowClues clues;
  clues.plain = frame.plain;
  clues.carried = frame.carried < kNone        ? Carried::fault
                  : frame.carried == kAskedFor ? Carried::asked_for
                                               : Carried::nothing;
  clues.nan_carried = frame.nan_carried;
  clues.nan_made = counts.nan > 0;
  clues.scalars_finite = all_finite(frame.scalars);
  switch (monitor::ruling(clues)) {
    case monitor::FlowRuling::carried_on:
      mark(output, frame.carried);
      break;
    case monitor::FlowRuling::asked_for:
      if (!clues.scalars_finite) ask_for(frame);
      mark(output, kAskedFor);
      break;
    case monitor::FlowRuling::accused:
      mark(output, accuse(frame, output));
      break;
  }
}

OriginTrace::Mark OriginTrace::accuse(const Frame& frame, const at::Tensor& output) {
  Suspect suspect;
  const Frame* const node = current_node();
  // What a node of LibTorch's does is known by the forward operation; a user's own function is known by what it calls.
  if (node != nullptr && !node->custom) suspect.node = node->plain;
  suspect.origin.backward = in_backward();
  suspect.origin.place = in_backward() ? OriginPlace::backward : OriginPlace::forward;
  suspect.origin.operation = suspect.node.empty() ? frame.plain : suspect.node;
  if (node != nullptr && node->custom) suspect.origin.inside = node->plain;
  suspect.origin.layer = frame.layer;
  const Scene scene{frame.plain, suspect.node,  frame.inputs,        frame.scalars,
                    {output},    frame.foreign, frame.overwritten_by};
  judge(scene, *engine_, suspect.origin);
  suspects_.push_back(std::move(suspect));
  return suspects_.size() - 1;
}

/// The tensor that a view shows whole, so that places are told as its owner counts them.
const at::Tensor& OriginTrace::as_first_seen(const at::Tensor& view) const {
  const auto found = first_seen_.find(storage_of(view));
  return found != first_seen_.end() && found->second.numel() == view.numel() ? found->second : view;
}

OriginTrace::Mark OriginTrace::accuse_outsider(const Frame& frame, const at::Tensor& input) {
  Suspect suspect;
  NonfiniteOrigin& origin = suspect.origin;
  const std::string_view parameter = names_.parameter(input);
  judge({frame.plain, "", {}, {}, {as_first_seen(input)}, false, ""}, *engine_, origin);
  origin.cause = parameter.empty() ? OriginCause::corrupt_data : OriginCause::nonfinite_weight;
  origin.place = parameter.empty() ? OriginPlace::batch : OriginPlace::weights;
  origin.operation = frame.plain;
  origin.layer = parameter.empty() ? frame.layer : std::string(names_.layer(input));
  origin.inputs = std::move(origin.outputs);
  origin.outputs.clear();
  origin.inputs.front().name = parameter.empty() ? "a tensor from outside the model" : std::string(parameter);
  origin.detail = origin.inputs.front().name +
                  (parameter.empty() ? " that went into it was not finite" : " was not finite before the step");
  if (parameter.empty() && made_here_.contains(storage_of(input))) {
    origin.place = in_backward() ? OriginPlace::backward : OriginPlace::forward;
    origin.detail = "a tensor that the program itself has filled, by no operation of LibTorch, was not finite";
  }
  suspects_.push_back(std::move(suspect));
  mark(input, suspects_.size() - 1);
  return suspects_.size() - 1;
}

NonfiniteOrigin OriginTrace::overwritten(const std::string& complaint) const {
  NonfiniteOrigin origin;
  origin.cause = OriginCause::in_place_modification;
  origin.place = OriginPlace::backward;
  origin.operation = last_write_;
  origin.layer = last_written_;
  origin.detail = complaint;
  return origin;
}

NonfiniteOrigin OriginTrace::asked_for() const {
  if (asked_) return *asked_;
  NonfiniteOrigin unknown;
  unknown.place = OriginPlace::forward;
  unknown.detail = "The operation that made it was not seen";
  return unknown;
}

std::optional<NonfiniteOrigin> OriginTrace::origin(const at::Tensor& loss) const {
  const bool loss_finite = at::isfinite(loss.detach()).all().item<bool>();
  if (!loss_finite) {
    const Mark mark = mark_of(loss);
    return mark < suspects_.size() ? suspects_[mark].origin : asked_for();
  }
  if (reached_gradients_.empty()) return std::nullopt;
  return suspects_[*reached_gradients_.begin()].origin;
}

}  // namespace osler::torch
