// Judging why an operation made a non-finite value, by its name and what went into it.
#include <algorithm>
#include <cmath>

#include "monitor/nonfinite_cause.h"
#include "torch/host_tensor.h"
#include "torch/origin_trace.h"

namespace osler::torch {
namespace {

constexpr std::int64_t kOffendersShown = 4;

OriginTensor described(const at::Tensor& tensor, std::string name, stats::Engine& engine) {
  OriginTensor about;
  about.name = std::move(name);
  about.sizes = tensor.sizes().vec();
  about.dtype = std::string(c10::toString(tensor.scalar_type()));
  about.count = static_cast<std::uint64_t>(tensor.numel());
  const auto host = host_tensor(tensor);
  if (!host || about.count == 0) return about;
  stats::Batch batch;
  const std::size_t asked = batch.summarize(host->view);
  if (!engine.submit(batch)) return about;
  engine.wait(batch);
  const stats::TensorStats& stats = batch.summary(asked);
  about.nan_count = stats.nan_count;
  about.inf_count = stats.inf_count;
  if (stats.finite_count() > 0) {
    about.min = stats.min;
    about.max = stats.max;
  }
  return about;
}

/// The element of `input` that stands at `index` of an output, when the input can be spread over the output's sizes.
std::optional<double> element_at(const at::Tensor& input, at::IntArrayRef sizes,
                                 const std::vector<std::int64_t>& index) {
  if (input.dim() > static_cast<std::int64_t>(sizes.size())) return std::nullopt;
  const std::size_t lead = sizes.size() - static_cast<std::size_t>(input.dim());
  at::Tensor element = input.detach();
  for (std::size_t i = 0; i < static_cast<std::size_t>(input.dim()); ++i) {
    const std::int64_t size = input.size(static_cast<std::int64_t>(i));
    if (size != 1 && size != sizes[lead + i]) return std::nullopt;
  }
  for (std::size_t i = lead; i < sizes.size(); ++i) element = element.select(0, element.size(0) == 1 ? 0 : index[i]);
  return element.item<double>();
}

std::vector<Offender> offenders_of(const Scene& scene) {
  std::vector<Offender> offenders;
  const at::Tensor& output = scene.outputs.front();
  const at::Tensor places = at::isfinite(output.detach()).logical_not().nonzero().to(at::kCPU);
  for (std::int64_t row = 0; row < std::min(places.size(0), kOffendersShown); ++row) {
    Offender offender;
    for (std::int64_t d = 0; d < places.size(1); ++d) offender.index.push_back(places[row][d].item<std::int64_t>());
    offender.output = element_at(output, output.sizes(), offender.index).value_or(0);
    for (const at::Tensor& input : scene.inputs) {
      if (const auto value = element_at(input, output.sizes(), offender.index)) offender.inputs.push_back(*value);
    }
    offenders.push_back(std::move(offender));
  }
  return offenders;
}

double largest(const std::vector<OriginTensor>& tensors) {
  double most = 0;
  for (const OriginTensor& tensor : tensors) most = std::max({most, std::abs(tensor.min), std::abs(tensor.max)});
  return most;
}

}  // namespace

void judge(const Scene& scene, stats::Engine& engine, NonfiniteOrigin& origin) {
  for (std::size_t i = 0; i < scene.inputs.size(); ++i) {
    origin.inputs.push_back(described(scene.inputs[i], "input " + std::to_string(i), engine));
  }
  for (const at::Tensor& output : scene.outputs) origin.outputs.push_back(described(output, "output", engine));
  origin.offenders = offenders_of(scene);

  monitor::NonfiniteClues clues;
  clues.plain = scene.plain;
  clues.node = scene.node;
  clues.half = scene.outputs.front().scalar_type() == at::kHalf;
  clues.infinite = origin.outputs.front().nan_count == 0;
  clues.largest = largest(origin.inputs);
  for (const OriginTensor& input : origin.inputs) clues.infinite_inputs |= input.inf_count > 0;
  if (!origin.offenders.empty()) {
    const std::vector<double>& values = origin.offenders.front().inputs;
    if (!values.empty()) clues.first = values[0];
    if (values.size() > 1) clues.second = values[1];
  }
  if (!clues.second && !scene.scalars.empty()) clues.second = scene.scalars.front();

  monitor::NonfiniteJudgement judgement = monitor::judge(clues);
  if (!scene.overwritten_by.empty()) {
    judgement = {OriginCause::in_place_modification,
                 "a tensor that the gradient needs was changed by " + scene.overwritten_by + " in place"};
  } else if (scene.into_foreign_memory) {
    judgement = {OriginCause::in_place_modification, judgement.detail + ", written over a tensor from before the step"};
  }
  origin.cause = judgement.cause;
  origin.detail = judgement.detail;
}

}  // namespace osler::torch
