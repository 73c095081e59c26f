// The scale of a run's gradients, apart from steps that had none.
#include "diagnosis/evidence/gradient_level.h"

#include <algorithm>
#include <iterator>

namespace osler {

std::vector<double> norms_of_steps(std::span<const double> norms) {
  constexpr double kNone = 1e-7;  // single precision's rounding of a norm of one
  std::vector<double> brought;
  std::copy_if(norms.begin(), norms.end(), std::back_inserter(brought), [](double norm) { return norm > kNone; });
  if (brought.empty()) brought.assign(norms.begin(), norms.end());
  return brought;
}

}  // namespace osler
