// PairStats: what two tensors of one shape say together: products, differences, lost updates.
#pragma once

#include <cstdint>
#include <span>

namespace osler::stats {

/// Sums over the element pairs (a, b) in which both are finite. Each sum of squares is within 1e-12 relative of exact
/// arithmetic, the dot product within 1e-12 |a| |b|.
struct PairStats {
  std::uint64_t count = 0;     ///< all pairs
  std::uint64_t excluded = 0;  ///< of them with a NaN or infinity on either side
  double dot = 0;
  double a_squared = 0;           ///< squared L2 norm of a
  double b_squared = 0;           ///< squared L2 norm of b
  double difference_squared = 0;  ///< squared L2 norm of b - a
  std::uint64_t b_nonzero = 0;    ///< pairs with b != 0
  /// Of those, how many b are too small to change a in a's storage type: |b| is less than half the distance between
  /// neighbouring numbers of that type in the octave of a.
  std::uint64_t below_resolution = 0;

  [[nodiscard]] double a_norm() const;
  [[nodiscard]] double b_norm() const;
  /// The L2 norm of b - a.
  [[nodiscard]] double difference_norm() const;
  /// The cosine of the angle between a and b, 0 when either is zero.
  [[nodiscard]] double cosine() const;
  /// |b - a| / |a|: the update-to-weight ratio when a is the weight before the step and b after it; 0 when a is zero.
  [[nodiscard]] double relative_change() const;
  /// |b| / |a|: the update-to-weight ratio when b is the update itself; 0 when a is zero.
  [[nodiscard]] double relative_size() const;
  /// The share of non-zero updates b that are lost to the resolution of a's type, 0 when there is no update.
  [[nodiscard]] double lost_share() const;

  /// Adds the pairs of another tensor, as for the cosine over all layers.
  void merge(const PairStats& other);

  friend bool operator==(const PairStats&, const PairStats&) = default;
};

/// The two parts of a mini-batch gradient: the squared norm of the true gradient and the variance of one sample's
/// gradient, summed over the parameters.
struct GradientNoise {
  double signal = 0;
  double noise = 0;

  /// The batch size at which noise and signal are equal ("simple noise scale", McCandlish et al. 2018); infinity when
  /// no signal was found.
  [[nodiscard]] double scale() const;
};

/// Separates signal and noise by the gradients of consecutive steps with `batch_size` samples each: independent
/// mini-batches share only the signal, so E[a.b] is the signal and E[|a|^2] the signal plus noise / batch_size.
[[nodiscard]] GradientNoise gradient_noise(std::span<const PairStats> consecutive, double batch_size);

/// Separates them by the expected squared norms of gradients taken over two batch sizes, small < big (data-parallel
/// ranks against their average).
[[nodiscard]] GradientNoise gradient_noise(double small_squared, double small_batch, double big_squared,
                                           double big_batch);

}  // namespace osler::stats
