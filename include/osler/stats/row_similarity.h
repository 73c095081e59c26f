// RowSimilarity: whether the samples of a batch still differ from each other inside the network.
#pragma once

#include <cstdint>
#include <limits>

namespace osler::stats {

/// How alike the rows of a matrix are. A row is one index of the first dimension with all the rest flattened. Rows with
/// a non-finite element are left out.
struct RowSimilarity {
  std::uint64_t rows = 0;
  std::uint64_t features = 0;
  std::uint64_t nonfinite_rows = 0;
  std::uint64_t zero_rows = 0;  ///< all elements zero: no direction, left out of the cosine
  /// The mean cosine over all pairs of different rows, within 1e-12; NaN with fewer than two directions. 1 is collapse.
  double mean_cosine = std::numeric_limits<double>::quiet_NaN();
  /// The sum of squared distances from the mean row over the sum of squared norms, in 0..1, within 1e-12; NaN when all
  /// rows are zero. 0 is collapse.
  double spread = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace osler::stats
