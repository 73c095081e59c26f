// Krylov: the small problem of Lanczos' method, whose eigenvalues approach the extreme ones of the large matrix.
#pragma once

#include <cstddef>
#include <vector>

namespace osler::probes {

/// The ends of a spectrum. Each true end lies beyond the value given, or an eigenvalue lies within the error of it.
struct KrylovEnds {
  double lowest = 0;
  double lowest_error = 0;
  double highest = 0;
  double highest_error = 0;
  bool converged = false;                       ///< both errors are below the tolerance
  std::vector<double> lowest_coordinates = {};  ///< of the lowest eigenvector in the basis of Lanczos' vectors
};

/// Is told what each product with the large matrix gave, and says when the ends are known.
class Krylov {
 public:
  /// `size` is that of the large matrix; `tolerance` that of each end, as a share of its size.
  Krylov(std::size_t size, double tolerance) : size_(size), tolerance_(tolerance) {}

  /// The newest basis vector times its image, and the length of what is left of the image beside all basis vectors.
  /// False: enough, or nothing is left to look at.
  bool add(double diagonal, double left);

  [[nodiscard]] const KrylovEnds& ends() const { return ends_; }

 private:
  std::size_t size_;
  double tolerance_;
  std::vector<double> diagonal_;
  std::vector<double> beside_;
  KrylovEnds ends_;
};

/// The largest number of vectors of `size` numbers that may be kept at once.
[[nodiscard]] int most_vectors(std::size_t size);

}  // namespace osler::probes
