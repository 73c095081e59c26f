// What the monitor tells beside the step itself: configuration, rates, memory, ranks, validation, summaries.
#include <ATen/core/grad_mode.h>
#include <c10/util/Type.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <typeinfo>
#include <unordered_set>

#include "monitor/clock.h"
#include "run/series_names.h"
#include "torch/monitor_work.h"

namespace osler::torch {

using monitor::now;
namespace {

std::unordered_set<const void*> optimized(const ::torch::optim::Optimizer& optimizer) {
  std::unordered_set<const void*> found;
  for (const auto& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) found.insert(parameter.unsafeGetTensorImpl());
  }
  return found;
}

}  // namespace

void Monitor::Work::tell_configuration() {
  recorder_.config("optimizer", c10::demangle(typeid(optimizer_).name()));
  recorder_.config("parameter_groups", std::to_string(optimizer_.param_groups().size()));
  if (options_.clip_norm) recorder_.config("max_grad_norm", fmt::format("{}", *options_.clip_norm));
  if (options_.clip_value) recorder_.config("clip_grad_value", fmt::format("{}", *options_.clip_value));
  if (options_.clip_adaptive) recorder_.config("clip_adaptive", fmt::format("{}", *options_.clip_adaptive));
  if (options_.batch_size) recorder_.config("batch_size", std::to_string(*options_.batch_size));
  if (options_.classes) recorder_.config("num_classes", std::to_string(*options_.classes));
  recorder_.layers(book_.layers());
}

void Monitor::Work::tell_parameters() {
  const auto known = optimized(optimizer_);
  std::vector<monitor::ParameterState> states;
  states.reserve(book_.names().size());
  for (std::size_t i = 0; i < book_.names().size(); ++i) {
    const std::string& name = book_.names()[i];
    const at::Tensor& parameter = book_.parameters()[i];
    const bool left_out =
        parameter.requires_grad() && !known.contains(parameter.unsafeGetTensorImpl()) && !has_moved(name, parameter);
    states.push_back({name, parameter.requires_grad(), left_out});
  }
  record_.parameters(recorder_, steps, states);
}

/// Whether a parameter that this optimizer does not hold has changed since training began: another one holds it.
bool Monitor::Work::has_moved(const std::string& name, const at::Tensor& parameter) {
  if (steps_seen() == 0) return false;  // it may still be initialised
  const at::NoGradGuard no_graph;
  const at::Tensor numbers = parameter.detach();
  // Steps that a softmax takes leave sums as they are; squares they change.
  const double print = numbers.sum(at::kDouble).item<double>() + numbers.norm(2, at::kDouble).item<double>();
  const auto [at, fresh] = fingerprints_.emplace(name, print);
  if (!fresh && at->second != print) at->second = std::nan("");
  return std::isnan(at->second);
}

