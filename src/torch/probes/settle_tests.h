// The experiments that settle() can choose from, each cut to what may be spent.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "osler/run/experiment.h"
#include "osler/torch/training.h"

namespace osler::torch {

/// One kind of experiment.
struct SettlingTest {
  std::string_view probe;
  std::int64_t least = 0;  ///< passes forward and backward below which it is not worth trying
  std::int64_t usual = 0;  ///< what it costs when there is plenty
  /// Runs it within about `passes`.
  Experiment (*run)(const Training& training, std::int64_t passes, const Limits& limits);
};

[[nodiscard]] std::span<const SettlingTest> settling_tests();

}  // namespace osler::torch
