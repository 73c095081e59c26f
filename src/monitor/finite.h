// all_finite(): a quick look at a small tensor.
#pragma once

#include "osler/stats/tensor_view.h"

namespace osler::monitor {

/// Whether no element is NaN or infinite; for tensors that lie densely in host memory, in whatever order.
[[nodiscard]] bool all_finite(const stats::TensorView& tensor);

}  // namespace osler::monitor
