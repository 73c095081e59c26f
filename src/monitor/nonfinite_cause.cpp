// The rules by which a non-finite value is explained.
#include "monitor/nonfinite_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "monitor/operations.h"

namespace osler::monitor {
namespace {

using namespace std::string_view_literals;

constexpr std::array<std::pair<OriginCause, std::string_view>, 11> kNames = {{
    {OriginCause::log_of_zero, "log-of-zero"},
    {OriginCause::division_by_zero, "division-by-zero"},
    {OriginCause::sqrt_at_zero, "sqrt-at-zero"},
    {OriginCause::exp_overflow, "exp-overflow"},
    {OriginCause::fp16_overflow, "fp16-overflow"},
    {OriginCause::exploding_signal, "exploding-signal"},
    {OriginCause::corrupt_data, "corrupt-data"},
    {OriginCause::in_place_modification, "in-place-modification"},
    {OriginCause::nonfinite_weight, "nonfinite-weight"},
    {OriginCause::outside_domain, "outside-domain"},
    {OriginCause::unknown, "unknown"},
}};

template <std::size_t N>
bool has(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

constexpr std::array kLogarithms = {
    "log"sv,          "log2"sv,  "log10"sv, "log1p"sv, "xlogy"sv, "logit"sv, "binary_cross_entropy"sv,
    "special_entr"sv, "kl_div"sv};
constexpr std::array kDeterminants = {"logdet"sv, "slogdet"sv, "linalg_slogdet"sv};
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

constexpr std::array kSums = {"sum"sv, "mean"sv, "cumsum"sv,    "mm"sv,     "bmm"sv,    "addmm"sv,  "matmul"sv,
                              "mv"sv,  "dot"sv,  "logsumexp"sv, "nansum"sv, "linear"sv, "baddbmm"sv};

std::string short_number(double value) {
  return fmt::format("{:.4g}", value);
}

NonfiniteJudgement judge_logarithm(const NonfiniteClues& clues) {
  const double edge = clues.plain == "log1p" ? -1 : 0;
  const double value = clues.first.value_or(edge);
  return {OriginCause::log_of_zero, value < edge ? "the logarithm of " + short_number(value) : "the logarithm of zero"};
}

NonfiniteJudgement judge_division(const NonfiniteClues& clues) {
  const bool unary = clues.plain == "reciprocal" || clues.plain == "rsqrt";
  const double divisor = unary ? clues.first.value_or(0) : clues.second.value_or(0);
  if (divisor == 0) {
    const bool both = !unary && clues.first.value_or(1) == 0;
    return {OriginCause::division_by_zero, both ? "0 / 0" : "a division by zero"};
  }
  if (clues.half) return {OriginCause::fp16_overflow, "beyond the largest number of half precision, 65504"};
  return {OriginCause::division_by_zero, "a division by " + short_number(divisor) + ", as good as zero"};
}

/// Operations whose slope is infinite, or 0 / 0, somewhere else than at zero, or at zero for another reason.
struct Steep {
  std::string_view node;
  OriginCause cause;
  std::string_view words;
};
constexpr std::array<Steep, 12> kSteep = {
    {{"acos", OriginCause::sqrt_at_zero, "the slope of acos is infinite at -1 and 1"},
     {"asin", OriginCause::sqrt_at_zero, "the slope of asin is infinite at -1 and 1"},
     {"acosh", OriginCause::sqrt_at_zero, "the slope of acosh is infinite at 1"},
     {"atanh", OriginCause::division_by_zero, "the slope of atanh is infinite at -1 and 1"},
     {"atan2", OriginCause::division_by_zero, "the slope of atan2 at (0, 0) is 0 / 0"},
     {"hypot", OriginCause::division_by_zero, "the slope of hypot at (0, 0) is 0 / 0"},
     {"erfinv", OriginCause::exp_overflow, "the slope of erfinv is infinite at -1 and 1"},
     {"logit", OriginCause::division_by_zero, "the slope of logit is infinite at 0 and 1"},
     {"linalg_eigh", OriginCause::division_by_zero, "eigenvectors have no slope where two eigenvalues are equal"},
     {"linalg_eig", OriginCause::division_by_zero, "eigenvectors have no slope where two eigenvalues are equal"},
     {"linalg_svd", OriginCause::division_by_zero,
      "singular vectors have no slope where two singular values are equal"},
     {"svd", OriginCause::division_by_zero, "singular vectors have no slope where two singular values are equal"}}};

constexpr double kHuge = 1e15;  // beyond it products and squares of single precision overflow

/// Sums, products and what multiplies again and again: they overflow. Anything else makes no infinity of small numbers.
bool can_overflow(std::string_view plain) {
  constexpr std::array kGrowing = {"mul"sv,     "add"sv,     "sub"sv,     "square"sv,  "pow"sv,
                                   "cumprod"sv, "prod"sv,    "addcmul"sv, "addcdiv"sv, "linalg_matrix_power"sv,
                                   "copy"sv,    "to_copy"sv, "to"sv};
  const Part part = part_of(plain);
  return part == Part::weighted || part == Part::recurrent || has(kSums, plain) || has(kGrowing, plain);
}

NonfiniteJudgement overflow(const NonfiniteClues& clues, std::string_view what) {
  if (clues.half) return {OriginCause::fp16_overflow, "beyond the largest number of half precision, 65504"};
  if (clues.largest < kHuge && !clues.node.empty()) {
    return {OriginCause::outside_domain, "its slope is not finite at its inputs"};
  }
  if (clues.largest < kHuge && !can_overflow(clues.plain)) {
    return {OriginCause::outside_domain, clues.plain + " has no finite value for its inputs"};
  }
  return {OriginCause::exploding_signal, fmt::format("{} of up to {} overflow", what, short_number(clues.largest))};
}

/// Operations of a backward node: what they mean depends on the forward operation.
std::optional<NonfiniteJudgement> judge_node(const NonfiniteClues& clues) {
  const std::string& node = clues.node;
  if (node.empty()) return std::nullopt;
  if (clues.largest > kHuge && clues.infinite && !has(kLogarithms, node)) return overflow(clues, "gradients");
  for (const Steep& steep : kSteep) {
    if (steep.node == node) return NonfiniteJudgement{steep.cause, std::string(steep.words)};
  }
  if (has(kSteepAtZero, node))
    return NonfiniteJudgement{OriginCause::sqrt_at_zero, "the slope of " + node + " is infinite at zero"};
  if (has(kLogarithms, node))
    return NonfiniteJudgement{OriginCause::log_of_zero, "the slope of " + node + " is infinite at zero"};
  if (node == "div" || node == "reciprocal") {
    return NonfiniteJudgement{OriginCause::division_by_zero, "the gradient of a division by zero, or as good as zero"};
  }
  if (clues.half) return overflow(clues, "gradients");
  if (has(kExponentials, node))
    return NonfiniteJudgement{OriginCause::exp_overflow, "the gradient of an overflowing exponential"};
  return overflow(clues, "gradients");
}

NonfiniteJudgement judge_power(const NonfiniteClues& clues) {
  const double base = clues.first.value_or(1);
  const double exponent = clues.second.value_or(1);
  if (base == 0 && exponent < 0) return {OriginCause::division_by_zero, "zero to a negative power"};
  const bool whole = exponent == std::floor(exponent);
  if (base < 0 && !whole)
    return {OriginCause::sqrt_at_zero, "a broken power of the negative number " + short_number(base)};
  return {OriginCause::exploding_signal, short_number(base) + " to the power of " + short_number(exponent)};
}

/// Functions that are defined between two numbers only.
struct Domain {
  std::string_view plain;
  double low;
  double high;
  std::string_view words;
};
constexpr double kNoEnd = std::numeric_limits<double>::infinity();
constexpr std::array<Domain, 9> kDomains = {{{"acos", -1, 1, "outside [-1, 1]"},
                                             {"arccos", -1, 1, "outside [-1, 1]"},
                                             {"asin", -1, 1, "outside [-1, 1]"},
                                             {"arcsin", -1, 1, "outside [-1, 1]"},
                                             {"atanh", -1, 1, "not inside (-1, 1)"},
                                             {"erfinv", -1, 1, "not inside (-1, 1)"},
                                             {"lgamma", 0, kNoEnd, "zero or less, where it has poles"},
                                             {"digamma", 0, kNoEnd, "zero or less, where it has poles"},
                                             {"acosh", 1, kNoEnd, "below 1"}}};

/// Sums and products of infinities, which were asked for: a mask, say.
std::optional<NonfiniteJudgement> judge_infinities(const NonfiniteClues& clues) {
  if (clues.infinite || !clues.infinite_inputs) return std::nullopt;
  const double first = clues.first.value_or(1);
  const double second = clues.second.value_or(1);
  const auto told = [&](std::string_view sign) {
    return NonfiniteJudgement{OriginCause::outside_domain,
                              fmt::format("{} {} {}", short_number(first), sign, short_number(second))};
  };
  if (clues.plain == "mul") return told("x");
  if (clues.plain == "div" && std::isinf(first) && std::isinf(second)) return told("/");
  if (clues.plain == "add" || clues.plain == "sub" || clues.plain == "rsub") {
    return NonfiniteJudgement{OriginCause::outside_domain, "inf - inf"};
  }
  if (has(kSums, clues.plain)) {
    return NonfiniteJudgement{OriginCause::outside_domain, "an infinity times zero, or inf - inf, in a sum"};
  }
  return std::nullopt;
}

std::optional<NonfiniteJudgement> judge_domain(const NonfiniteClues& clues) {
  for (const Domain& domain : kDomains) {
    if (domain.plain != clues.plain || !clues.first) continue;
    if (*clues.first > domain.low && *clues.first < domain.high) continue;
    return NonfiniteJudgement{OriginCause::outside_domain,
                              fmt::format("{} of {:.7g}, which is {}", clues.plain, *clues.first, domain.words)};
  }
  return std::nullopt;
}

NonfiniteJudgement judge_forward(const NonfiniteClues& clues) {
  const std::string& plain = clues.plain;
  if (const auto domain = judge_domain(clues)) return *domain;
  if (const auto infinities = judge_infinities(clues)) return *infinities;
  if (has(kLogarithms, plain)) return judge_logarithm(clues);
  if (has(kDeterminants, plain)) return {OriginCause::log_of_zero, "the logarithm of a determinant of zero"};
  if (has(kDivisions, plain)) return judge_division(clues);
  if (plain == "sqrt") {
    return {OriginCause::sqrt_at_zero, "the square root of " + short_number(clues.first.value_or(-1))};
  }
  if (clues.half && clues.infinite) {
    return {OriginCause::fp16_overflow, "beyond the largest number of half precision, 65504"};
  }
  if (has(kExponentials, plain)) {
    return {OriginCause::exp_overflow, "the exponential of " + short_number(clues.first.value_or(clues.largest))};
  }
  if (plain == "pow") return judge_power(clues);
  const bool attention = plain.starts_with("scaled_dot_product") && !clues.infinite && clues.largest < kHuge;
  if (plain == "softmax" || plain == "log_softmax" || attention) {
    return {OriginCause::division_by_zero, "a row of nothing but -inf: every position is masked"};
  }
  if (plain.starts_with("nll_loss") && clues.infinite) {
    return {OriginCause::log_of_zero, "a target's class has the probability zero: its score is -inf, as by a mask"};
  }
  if (plain == "ctc_loss" && clues.infinite) {
    return {OriginCause::outside_domain, "a target is longer than its input allows"};
  }
  if (has(kMeans, plain) && !clues.infinite) {
    return {OriginCause::division_by_zero, "an average of nothing, or a deviation of one sample: 0 / 0"};
  }
  if (plain.starts_with("weight_norm") && clues.largest < kHuge) {
    return {OriginCause::division_by_zero, "a direction of length zero: 0 / 0"};
  }
  if (has(kNormalisations, plain) && clues.largest < kHuge) {
    return {OriginCause::division_by_zero, "a normalisation by a spread of zero"};
  }
  return overflow(clues, "inputs");
}

}  // namespace

std::string_view to_string(OriginCause cause) {
  for (const auto& [known, name] : kNames) {
    if (known == cause) return name;
  }
  return "unknown";
}

NonfiniteJudgement judge(const NonfiniteClues& clues) {
  if (const auto node = judge_node(clues)) return *node;
  return judge_forward(clues);
}

}  // namespace osler::monitor
