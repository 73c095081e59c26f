// Tensors of Python frameworks as views: by pointer, type, sizes and strides, without a link to any framework.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "osler/stats/tensor_view.h"

namespace osler::python {

/// Makes views of tensors that look like PyTorch's, and keeps what they show alive. Tensors on another device than is
/// served, and those whose memory has gaps, are copied. With the interpreter's lock held.
class TensorReader {
 public:
  /// Tensors on this GPU are shown where they lie; on all others, and on every one before this is said, as copies in
  /// host memory.
  void serve_gpu(std::optional<int> number) { gpu_ = number; }
  /// The tensor where it is measured; of a sparse one the numbers that it holds. Nothing
  /// for None and types that are not measured.
  std::optional<stats::TensorView> view(pybind11::handle tensor);
  /// How many tensors were copied so far.
  [[nodiscard]] std::uint64_t copies() const { return copies_; }
  /// Lets go of what the views showed.
  void release() { alive_.clear(); }

 private:
  std::vector<pybind11::object> alive_;
  std::uint64_t copies_ = 0;
  std::optional<int> gpu_;
};

}  // namespace osler::python
