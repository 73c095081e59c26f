// TensorSource: where a framework shows the parameters of its model.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "osler/stats/tensor_view.h"

namespace osler::monitor {

/// The parameters of one model by number. A view stays valid until the source is destroyed; tensors whose memory has
/// gaps come as dense copies.
class TensorSource {
 public:
  virtual ~TensorSource() = default;

  /// The gradient of a parameter; nothing when it has none or its type is not measured.
  virtual std::optional<stats::TensorView> gradient(std::size_t number) = 0;
  /// Whether a parameter has a gradient at all, measured or not.
  virtual bool has_gradient(std::size_t number) = 0;
  /// The value of a parameter; nothing when its type is not measured.
  virtual std::optional<stats::TensorView> weight(std::size_t number) = 0;
  /// Runs work that needs nothing of the framework, without the framework's lock where it has one.
  virtual void unlocked(const std::function<void()>& work) { work(); }
};

}  // namespace osler::monitor