NonfiniteOrigin Monitor::Work::rough_origin(double loss, const GradientLook& look, const std::string& hint) const {
  NonfiniteOrigin found;
  const auto tell = [&](OriginPlace place, OriginCause cause, std::string detail) {
    found.place = place;
    found.cause = cause;
    found.detail = std::move(detail) + hint;
    return found;
  };
  for (const NonfiniteTensor& tensor : find_nonfinite(model_)) {
    if (tensor.gradient || tensor.buffer) continue;
    found.inputs.push_back({tensor.name, {}, "", tensor.count, tensor.nan_count, tensor.inf_count, 0, 0});
    return tell(OriginPlace::weights, OriginCause::nonfinite_weight,
                fmt::format("The weights brought it: {} held {} NaN and {} infinite of {} values before the step, the "
                            "first at {}",
                            tensor.name, tensor.nan_count, tensor.inf_count, tensor.count, in_brackets(tensor.first)));
  }
  const auto names = model_.named_buffers().keys();
  for (std::size_t i = 0; i < std::min(names.size(), buffers_before_.copies().size()); ++i) {
    const at::Tensor& copy = buffers_before_.copies()[i];
    // A buffer may hold a mask of -inf.
    if (!copy.defined() || !copy.is_floating_point() || !at::isnan(copy).any().item<bool>()) continue;
    return tell(OriginPlace::weights, OriginCause::nonfinite_weight,
                fmt::format("The buffer {} brought it: it held NaN before the step", names[i]));
  }
  for (const auto& [what, tensor] : {std::pair("inputs", inputs_), std::pair("labels", labels_)}) {
    if (!tensor.defined() || tensor.is_sparse() || !tensor.is_floating_point()) continue;
    const at::Tensor bad = at::isfinite(tensor.detach()).logical_not().nonzero().to(at::kCPU);
    if (bad.size(0) == 0) continue;
    std::vector<std::int64_t> first;
    for (std::int64_t d = 0; d < bad.size(1); ++d) first.push_back(bad[0][d].item<std::int64_t>());
    return tell(OriginPlace::batch, OriginCause::corrupt_data,
                fmt::format("The batch brought it: {} of {} values of its {} are not finite, the first at {}",
                            bad.size(0), tensor.numel(), what, in_brackets(first)));
  }
  if (std::isfinite(loss)) {
    return tell(OriginPlace::backward, OriginCause::unknown,
                fmt::format("The backward pass made it: the loss is {:.4g}, and the gradient of {} is not finite", loss,
                            look.first_bad));
  }
  return tell(OriginPlace::forward, OriginCause::unknown,
              inputs_.defined() ? "The forward pass made it: the weights and the batch were finite"
                                : "The forward pass made it: the weights were finite; batch() would tell whether the "
                                  "batch was");
}

void Monitor::Work::check(std::string_view series, double value) {
  recorder_.scalar(steps, series, value);
}

void Monitor::Work::throw_refusal() {
  const std::string text = std::exchange(refusal_, {});
  if (options_.throw_nonfinite && !text.empty()) throw NonfiniteError("osler: " + text);
}

void Monitor::Work::record_histograms() {
  if (!histogram_pace_.due(steps_seen())) return;
  if (options_.histograms_every == 0 && !spending_.histograms.affords()) return;
  const double before = now();
  book_.record_histograms(recorder_, steps);
  histogram_pace_.took(steps_seen());
  spending_.histograms.spend(now() - before);
}

void Monitor::Work::tell_line() {
  const auto line = record_.tally().take_line();
  if (line && options_.on_line) options_.on_line("osler: " + *line);
}

void Monitor::Work::compare_ranks(const GradientLook& look) {
  if (options_.ranks_every <= 0 || steps % options_.ranks_every != 0) return;
  const Ranks& ranks = *options_.ranks;
  constexpr std::int64_t kNumbers = 3;
  at::Tensor board = at::zeros({ranks.size, kNumbers}, at::kDouble);
  board[ranks.rank][0] = book_.weight_sum();
  board[ranks.rank][1] = look.complete ? look.norm : book_.look().norm;
  board[ranks.rank][2] = last_compute_;
  ranks.sum(board);
  const auto spread = [&](std::int64_t column) {
    const at::Tensor numbers = board.select(1, column);
    const double largest = numbers.abs().max().item<double>();
    return largest > 0 ? (numbers.max() - numbers.min()).item<double>() / largest : 0;
  };
  recorder_.scalar(steps, series_name::kRanksWeightDifference, spread(0));
  recorder_.scalar(steps, series_name::kRanksGradientDifference, spread(1));
  const at::Tensor seconds = board.select(1, 2);
  const double median = seconds.median().item<double>();
  const auto slowest = seconds.argmax().item<std::int64_t>();
  recorder_.scalar(steps, series_name::kRanksSlowest, static_cast<double>(slowest));
  if (median > 0) recorder_.scalar(steps, series_name::kRanksSlowestRatio, seconds.max().item<double>() / median);
}

std::optional<BatchReport> Monitor::Work::batch(const at::Tensor& inputs, const at::Tensor& labels) {
  const double arrived = now();
  inputs_ = inputs;
  labels_ = labels;
  auto report = batches_.look(inputs, labels, steps, recorder_);
  // The look at the batch is the monitor's time, not the loader's.
  const double spent = now() - arrived;
  took(spent);
  left_ += spent;
  if (asked_) *asked_ += spent;
  return report;
}

void Monitor::Work::log(std::string_view name, double value) {
  recorder_.scalar(steps, name, value);
}

