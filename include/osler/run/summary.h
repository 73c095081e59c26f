// Summary: one series in bounded memory, however long it grows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace osler {

/// One exact point of a series.
struct Point {
  std::int64_t step = 0;
  double wall_time = 0;  ///< seconds since the Unix epoch, or kNoTime
  double value = 0;
};

/// A stretch of consecutive points. The moments are over the finite values alone; `count` counts those.
struct Bucket {
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  double first_time = 0;  ///< wall time of the first point that has one, or kNoTime
  double last_time = 0;
  std::uint64_t count = 0;
  double first = 0;  ///< the first finite value
  double last = 0;   ///< the last finite value
  double min = 0;
  double max = 0;
  std::int64_t min_step = 0;  ///< where the minimum was reached first
  std::int64_t max_step = 0;
  double mean = 0;
  double m2 = 0;                          ///< sum of squared deviations from the mean (Welford)
  double squared_differences = 0;         ///< sum over successive finite values of (x[i] - x[i-1])^2, within the bucket
  std::uint64_t nonfinite = 0;            ///< how many values were NaN or infinite
  std::int64_t first_nonfinite_step = 0;  ///< meaningful when nonfinite > 0

  /// All points of the bucket, finite or not.
  [[nodiscard]] std::uint64_t points() const { return count + nonfinite; }
  /// Variance of the finite values, 0 below two of them.
  [[nodiscard]] double variance() const { return count > 1 ? m2 / static_cast<double>(count - 1) : 0.0; }
};

/// A bucket of one point.
[[nodiscard]] Bucket bucket_of(const Point& point);
/// The bucket that covers `left` and, directly after it, `right` (Chan et al. for the moments).
[[nodiscard]] Bucket merge(const Bucket& left, const Bucket& right);

/// The same stretch in at most `at_most` buckets (2 or more): neighbours are merged pairwise until they fit.
void thin(std::vector<Bucket>& buckets, std::size_t at_most);

/// How much a summary may keep.
struct SummaryLimits {
  std::size_t buckets = 2048;  ///< at most this many (3 or more); when full, neighbours are merged
  std::size_t recent = 512;    ///< exact points kept of the end of the series
};

/// A series as at most `limits.buckets` buckets of equal point count plus an exact window of the newest points.
/// Steps must rise: Series sorts out what arrives out of order.
class Summary {
 public:
  /// Appends a point whose step is larger than all before.
  void append(const Point& point, const SummaryLimits& limits);
  /// Replaces the newest point, which must have the same step. After a rewind beyond the recent window that point is
  /// one of many in a bucket and stays.
  void replace_last(const Point& point);
  /// Forgets every point with step >= `step`. Where a bucket straddles the cut it keeps its statistics up to its end,
  /// unless the recent window holds the points exactly.
  void rewind(std::int64_t step);
  /// Shrinks to limits that were lowered since the last point, and gives the memory back.
  void fit(const SummaryLimits& limits);

  [[nodiscard]] bool empty() const { return points_ == 0; }
  [[nodiscard]] std::uint64_t points() const { return points_; }
  /// The series as buckets, oldest first. Made on demand, since the newest point is kept apart.
  [[nodiscard]] std::vector<Bucket> buckets() const;
  /// Everything in one bucket; nothing when the series is empty.
  [[nodiscard]] std::optional<Bucket> total() const;
  /// The newest points, exact, oldest first.
  [[nodiscard]] std::vector<Point> recent() const;
  /// The step of the newest point. The series must not be empty.
  [[nodiscard]] std::int64_t last_step() const { return newest_ ? newest_->step : folded_.back().last_step; }
  /// The wall time of the newest point, or kNoTime. The series must not be empty.
  [[nodiscard]] double last_time() const { return newest_ ? newest_->wall_time : folded_.back().last_time; }

 private:
  void fold_newest(const SummaryLimits& limits);
  void halve();
  void remember(const Point& point, std::size_t limit);
  void rebuild_last_bucket(std::span<const Point> exact);
  [[nodiscard]] std::vector<Point> window() const;

  std::vector<Bucket> folded_;  // the last of them may be partly filled
  std::uint64_t points_per_bucket_ = 1;
  std::uint64_t points_ = 0;
  std::optional<Point> newest_;  // kept out of the buckets so that a duplicate step can replace it
  std::vector<Point> recent_;    // ring of the points that were folded last
  std::size_t recent_start_ = 0;
};

}  // namespace osler
