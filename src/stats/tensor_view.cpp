// Checks what a caller says of a tensor before anything reads its memory.
#include "osler/stats/tensor_view.h"

#include <string>

namespace osler::stats {

namespace {

Error bad_view(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message), "tensor view"};
}

/// The number of elements, or an error when the sizes make no sense.
Result<std::uint64_t> count_of(std::span<const std::int64_t> sizes) {
  if (sizes.size() > TensorView::kMaxRank) {
    return bad_view(std::to_string(sizes.size()) + " dimensions are more than " + std::to_string(TensorView::kMaxRank));
  }
  bool empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0) return bad_view("size " + std::to_string(size) + " is negative");
    empty = empty || size == 0;
  }
  if (empty) return std::uint64_t{0};
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 62;
  std::uint64_t count = 1;
  for (const std::int64_t size : sizes) {
    if (static_cast<std::uint64_t>(size) > kLargest / count) return bad_view("more than 2^62 elements");
    count *= static_cast<std::uint64_t>(size);
  }
  return count;
}

/// Whether the distance between the outermost elements can be counted without overflow.
bool reachable(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides) {
  constexpr std::uint64_t kFarthest = std::uint64_t{1} << 60;
  std::uint64_t far = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 2) continue;
    const std::uint64_t stride =
        strides[i] < 0 ? 0 - static_cast<std::uint64_t>(strides[i]) : static_cast<std::uint64_t>(strides[i]);
    const std::uint64_t steps = static_cast<std::uint64_t>(sizes[i]);
    if (stride > (kFarthest - far) / steps) return false;
    far += stride * steps;
  }
  return true;
}

}  // namespace

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::f64:
      return "f64";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
  }
  return "unknown";
}

std::size_t element_bytes(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 4;
    case DType::f64:
      return 8;
    case DType::f16:
    case DType::bf16:
      return 2;
  }
  return 1;
}

Result<TensorView> TensorView::strided(const void* data, DType dtype, std::span<const std::int64_t> sizes,
                                       std::span<const std::int64_t> strides, Device device) {
  if (sizes.size() != strides.size()) {
    return bad_view(std::to_string(sizes.size()) + " sizes but " + std::to_string(strides.size()) + " strides");
  }
  const Result<std::uint64_t> count = count_of(sizes);
  if (!count) return count.error();
  if (!reachable(sizes, strides)) return bad_view("strides reach farther than any memory");
  if (*count > 0 && data == nullptr) return bad_view("null pointer to " + std::to_string(*count) + " elements");
  if (reinterpret_cast<std::uintptr_t>(data) % element_bytes(dtype) != 0) {
    return bad_view("pointer is not aligned to elements of type " + std::string(to_string(dtype)));
  }
  TensorView view;
  view.data_ = data;
  view.count_ = *count;
  view.dtype_ = dtype;
  view.device_ = device;
  view.rank_ = sizes.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    view.sizes_[i] = sizes[i];
    view.strides_[i] = strides[i];
  }
  return view;
}

Result<TensorView> TensorView::contiguous(const void* data, DType dtype, std::span<const std::int64_t> sizes,
                                          Device device) {
  const Result<std::uint64_t> count = count_of(sizes);
  if (!count) return count.error();
  std::array<std::int64_t, kMaxRank> strides{};
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    if (*count > 0) stride *= sizes[i];
  }
  return strided(data, dtype, sizes, {strides.data(), sizes.size()}, device);
}

TensorView TensorView::of(std::span<const float> values) {
  const std::int64_t size = static_cast<std::int64_t>(values.size());
  return contiguous(values.data(), DType::f32, {&size, 1}).value_or(TensorView());
}

TensorView TensorView::of(std::span<const double> values) {
  const std::int64_t size = static_cast<std::int64_t>(values.size());
  return contiguous(values.data(), DType::f64, {&size, 1}).value_or(TensorView());
}

}  // namespace osler::stats
