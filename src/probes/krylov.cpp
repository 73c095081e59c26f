// Eigenvalues of a small tridiagonal matrix, by Jacobi's rotations.
#include "probes/krylov.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace osler::probes {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // for the vectors that are kept
constexpr double kNothingLeft = 1e-10;  // of the size of the matrix: the space is exhausted, the ends are exact
// An end this much smaller than the other is zero for every purpose, and would never converge to a share of itself.
constexpr double kNextToNothing = 1e-3;
constexpr int kFewest = 3;  // products before anything is believed

/// A symmetric matrix that rotations make diagonal, and the rotations together.
class Jacobi {
 public:
  Jacobi(const std::vector<double>& diagonal, const std::vector<double>& beside)
      : n_(diagonal.size()), cells_(n_ * n_, 0.0), vectors_(n_ * n_, 0.0) {
    for (std::size_t i = 0; i < n_; ++i) {
      cell(i, i) = diagonal[i];
      if (i + 1 < n_) cell(i, i + 1) = cell(i + 1, i) = beside[i];
      vectors_[i * n_ + i] = 1;
    }
    constexpr int kMostSweeps = 50;  // a dozen are usual
    for (int sweep = 0; sweep < kMostSweeps && off_diagonal() > 0; ++sweep) {
      for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t k = i + 1; k < n_; ++k) rotate(i, k);
      }
    }
  }

  [[nodiscard]] double value(std::size_t i) const { return cells_[i * n_ + i]; }
  [[nodiscard]] double component(std::size_t row, std::size_t i) const { return vectors_[row * n_ + i]; }

 private:
  double& cell(std::size_t i, std::size_t k) { return cells_[i * n_ + k]; }

  /// What is left beside the diagonal, zero when rounding is larger.
  [[nodiscard]] double off_diagonal() const {
    constexpr double kRounding = 1e-30;  // squared
    double off = 0;
    double on = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < n_; ++k) {
        (i == k ? on : off) += cells_[i * n_ + k] * cells_[i * n_ + k];
      }
    }
    return off <= kRounding * on ? 0 : off;
  }

  void rotate(std::size_t p, std::size_t q) {
    const double between = cell(p, q);
    if (between == 0) return;
    const double slope = (cell(q, q) - cell(p, p)) / (2 * between);
    const double tangent = (slope >= 0 ? 1 : -1) / (std::abs(slope) + std::hypot(slope, 1.0));
    const double cosine = 1 / std::hypot(tangent, 1.0);
    const double sine = tangent * cosine;
    const auto turn = [&](double& first, double& second) {
      const double old = first;
      first = cosine * old - sine * second;
      second = sine * old + cosine * second;
    };
    for (std::size_t i = 0; i < n_; ++i) turn(cell(i, p), cell(i, q));
    for (std::size_t i = 0; i < n_; ++i) turn(cell(p, i), cell(q, i));
    for (std::size_t i = 0; i < n_; ++i) turn(vectors_[i * n_ + p], vectors_[i * n_ + q]);
  }

  std::size_t n_;
  std::vector<double> cells_;
  std::vector<double> vectors_;
};

KrylovEnds ends_of(const std::vector<double>& diagonal, const std::vector<double>& beside, double left) {
  const std::size_t n = diagonal.size();
  const Jacobi solved(diagonal, beside);
  std::size_t low = 0;
  std::size_t high = 0;
  for (std::size_t i = 1; i < n; ++i) {
    if (solved.value(i) < solved.value(low)) low = i;
    if (solved.value(i) > solved.value(high)) high = i;
  }
  KrylovEnds ends;
  ends.lowest = solved.value(low);
  ends.highest = solved.value(high);
  ends.lowest_error = std::abs(left * solved.component(n - 1, low));
  ends.highest_error = std::abs(left * solved.component(n - 1, high));
  for (std::size_t row = 0; row < n; ++row) ends.lowest_coordinates.push_back(solved.component(row, low));
  return ends;
}

bool good_enough(const KrylovEnds& ends, double tolerance) {
  const double size = std::max(std::abs(ends.lowest), std::abs(ends.highest));
  const auto good = [&](double value, double error) {
    return error <= tolerance * std::max(std::abs(value), kNextToNothing * size);
  };
  return good(ends.lowest, ends.lowest_error) && good(ends.highest, ends.highest_error);
}

}  // namespace

bool Krylov::add(double diagonal, double left) {
  if (!std::isfinite(diagonal) || !std::isfinite(left)) {
    ends_.converged = false;
    return false;
  }
  diagonal_.push_back(diagonal);
  ends_ = ends_of(diagonal_, beside_, left);
  beside_.push_back(left);
  const double matrix = std::max(std::abs(ends_.lowest), std::abs(ends_.highest));
  if (left <= kNothingLeft * matrix || matrix == 0 || diagonal_.size() == size_) {
    ends_.lowest_error = ends_.highest_error = 0;
    ends_.converged = true;
    return false;
  }
  ends_.converged = diagonal_.size() >= kFewest && good_enough(ends_, tolerance_);
  return !ends_.converged;
}

int most_vectors(std::size_t size) {
  return static_cast<int>(
      std::clamp<std::size_t>(kMostBytes / (sizeof(double) * std::max<std::size_t>(size, 1)), 3, 1000));
}

}  // namespace osler::probes
