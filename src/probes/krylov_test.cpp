// Lanczos' method over plain vectors, against matrices whose eigenvalues are known.
#include "probes/krylov.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace osler::probes {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Lanczos' method on a diagonal matrix: a front end as short as it gets.
KrylovEnds ends_of(const Vector& eigenvalues, std::size_t most = 60, double tolerance = 0.01) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  Vector vector(eigenvalues.size());
  for (double& each : vector) each = normal(random);
  double length = std::sqrt(dot(vector, vector));
  std::vector<Vector> basis;
  Krylov krylov(eigenvalues.size(), tolerance);
  while (basis.size() < most) {
    for (double& each : vector) each /= length;
    basis.push_back(vector);
    Vector image(vector.size());
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = eigenvalues[i] * vector[i];
    const double diagonal = dot(image, vector);
    for (int pass = 0; pass < 2; ++pass) {
      for (const Vector& known : basis) {
        const double share = dot(image, known);
        for (std::size_t i = 0; i < image.size(); ++i) image[i] -= share * known[i];
      }
    }
    length = std::sqrt(dot(image, image));
    if (!krylov.add(diagonal, length)) break;
    vector = image;
  }
  return krylov.ends();
}

TEST(Krylov, FindsBothEndsOfASpectrum) {
  Vector values;
  for (int i = 0; i < 200; ++i) values.push_back(-0.5 + 1.5 * i / 199);
  values.front() = -3;
  values.back() = 40;
  const KrylovEnds ends = ends_of(values);
  EXPECT_TRUE(ends.converged);
  EXPECT_NEAR(ends.highest, 40, 0.01);
  EXPECT_NEAR(ends.lowest, -3, 0.03);
  EXPECT_LT(ends.lowest_coordinates.size(), 40U);
  double length = 0;
  for (const double each : ends.lowest_coordinates) length += each * each;
  EXPECT_NEAR(length, 1, 1e-12);
}

TEST(Krylov, IsExactWhereTheSpaceIsSmall) {
  const KrylovEnds ends = ends_of({-1, 0.5, 2});
  EXPECT_TRUE(ends.converged);
  EXPECT_NEAR(ends.highest, 2, 1e-9);
  EXPECT_NEAR(ends.lowest, -1, 1e-9);
  EXPECT_EQ(ends.highest_error, 0);
}

TEST(Krylov, TellsWhatItDoesNotKnowYet) {
  Vector values;
  for (int i = 0; i < 400; ++i) values.push_back(-1 + 2.0 * i / 399);
  const KrylovEnds ends = ends_of(values, 4, 1e-6);
  EXPECT_FALSE(ends.converged);
  EXPECT_GT(ends.highest_error, 1e-3);
  EXPECT_EQ(ends.lowest_coordinates.size(), 4U);
}

TEST(Krylov, FindsZeroInNothing) {
  const KrylovEnds ends = ends_of(Vector(10, 0));
  EXPECT_TRUE(ends.converged);
  EXPECT_EQ(ends.highest, 0);
  EXPECT_EQ(ends.lowest, 0);
}

TEST(Krylov, GivesUpOnWhatIsNotFinite) {
  Krylov krylov(5, 0.01);
  EXPECT_FALSE(krylov.add(NAN, 1));
  EXPECT_FALSE(krylov.ends().converged);
}

}  // namespace
}  // namespace osler::probes
