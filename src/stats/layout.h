// How the elements of one or two strided tensors are walked: in the order of memory, in dense blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "osler/stats/tensor_view.h"
#include "stats/summary_kernel.h"

namespace osler::stats {

/// One dimension of a walk over up to two tensors of the same sizes.
struct Axis {
  std::uint64_t size;
  std::array<std::int64_t, 2> strides;  ///< in elements, for each tensor
  std::uint64_t index_step;             ///< what one step adds to the row-major index
};

/// Dimensions, outermost first. Only the first `rank` are set: filling all would cost more than a small tensor.
struct Axes {
  std::array<Axis, TensorView::kMaxRank> items;
  std::size_t rank = 0;

  void push(const Axis& axis) { items[rank++] = axis; }
};

/// The order in which elements are visited: large strides outermost, neighbouring dimensions joined where memory
/// allows. The position in this order is an element's ordinal.
class Layout {
 public:
  /// No dimension is left out.
  static constexpr std::size_t kAllAxes = TensorView::kMaxRank;

  /// The walk over `a`, and over `b` in step when there is one of the same sizes; dimension `without` is left out.
  explicit Layout(const TensorView& a, const TensorView* b = nullptr, std::size_t without = kAllAxes);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// Whether an element's ordinal is its row-major index.
  [[nodiscard]] bool in_order() const { return in_order_; }
  /// The row-major index of an element.
  [[nodiscard]] std::uint64_t index_of(std::uint64_t ordinal) const;
  /// So many ordinals in sequence, starting at a multiple of it, have growing indices.
  [[nodiscard]] std::uint64_t growing_run() const;
  /// The joined dimensions; never none.
  [[nodiscard]] const Axes& walk() const { return walk_; }
  /// The dimensions in the order of the walk, none joined.
  [[nodiscard]] const Axes& sorted() const { return sorted_; }

 private:
  std::uint64_t count_ = 1;
  bool in_order_ = true;
  Axes sorted_;
  Axes walk_;
};

/// A place in a layout that moves forward.
class Cursor {
 public:
  Cursor(const Layout& layout, std::uint64_t ordinal);

  /// The distance from the first element, for each tensor, in elements.
  [[nodiscard]] const std::array<std::int64_t, 2>& offsets() const { return offsets_; }
  /// The elements from here to the end of the innermost dimension.
  [[nodiscard]] std::uint64_t run() const { return inner().size - at_[walk_.rank - 1]; }
  [[nodiscard]] const Axis& inner() const { return walk_.items[walk_.rank - 1]; }
  /// Moves on by at most run() elements.
  void advance(std::uint64_t count);

 private:
  const Axes& walk_;
  std::array<std::uint64_t, TensorView::kMaxRank> at_{};
  std::array<std::int64_t, 2> offsets_{};
};

/// Elements that lie densely, in memory of the tensor itself or of the reader.
struct Block {
  std::array<const std::byte*, 2> data{};
  std::size_t count = 0;
  std::uint64_t ordinal = 0;  ///< of the first element
};

/// A tensor's memory as the reader needs it; no memory at all for the absent second tensor.
struct Operand {
  const std::byte* data = nullptr;
  std::size_t element_bytes = 0;
};

/// Hands out a stretch of a layout block by block, copying only where memory is not dense. Allocates nothing.
class BlockReader {
 public:
  BlockReader(const Layout& layout, const Operand& a, const Operand& b, std::uint64_t begin, std::uint64_t end);

  /// The next block of at most kBlockElements; false at the end.
  bool next(Block& block);

 private:
  [[nodiscard]] bool dense() const;
  [[nodiscard]] const std::byte* address(std::size_t operand) const;
  void pack(std::size_t operand, std::size_t count, std::size_t to);

  std::array<Operand, 2> operands_;
  Cursor cursor_;
  std::uint64_t at_;
  std::uint64_t end_;
  alignas(64) std::array<std::array<std::byte, kBlockElements * sizeof(double)>, 2> scratch_;
};

}  // namespace osler::stats