void Monitor::Work::validation_batch(const at::Tensor& output) {
  if (mode_matters_) check(series_name::kCheckTrainModeInValidation, model_.is_training() ? 1 : 0);
  if (output.defined()) check(series_name::kCheckValidationBuildsGraph, output.requires_grad() ? 1 : 0);
}

void Monitor::Work::validation(double loss, const std::vector<std::pair<std::string, double>>& metrics) {
  // After step n training has seen n batches: the number of the newest step is n - 1.
  const std::int64_t step = std::max<std::int64_t>(steps - 1, 0);
  recorder_.scalar(step, "validation/loss", loss);
  for (const auto& [name, value] : metrics) recorder_.scalar(step, "validation/" + name, value);
  // What lies behind was validation, not waiting for the next batch.
  const double ended = now();
  times.other += ended - left_;
  left_ = ended;
  if (!listened_to() || !news_.due_after_validation(spending_)) return;
  tell_parameters();
  for (const Observation& observation : news_.take(recorder_, steps_seen(), spending_)) tell(observation);
  left_ = now();
  took(left_ - ended);
}

void Monitor::Work::epoch(std::int64_t number) {
  const std::int64_t step = std::max<std::int64_t>(steps - 1, 0);
  recorder_.scalar(step, "epoch", static_cast<double>(number));
  if (const auto mean = record_.tally().end_epoch()) recorder_.scalar(step, "train/loss_epoch", *mean);
}

std::vector<std::string> Monitor::Work::quick_check() const {
  std::vector<std::string> problems;
  for (const NonfiniteTensor& tensor : find_nonfinite(model_)) {
    problems.push_back(fmt::format("{}{} holds {} NaN and {} infinite of {} values.",
                                   tensor.gradient ? "The gradient of " : "", tensor.name, tensor.nan_count,
                                   tensor.inf_count, tensor.count));
  }
  const auto known = optimized(optimizer_);
  bool any_gradient = false;
  for (const at::Tensor& parameter : book_.parameters()) any_gradient |= parameter.grad().defined();
  for (std::size_t i = 0; i < book_.names().size(); ++i) {
    const at::Tensor& parameter = book_.parameters()[i];
    if (!parameter.requires_grad()) continue;
    const auto print = fingerprints_.find(book_.names()[i]);
    const bool by_another = print != fingerprints_.end() && std::isnan(print->second);
    if (!known.contains(parameter.unsafeGetTensorImpl()) && !by_another) {
      problems.push_back(book_.names()[i] + " is in no group of the optimizer.");
    }
    if (any_gradient && !parameter.grad().defined()) {
      problems.push_back(book_.names()[i] + " has received no gradient: it is not part of the graph.");
    }
  }
  if (mode_matters_ && !model_.is_training()) problems.emplace_back("The model is in evaluation mode.");
  return problems;
}

std::string Monitor::Work::summary() {
  if (steps_seen() == 0) return "No step has been made yet.\n";
  const Report now = report();
  std::string text = fmt::format("{} steps, {} left out", steps_seen(), skipped);
  if (gradient_norm) text += fmt::format(", gradient norm {:.4g}", *gradient_norm);
  if (options_.clip_norm && steps_seen() > 0) {
    text += fmt::format(", clipped {:.0f} % of the steps", 100.0 * clipped_share());
  }
  text += fmt::format("; watching took {:.1f} % of the time.\n", 100 * times.monitor_share());
  if (const at::Device device = book_.parameters().front().device(); !device.is_cpu()) {
    text += "The model is on " + device.str() + ": tensors are copied to the host to be measured, which is slow.\n";
  }
  text += now.headline + "\n";
  for (const Observation& observation : now.findings) {
    text += fmt::format("  {}: {} [{}]\n", to_string(observation.severity), observation.summary, observation.finding);
  }
  if (origin) text += "  " + describe(*origin) + "\n";
  return text;
}

Result<void> Monitor::Work::close() {
  if (closed_) return {};
  closed_ = true;
  watch_.reset();
  recorder_.mark(Mark::Kind::finished, steps, "training ended");
  return recorder_.close();
}

}  // namespace osler::torch
