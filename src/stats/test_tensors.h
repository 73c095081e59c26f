// What the tests of this module share: typed memory, encoders, every instruction set in turn.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "hwy/highway.h"
#include "osler/stats/engine.h"
#include "stats/dtype.h"

namespace osler::stats {

inline constexpr DType kAllTypes[] = {DType::f32, DType::f64, DType::f16, DType::bf16};

/// The bits of `value` in a type: rounded for f32, towards zero for the 16-bit types; NaN and infinities stay.
inline std::uint64_t encode(DType dtype, double value) {
  if (dtype == DType::f64) return std::bit_cast<std::uint64_t>(value);
  if (dtype == DType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const std::uint64_t sign = std::signbit(value) ? 0x8000u : 0u;
  if (std::isnan(value)) return sign | 0x7FC0u | 0x7E00u;
  return sign | threshold_bits(dtype, std::abs(value));
}

/// Memory that holds values in one type, starting at any multiple of the element size from an aligned address.
class TypedMemory {
 public:
  TypedMemory(DType dtype, std::span<const double> values, std::size_t misaligned_by = 0)
      : dtype_(dtype), size_(values.size()), bytes_(element_bytes(dtype)) {
    memory_.resize((values.size() + misaligned_by) * bytes_ / 64 + 2);
    start_ = reinterpret_cast<std::byte*>(memory_.data()) + misaligned_by * bytes_;
    for (std::size_t i = 0; i < values.size(); ++i) set(i, values[i]);
  }
  void set(std::size_t i, double value) {
    const std::uint64_t bits = encode(dtype_, value);
    std::memcpy(start_ + i * bytes_, &bits, bytes_);
  }
  [[nodiscard]] const std::byte* data() const { return start_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] TensorView view() const {
    const std::int64_t size = static_cast<std::int64_t>(size_);
    return TensorView::contiguous(start_, dtype_, {&size, 1}).value();
  }
  [[nodiscard]] TensorView view(std::vector<std::int64_t> sizes) const {
    return TensorView::contiguous(start_, dtype_, sizes).value();
  }
  [[nodiscard]] TensorView view(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                                std::size_t offset = 0) const {
    return TensorView::strided(start_ + offset * bytes_, dtype_, sizes, strides).value();
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  DType dtype_;
  std::size_t size_;
  std::size_t bytes_;
  std::vector<Line> memory_;
  std::byte* start_ = nullptr;
};

/// Calls `test` once for each instruction set that this machine has and the kernels were compiled for.
template <typename Test>
void on_every_target(Test test) {
  std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  targets |= HWY_STATIC_TARGET;
  for (; targets != 0; targets &= targets - 1) {
    const std::int64_t target = targets & -targets;
    hwy::SetSupportedTargetsForTest(target);
    test(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
}

/// How often this program has called operator new.
std::size_t allocations_so_far();

/// Submits a batch to an engine without threads and waits for it.
inline void run_here(Batch& batch) {
  static const std::unique_ptr<Engine> engine = make_cpu_engine(0);
  if (engine->submit(batch)) engine->wait(batch);
}

}  // namespace osler::stats
