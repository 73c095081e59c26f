// Buckets, their merging, and the exact window of newest points.
#include "osler/run/summary.h"

#include <algorithm>
#include <cmath>

#include "osler/run/event.h"

namespace osler {

Bucket bucket_of(const Point& point) {
  Bucket bucket;
  bucket.first_step = bucket.last_step = bucket.min_step = bucket.max_step = point.step;
  bucket.first_time = bucket.last_time = point.wall_time;
  if (std::isfinite(point.value)) {
    bucket.count = 1;
    bucket.first = bucket.last = bucket.min = bucket.max = bucket.mean = point.value;
  } else {
    bucket.nonfinite = 1;
    bucket.first_nonfinite_step = point.step;
  }
  return bucket;
}

Bucket merge(const Bucket& left, const Bucket& right) {
  Bucket merged = left.count > 0 ? left : right;
  merged.first_step = left.first_step;
  merged.last_step = right.last_step;
  merged.first_time = std::isnan(left.first_time) ? right.first_time : left.first_time;
  merged.last_time = std::isnan(right.last_time) ? left.last_time : right.last_time;
  merged.nonfinite = left.nonfinite + right.nonfinite;
  merged.first_nonfinite_step = left.nonfinite > 0 ? left.first_nonfinite_step : right.first_nonfinite_step;
  if (left.count == 0 || right.count == 0) return merged;

  const auto left_count = static_cast<double>(left.count);
  const auto right_count = static_cast<double>(right.count);
  const double total = left_count + right_count;
  const double difference = right.mean - left.mean;  // may overflow, and m2 with it; the mean must not
  merged.count = left.count + right.count;
  merged.last = right.last;
  if (right.min < left.min) {
    merged.min = right.min;
    merged.min_step = right.min_step;
  }
  if (right.max > left.max) {
    merged.max = right.max;
    merged.max_step = right.max_step;
  }
  merged.mean = std::lerp(left.mean, right.mean, right_count / total);
  merged.m2 = left.m2 + right.m2 + difference * difference * (left_count * right_count / total);
  const double seam = right.first - left.last;
  merged.squared_differences = left.squared_differences + right.squared_differences + seam * seam;
  return merged;
}

namespace {

/// The limit in force: below three buckets there is nothing to halve.
std::size_t most_buckets(const SummaryLimits& limits) {
  return std::max<std::size_t>(limits.buckets, 3);
}

/// What merge(bucket, bucket_of(point)) gives, in place: every point of every log passes here.
void extend(Bucket& bucket, const Point& point) {
  if (bucket.count == 0 || !std::isfinite(point.value)) {
    bucket = merge(bucket, bucket_of(point));
    return;
  }
  bucket.last_step = point.step;
  if (!std::isnan(point.wall_time)) {
    bucket.last_time = point.wall_time;
    if (std::isnan(bucket.first_time)) bucket.first_time = point.wall_time;
  }
  if (point.value < bucket.min) {
    bucket.min = point.value;
    bucket.min_step = point.step;
  }
  if (point.value > bucket.max) {
    bucket.max = point.value;
    bucket.max_step = point.step;
  }
  const double share = 1.0 / static_cast<double>(bucket.count + 1);
  const double difference = point.value - bucket.mean;
  bucket.mean = std::lerp(bucket.mean, point.value, share);
  bucket.m2 += difference * difference * (static_cast<double>(bucket.count) * share);
  const double seam = point.value - bucket.last;
  bucket.squared_differences += seam * seam;
  bucket.last = point.value;
  ++bucket.count;
}

/// Ends a bucket at `last_step`, inside it, when its points are gone: what is known to lie beyond goes, the rest stays.
void cut_short(Bucket& bucket, std::int64_t last_step) {
  bucket.last_step = last_step;
  bucket.min_step = std::min(bucket.min_step, last_step);
  bucket.max_step = std::min(bucket.max_step, last_step);
  if (bucket.nonfinite > 0 && bucket.first_nonfinite_step > last_step) {
    // A run that is resumed from before its first NaN is a run without NaN.
    bucket.nonfinite = 0;
    bucket.first_nonfinite_step = 0;
  }
}

void merge_pairs(std::vector<Bucket>& buckets) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < buckets.size(); i += 2, ++kept) {
    buckets[kept] = i + 1 < buckets.size() ? merge(buckets[i], buckets[i + 1]) : buckets[i];
  }
  buckets.resize(kept);
}

}  // namespace

void thin(std::vector<Bucket>& buckets, std::size_t at_most) {
  while (buckets.size() > std::max<std::size_t>(at_most, 2)) merge_pairs(buckets);
}

