// A Krylov basis in one matrix, and the small tridiagonal problem whose ends approach those of the large one.
#include "torch/probes/lanczos.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace osler::torch {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;  // for the vectors that are kept
constexpr double kNothingLeft = 1e-10;  // of the size of the matrix: the space is exhausted, the ends are exact
// An end this much smaller than the other is zero for every purpose, and would never converge to a share of itself.
constexpr double kNextToNothing = 1e-3;

/// `lowest_direction` is given in the coordinates of the basis.
SpectrumEnds ends_of(const std::vector<double>& diagonal, const std::vector<double>& beside, double next) {
  const auto n = static_cast<std::int64_t>(diagonal.size());
  const at::Tensor small = at::zeros({n, n}, at::kDouble);
  auto cells = small.accessor<double, 2>();
  for (std::int64_t i = 0; i < n; ++i) {
    cells[i][i] = diagonal[static_cast<std::size_t>(i)];
    if (i + 1 < n) cells[i][i + 1] = cells[i + 1][i] = beside[static_cast<std::size_t>(i)];
  }
  const auto [values, vectors] = at::linalg_eigh(small);
  const auto value = values.accessor<double, 1>();
  const auto vector = vectors.accessor<double, 2>();
  SpectrumEnds ends;
  ends.lowest = value[0];
  ends.highest = value[n - 1];
  ends.lowest_error = std::abs(next * vector[n - 1][0]);
  ends.highest_error = std::abs(next * vector[n - 1][n - 1]);
  ends.lowest_direction = vectors.select(1, 0);
  return ends;
}

bool good_enough(const SpectrumEnds& ends, double tolerance) {
  const double size = std::max(std::abs(ends.lowest), std::abs(ends.highest));
  const auto good = [&](double value, double error) {
    return error <= tolerance * std::max(std::abs(value), kNextToNothing * size);
  };
  return good(ends.lowest, ends.lowest_error) && good(ends.highest, ends.highest_error);
}

/// Fills the basis row by row until the ends are known.
SpectrumEnds climb(const std::function<at::Tensor(const at::Tensor&)>& product, const at::Tensor& start,
                   const LanczosOptions& options, const at::Tensor& basis) {
  const at::ScalarType own = start.scalar_type();
  const std::int64_t size = start.numel();
  const auto most = static_cast<int>(basis.size(0));
  at::Tensor vector = start.to(at::kDouble);
  vector = vector / vector.norm();
  std::vector<double> diagonal;
  std::vector<double> beside;
  SpectrumEnds ends;
  for (int k = 0; k < most; ++k) {
    basis[k].copy_(vector);
    at::Tensor image = product(vector.to(own)).to(at::kDouble);
    diagonal.push_back(image.dot(vector).item<double>());
    const at::Tensor known = basis.slice(0, 0, k + 1);
    // Twice is enough: the second pass takes away what rounding left of the first (Parlett 1980).
    for (int pass = 0; pass < 2; ++pass) image = image - known.t().mv(known.mv(image));
    const double next = image.norm().item<double>();
    if (!std::isfinite(next)) {
      ends.converged = false;
      return ends;
    }
    ends = ends_of(diagonal, beside, next);
    ends.products = k + 1;
    const double matrix = std::max(std::abs(ends.lowest), std::abs(ends.highest));
    if (next <= kNothingLeft * matrix || matrix == 0 || k + 1 == size) {
      ends.lowest_error = ends.highest_error = 0;
      ends.converged = true;
      return ends;
    }
    ends.converged = k >= 2 && good_enough(ends, options.tolerance);
    if (ends.converged) return ends;
    beside.push_back(next);
    vector = image / next;
  }
  return ends;
}

}  // namespace

int most_vectors(std::int64_t size) {
  return static_cast<int>(std::clamp<std::int64_t>(kMostBytes / (8 * std::max<std::int64_t>(size, 1)), 3, 1000));
}

SpectrumEnds spectrum_ends(const std::function<at::Tensor(const at::Tensor&)>& product, const at::Tensor& start,
                           const LanczosOptions& options) {
  const std::int64_t size = start.numel();
  const int most = static_cast<int>(std::min<std::int64_t>({options.most_products, most_vectors(size), size}));
  const at::Tensor basis = at::zeros({most, size}, start.options().dtype(at::kDouble));
  SpectrumEnds ends = climb(product, start, options, basis);
  if (ends.lowest_direction.defined()) {
    const at::Tensor known = basis.slice(0, 0, ends.lowest_direction.size(0));
    ends.lowest_direction = known.t().mv(ends.lowest_direction.to(basis.device())).to(start.scalar_type());
  }
  return ends;
}

}  // namespace osler::torch
