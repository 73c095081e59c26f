// Which series the statistics of a tensor become.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "osler/stats/tensor_stats.h"

namespace osler::recording {

/// The statistics that become series, as guess_role names them.
inline constexpr std::array<std::string_view, 7> kTensorStatistics = {
    "norm", "std", "mean", "max", "zero-share", "near-zero-share", "nonfinite"};
/// The last of them is recorded only when it is not zero.
inline constexpr std::size_t kNonfiniteStatistic = kTensorStatistics.size() - 1;

/// Their values, in the same order, rounded to 32 bits where that loses no magnitude.
[[nodiscard]] std::array<double, kTensorStatistics.size()> tensor_values(const stats::TensorStats& stats);

}  // namespace osler::recording
