// Lanczos against matrices whose eigenvalues are known.
#include "torch/probes/lanczos.h"

#include <gtest/gtest.h>

namespace osler::torch {
namespace {

at::Tensor symmetric(const at::Tensor& eigenvalues) {
  const at::Tensor random = at::randn({eigenvalues.size(0), eigenvalues.size(0)}, at::kDouble);
  const at::Tensor basis = std::get<0>(at::linalg_qr(random));
  return basis.mm(at::diag(eigenvalues)).mm(basis.t());
}

SpectrumEnds ends_of(const at::Tensor& matrix, const LanczosOptions& options = {}) {
  return spectrum_ends([&](const at::Tensor& v) { return matrix.mv(v); }, at::randn({matrix.size(0)}, at::kDouble),
                       options);
}

TEST(Lanczos, FindsBothEndsOfASpectrum) {
  at::manual_seed(1);
  const at::Tensor values = at::linspace(-0.5, 1, 200, at::kDouble);
  values[0] = -3;
  values[199] = 40;
  const SpectrumEnds ends = ends_of(symmetric(values));
  EXPECT_TRUE(ends.converged);
  EXPECT_NEAR(ends.highest, 40, 0.01);
  EXPECT_NEAR(ends.lowest, -3, 0.03);
  EXPECT_LT(ends.products, 40);
}

TEST(Lanczos, IsExactWhereTheSpaceIsSmall) {
  at::manual_seed(2);
  const SpectrumEnds ends = ends_of(symmetric(at::tensor({-1.0, 0.5, 2.0}, at::kDouble)));
  EXPECT_TRUE(ends.converged);
  EXPECT_NEAR(ends.highest, 2, 1e-9);
  EXPECT_NEAR(ends.lowest, -1, 1e-9);
  EXPECT_EQ(ends.highest_error, 0);
}

TEST(Lanczos, TellsWhatItDoesNotKnowYet) {
  at::manual_seed(3);
  const SpectrumEnds ends = ends_of(symmetric(at::linspace(-1, 1, 400, at::kDouble)), {4, 1e-6});
  EXPECT_FALSE(ends.converged);
  EXPECT_GT(ends.highest_error, 1e-3);
  EXPECT_EQ(ends.products, 4);
}

TEST(Lanczos, FindsZeroInNothing) {
  const SpectrumEnds ends = ends_of(at::zeros({10, 10}, at::kDouble));
  EXPECT_TRUE(ends.converged);
  EXPECT_EQ(ends.highest, 0);
  EXPECT_EQ(ends.lowest, 0);
}

}  // namespace
}  // namespace osler::torch
