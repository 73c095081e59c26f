// A Krylov basis in one matrix; what its products say is probes::Krylov's.
#include "torch/probes/lanczos.h"

#include <algorithm>

namespace osler::torch {
namespace {

/// Fills the basis row by row until the ends are known.
probes::KrylovEnds climb(const std::function<at::Tensor(const at::Tensor&)>& product, const at::Tensor& start,
                         const LanczosOptions& options, const at::Tensor& basis) {
  const at::ScalarType own = start.scalar_type();
  at::Tensor vector = start.to(at::kDouble);
  vector = vector / vector.norm();
  probes::Krylov krylov(static_cast<std::size_t>(start.numel()), options.tolerance);
  for (std::int64_t k = 0; k < basis.size(0); ++k) {
    basis[k].copy_(vector);
    at::Tensor image = product(vector.to(own)).to(at::kDouble);
    const double diagonal = image.dot(vector).item<double>();
    const at::Tensor known = basis.slice(0, 0, k + 1);
    // Twice is enough: the second pass takes away what rounding left of the first (Parlett 1980).
    for (int pass = 0; pass < 2; ++pass) image = image - known.t().mv(known.mv(image));
    const double left = image.norm().item<double>();
    if (!krylov.add(diagonal, left)) break;
    vector = image / left;
  }
  return krylov.ends();
}

}  // namespace

SpectrumEnds spectrum_ends(const std::function<at::Tensor(const at::Tensor&)>& product, const at::Tensor& start,
                           const LanczosOptions& options) {
  const std::int64_t size = start.numel();
  const int kept = probes::most_vectors(static_cast<std::size_t>(size));
  const auto most = std::min<std::int64_t>({options.most_products, kept, size});
  const at::Tensor basis = at::zeros({most, size}, start.options().dtype(at::kDouble));
  SpectrumEnds ends;
  static_cast<probes::KrylovEnds&>(ends) = climb(product, start, options, basis);
  ends.products = static_cast<int>(ends.lowest_coordinates.size());
  if (ends.products > 0) {
    const at::Tensor known = basis.slice(0, 0, ends.products);
    const at::Tensor coordinates = at::tensor(ends.lowest_coordinates, basis.options());
    ends.lowest_direction = known.t().mv(coordinates).to(start.scalar_type());
  }
  return ends;
}

}  // namespace osler::torch
