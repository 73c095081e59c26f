// Sorts and joins dimensions, and walks them block by block.
#include "stats/layout.h"

#include <algorithm>
#include <cstring>

namespace osler::stats {

namespace {

/// Shorter dense runs are gathered into one block, so that small rows do not pay for a block each.
constexpr std::uint64_t kShortestDirectRun = 512;

/// Repeated elements (stride 0) outermost, then from large strides to small ones.
bool outside_of(const Axis& a, const Axis& b) {
  for (std::size_t k = 0; k < 2; ++k) {
    const std::uint64_t x = static_cast<std::uint64_t>(std::abs(a.strides[k]));
    const std::uint64_t y = static_cast<std::uint64_t>(std::abs(b.strides[k]));
    if (x != y) return x == 0 || (y != 0 && x > y);
  }
  return false;
}

bool joins(const Axis& outer, const Axis& inner) {
  for (std::size_t k = 0; k < 2; ++k) {
    if (outer.strides[k] != static_cast<std::int64_t>(inner.size) * inner.strides[k]) return false;
  }
  return true;
}

template <typename Bits>
void copy_strided(const std::byte* from, std::int64_t stride, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to + i * sizeof(Bits), from + static_cast<std::int64_t>(i) * stride * std::int64_t{sizeof(Bits)},
                sizeof(Bits));
  }
}

}  // namespace

Layout::Layout(const TensorView& a, const TensorView* b, std::size_t without) {
  std::uint64_t index_step = 1;
  Axes reversed;
  for (std::size_t i = a.sizes().size(); i-- > 0;) {
    if (i == without) continue;
    const std::uint64_t size = static_cast<std::uint64_t>(a.sizes()[i]);
    count_ *= size;
    if (size != 1) reversed.push({size, {a.strides()[i], b != nullptr ? b->strides()[i] : 0}, index_step});
    index_step *= size;
  }
  for (std::size_t i = reversed.rank; i-- > 0;) sorted_.push(reversed.items[i]);
  auto* const begin = sorted_.items.data();
  // Insertion sort: stable, in place, and a handful of dimensions at most.
  for (std::size_t i = 1; i < sorted_.rank; ++i) {
    for (std::size_t j = i; j > 0 && outside_of(begin[j], begin[j - 1]); --j) std::swap(begin[j], begin[j - 1]);
  }
  for (std::size_t i = 0; i < sorted_.rank; ++i) {
    in_order_ = in_order_ && (i == 0 || begin[i - 1].index_step > begin[i].index_step);
    Axis* const outer = walk_.rank > 0 ? &walk_.items[walk_.rank - 1] : nullptr;
    if (outer != nullptr && joins(*outer, begin[i])) {
      *outer = {outer->size * begin[i].size, begin[i].strides, begin[i].index_step};
    } else {
      walk_.push(begin[i]);
    }
  }
  if (walk_.rank == 0) walk_.push({count_, {1, 1}, 1});
}

std::uint64_t Layout::index_of(std::uint64_t ordinal) const {
  std::uint64_t index = 0;
  for (std::size_t i = sorted_.rank; i-- > 0;) {
    const Axis& axis = sorted_.items[i];
    index += ordinal % axis.size * axis.index_step;
    ordinal /= axis.size;
  }
  return index;
}

std::uint64_t Layout::growing_run() const {
  return sorted_.rank == 0 ? 1 : sorted_.items[sorted_.rank - 1].size;
}

Cursor::Cursor(const Layout& layout, std::uint64_t ordinal) : walk_(layout.walk()) {
  for (std::size_t i = walk_.rank; i-- > 0;) {
    const Axis& axis = walk_.items[i];
    if (axis.size == 0) continue;
    at_[i] = ordinal % axis.size;
    ordinal /= axis.size;
    for (std::size_t k = 0; k < 2; ++k) offsets_[k] += static_cast<std::int64_t>(at_[i]) * axis.strides[k];
  }
}

void Cursor::advance(std::uint64_t count) {
  std::uint64_t steps = count;
  for (std::size_t i = walk_.rank; i-- > 0 && steps > 0;) {
    const Axis& axis = walk_.items[i];
    at_[i] += steps;
    for (std::size_t k = 0; k < 2; ++k) offsets_[k] += static_cast<std::int64_t>(steps) * axis.strides[k];
    steps = 0;
    if (at_[i] == axis.size) {
      for (std::size_t k = 0; k < 2; ++k) offsets_[k] -= static_cast<std::int64_t>(axis.size) * axis.strides[k];
      at_[i] = 0;
      steps = 1;
    }
  }
}

BlockReader::BlockReader(const Layout& layout, const Operand& a, const Operand& b, std::uint64_t begin,
                         std::uint64_t end)
    : operands_{a, b}, cursor_(layout, begin), at_(begin), end_(end) {}

bool BlockReader::dense() const {
  const auto& strides = cursor_.inner().strides;
  return strides[0] == 1 && (operands_[1].data == nullptr || strides[1] == 1);
}

const std::byte* BlockReader::address(std::size_t operand) const {
  const Operand& from = operands_[operand];
  return from.data + cursor_.offsets()[operand] * static_cast<std::int64_t>(from.element_bytes);
}

void BlockReader::pack(std::size_t operand, std::size_t count, std::size_t to) {
  const std::size_t bytes = operands_[operand].element_bytes;
  const std::int64_t stride = cursor_.inner().strides[operand];
  std::byte* const target = scratch_[operand].data() + to * bytes;
  if (stride == 1) {
    std::memcpy(target, address(operand), count * bytes);
  } else if (bytes == 2) {
    copy_strided<std::uint16_t>(address(operand), stride, count, target);
  } else if (bytes == 4) {
    copy_strided<std::uint32_t>(address(operand), stride, count, target);
  } else {
    copy_strided<std::uint64_t>(address(operand), stride, count, target);
  }
}

bool BlockReader::next(Block& block) {
  if (at_ == end_) return false;
  block.ordinal = at_;
  const std::size_t operands = operands_[1].data == nullptr ? 1 : 2;
  std::uint64_t run = std::min({cursor_.run(), end_ - at_, std::uint64_t{kBlockElements}});
  if (dense() && (run >= kShortestDirectRun || run == end_ - at_)) {
    for (std::size_t k = 0; k < operands; ++k) block.data[k] = address(k);
    block.count = run;
    at_ += run;
    cursor_.advance(run);
    return true;
  }
  block.count = 0;
  while (run > 0) {
    for (std::size_t k = 0; k < operands; ++k) pack(k, run, block.count);
    block.count += run;
    at_ += run;
    cursor_.advance(run);
    run = std::min({cursor_.run(), end_ - at_, kBlockElements - std::uint64_t{block.count}});
  }
  for (std::size_t k = 0; k < operands; ++k) block.data[k] = scratch_[k].data();
  return true;
}

}  // namespace osler::stats