void Summary::append(const Point& point, const SummaryLimits& limits) {
  if (newest_) fold_newest(limits);
  newest_ = point;
  ++points_;
}

void Summary::fold_newest(const SummaryLimits& limits) {
  // A loop because the limit may have shrunk since the last point; one bucket is left for the newest point.
  while (folded_.size() + 1 >= most_buckets(limits)) halve();
  if (!folded_.empty() && folded_.back().points() < points_per_bucket_) {
    extend(folded_.back(), *newest_);
  } else {
    folded_.push_back(bucket_of(*newest_));
  }
  remember(*newest_, limits.recent);
}

void Summary::halve() {
  merge_pairs(folded_);
  points_per_bucket_ *= 2;
}

void Summary::fit(const SummaryLimits& limits) {
  while (folded_.size() + 1 >= most_buckets(limits)) halve();
  folded_.shrink_to_fit();
  std::vector<Point> points = window();
  const std::size_t kept = std::min(points.size(), limits.recent);
  recent_.assign(points.end() - static_cast<std::ptrdiff_t>(kept), points.end());
  recent_.shrink_to_fit();
  recent_start_ = 0;
}

void Summary::replace_last(const Point& point) {
  if (newest_) newest_ = point;
}

void Summary::remember(const Point& point, std::size_t limit) {
  if (recent_.size() > limit || (recent_.size() < limit && recent_start_ != 0)) {
    // The limit changed: straighten the ring, so that it can shrink or grow.
    recent_ = window();
    recent_start_ = 0;
    if (recent_.size() > limit) recent_.erase(recent_.begin(), recent_.end() - static_cast<std::ptrdiff_t>(limit));
  }
  if (limit == 0) return;
  if (recent_.size() < limit) {
    recent_.push_back(point);
  } else {
    recent_[recent_start_] = point;
    recent_start_ = recent_start_ + 1 == recent_.size() ? 0 : recent_start_ + 1;
  }
}

void Summary::rewind(std::int64_t step) {
  if (points_ == 0 || last_step() < step) return;
  std::vector<Point> exact = recent();
  while (!exact.empty() && exact.back().step >= step) exact.pop_back();
  while (!folded_.empty() && folded_.back().first_step >= step) folded_.pop_back();
  newest_.reset();
  if (!folded_.empty()) {
    if (!exact.empty() && exact.front().step <= folded_.back().first_step) {
      // The window still holds every point of the last bucket: rebuild it, with the newest point apart again.
      newest_ = exact.back();
      exact.pop_back();
      rebuild_last_bucket(exact);
    } else if (folded_.back().last_step >= step) {
      cut_short(folded_.back(), step - 1);
    }
  }
  recent_ = std::move(exact);
  recent_start_ = 0;

  points_ = newest_ ? 1 : 0;
  for (const Bucket& bucket : folded_) points_ += bucket.points();
  if (points_ == 0) points_per_bucket_ = 1;
}

void Summary::rebuild_last_bucket(std::span<const Point> exact) {
  const std::int64_t first_step = folded_.back().first_step;
  folded_.pop_back();
  const auto start = std::lower_bound(exact.begin(), exact.end(), first_step,
                                      [](const Point& point, std::int64_t wanted) { return point.step < wanted; });
  std::optional<Bucket> rebuilt;
  for (auto point = start; point != exact.end(); ++point) {
    rebuilt = rebuilt ? merge(*rebuilt, bucket_of(*point)) : bucket_of(*point);
  }
  if (rebuilt) folded_.push_back(*rebuilt);
}

std::vector<Bucket> Summary::buckets() const {
  std::vector<Bucket> all = folded_;
  if (!newest_) return all;
  const Bucket single = bucket_of(*newest_);
  if (!all.empty() && all.back().points() < points_per_bucket_) {
    all.back() = merge(all.back(), single);
  } else {
    all.push_back(single);
  }
  return all;
}

std::optional<Bucket> Summary::total() const {
  std::optional<Bucket> sum;
  for (const Bucket& bucket : folded_) sum = sum ? merge(*sum, bucket) : bucket;
  if (!newest_) return sum;
  const Bucket single = bucket_of(*newest_);
  return sum ? merge(*sum, single) : single;
}

std::vector<Point> Summary::recent() const {
  std::vector<Point> points = window();
  if (newest_) points.push_back(*newest_);
  return points;
}

std::vector<Point> Summary::window() const {
  std::vector<Point> ordered;
  ordered.reserve(recent_.size() + 1);
  for (std::size_t i = 0; i < recent_.size(); ++i) ordered.push_back(recent_[(recent_start_ + i) % recent_.size()]);
  return ordered;
}

}  // namespace osler
