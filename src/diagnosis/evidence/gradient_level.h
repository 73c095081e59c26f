// The scale of a run's gradients, apart from steps that had none.
#pragma once

#include <span>
#include <vector>

namespace osler {

/// The norms of the steps that brought a gradient: a batch that is masked, or whose answers all earned the same, has a
/// norm of zero or of rounding errors. All of them where no step brought one.
[[nodiscard]] std::vector<double> norms_of_steps(std::span<const double> norms);

}  // namespace osler
