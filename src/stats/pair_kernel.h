// The plain face of the SIMD code that compares and widens blocks.
#pragma once

#include <cstddef>

#include "osler/stats/pair_stats.h"
#include "osler/stats/tensor_view.h"
#include "stats/dtype.h"

namespace osler::stats {

/// Compares `count` dense pairs of floats; `stored` is the resolution of the type that a came from.
[[nodiscard]] PairStats compare_block(const float* a, const float* b, std::size_t count, const Resolution& stored);
/// Compares `count` dense pairs of doubles.
[[nodiscard]] PairStats compare_block(const double* a, const double* b, std::size_t count, const Resolution& stored);

/// The squared L2 norm of now - before over `count` <= kBlockElements dense elements of one type, where both are
/// finite; `before` then holds what `now` does.
[[nodiscard]] double follow_block(void* before, const void* now, DType dtype, std::size_t count);

/// Widens `count` dense elements of any type but f64, exactly.
void widen_block(const void* from, DType dtype, std::size_t count, float* to);
/// Widens `count` dense elements of any type, exactly.
void widen_block(const void* from, DType dtype, std::size_t count, double* to);

}  // namespace osler::stats
