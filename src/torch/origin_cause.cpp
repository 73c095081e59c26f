// Judging why an operation made a non-finite value, by its name and what went into it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "torch/host_tensor.h"
#include "torch/origin_trace.h"

namespace osler::torch {
namespace {

using namespace std::string_view_literals;

constexpr std::int64_t kOffendersShown = 4;

template <std::size_t N>
bool has(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

constexpr std::array kLogarithms = {
    "log"sv,          "log2"sv,  "log10"sv, "log1p"sv, "xlogy"sv, "logit"sv, "binary_cross_entropy"sv,
    "special_entr"sv, "kl_div"sv};
constexpr std::array kDivisions = {"div"sv,     "true_divide"sv, "reciprocal"sv, "rsqrt"sv,
                                   "addcdiv"sv, "remainder"sv,   "fmod"sv,       "floor_divide"sv};
constexpr std::array kMeans = {"mean"sv,
                               "std"sv,
                               "var"sv,
                               "std_mean"sv,
                               "var_mean"sv,
                               "nll_loss"sv,
                               "nll_loss_forward"sv,
                               "nll_loss_nd"sv,
                               "nll_loss2d_forward"sv,
                               "mse_loss"sv};
constexpr std::array kExponentials = {"exp"sv, "exp2"sv, "expm1"sv, "sinh"sv, "cosh"sv, "logsumexp"sv};
constexpr std::array kSteepAtZero = {"sqrt"sv, "pow"sv,  "rsqrt"sv, "norm"sv,  "linalg_vector_norm"sv, "std"sv, "var"sv,
                                     "acos"sv, "asin"sv, "acosh"sv, "cdist"sv, "euclidean_dist"sv};
constexpr std::array kNormalisations = {"native_batch_norm"sv, "native_layer_norm"sv, "native_group_norm"sv,
                                        "batch_norm"sv,        "layer_norm"sv,        "group_norm"sv};

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

std::string short_number(double value) {
  return fmt::format("{:.4g}", value);
}

/// Everything the rules below look at.
struct Clues {
  const Scene& scene;
  const NonfiniteOrigin& origin;
  bool half = false;             // the result is stored in half precision
  bool infinite = false;         // infinities came out, no NaN
  std::optional<double> first;   // the first input's element at the first offender
  std::optional<double> second;  // the second input's, or the scalar
};

struct Judgement {
  OriginCause cause = OriginCause::unknown;
  std::string detail;
};

Judgement judge_logarithm(const Clues& clues) {
  const double edge = clues.scene.plain == "log1p" ? -1 : 0;
  const double value = clues.first.value_or(edge);
  return {OriginCause::log_of_zero, value < edge ? "the logarithm of " + short_number(value) : "the logarithm of zero"};
}

Judgement judge_division(const Clues& clues) {
  const bool unary = clues.scene.plain == "reciprocal" || clues.scene.plain == "rsqrt";
  const double divisor = unary ? clues.first.value_or(0) : clues.second.value_or(0);
  if (divisor == 0) {
    const bool both = !unary && clues.first.value_or(1) == 0;
    return {OriginCause::division_by_zero, both ? "0 / 0" : "a division by zero"};
  }
  if (clues.half) return {OriginCause::fp16_overflow, "beyond the largest number of half precision, 65504"};
  return {OriginCause::division_by_zero, "a division by " + short_number(divisor) + ", as good as zero"};
}

/// Operations of a backward node: what they mean depends on the forward operation.
std::optional<Judgement> judge_node(const Clues& clues) {
  const std::string& node = clues.scene.node;
  if (node.empty()) return std::nullopt;
  if (has(kSteepAtZero, node))
    return Judgement{OriginCause::sqrt_at_zero, "the slope of " + node + " is infinite at zero"};
  if (has(kLogarithms, node))
    return Judgement{OriginCause::log_of_zero, "the slope of " + node + " is infinite at zero"};
  if (node == "div" || node == "reciprocal") {
    return Judgement{OriginCause::division_by_zero, "the gradient of a division by zero, or as good as zero"};
  }
  if (clues.half) return Judgement{OriginCause::fp16_overflow, "beyond the largest number of half precision, 65504"};
  if (has(kExponentials, node))
    return Judgement{OriginCause::exp_overflow, "the gradient of an overflowing exponential"};
  return Judgement{OriginCause::exploding_signal,
                   "gradients of up to " + short_number(largest(clues.origin.inputs)) + " overflow"};
}

Judgement judge_power(const Clues& clues) {
  const double base = clues.first.value_or(1);
  const double exponent = clues.second.value_or(1);
  if (base == 0 && exponent < 0) return {OriginCause::division_by_zero, "zero to a negative power"};
  if (base < 0) return {OriginCause::sqrt_at_zero, "a broken power of the negative number " + short_number(base)};
  return {OriginCause::exploding_signal, short_number(base) + " to the power of " + short_number(exponent)};
}

Judgement judge_forward(const Clues& clues) {
  const std::string& plain = clues.scene.plain;
  if (has(kLogarithms, plain)) return judge_logarithm(clues);
  if (has(kDivisions, plain)) return judge_division(clues);
  if (plain == "sqrt") {
    return {OriginCause::sqrt_at_zero, "the square root of " + short_number(clues.first.value_or(-1))};
  }
  if (clues.half && clues.infinite) {
    return {OriginCause::fp16_overflow, "beyond the largest number of half precision, 65504"};
  }
  if (has(kExponentials, plain)) {
    return {OriginCause::exp_overflow,
            "the exponential of " + short_number(clues.first.value_or(largest(clues.origin.inputs)))};
  }
  if (plain == "pow") return judge_power(clues);
  if (plain == "softmax" || plain == "log_softmax") {
    return {OriginCause::division_by_zero, "a row of nothing but -inf: every position is masked"};
  }
  if (has(kMeans, plain) && !clues.infinite) {
    return {OriginCause::division_by_zero, "an average of nothing, or a deviation of one sample: 0 / 0"};
  }
  if (has(kNormalisations, plain) && largest(clues.origin.inputs) < 1e15) {
    return {OriginCause::division_by_zero, "a normalisation by a spread of zero"};
  }
  return {OriginCause::exploding_signal, "inputs of up to " + short_number(largest(clues.origin.inputs)) + " overflow"};
}

}  // namespace

void judge(const Scene& scene, stats::Engine& engine, NonfiniteOrigin& origin) {
  for (std::size_t i = 0; i < scene.inputs.size(); ++i) {
    origin.inputs.push_back(described(scene.inputs[i], "input " + std::to_string(i), engine));
  }
  for (const at::Tensor& output : scene.outputs) origin.outputs.push_back(described(output, "output", engine));
  origin.offenders = offenders_of(scene);

  Clues clues{scene, origin, false, origin.outputs.front().nan_count == 0, std::nullopt, std::nullopt};
  clues.half = scene.outputs.front().scalar_type() == at::kHalf;
  if (!origin.offenders.empty()) {
    const std::vector<double>& values = origin.offenders.front().inputs;
    if (!values.empty()) clues.first = values[0];
    if (values.size() > 1) clues.second = values[1];
  }
  if (!clues.second && !scene.scalars.empty()) clues.second = scene.scalars.front();

  Judgement judgement;
  if (const auto node = judge_node(clues)) {
    judgement = *node;
  } else {
    judgement = judge_forward(clues);
  }
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
