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
  const double difference = right.mean - left.mean;
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
  merged.mean = left.mean + difference * (right_count / total);
  merged.m2 = left.m2 + right.m2 + difference * difference * (left_count * right_count / total);
  const double seam = right.first - left.last;
  merged.squared_differences = left.squared_differences + right.squared_differences + seam * seam;
  return merged;
}

void Summary::append(const Point& point, const SummaryLimits& limits) {
  if (newest_) fold_newest(limits);
  newest_ = point;
  ++points_;
}

void Summary::fold_newest(const SummaryLimits& limits) {
  // Halving is a loop because the limit may have shrunk since the last point.
  while (folded_.size() >= std::max<std::size_t>(limits.buckets, 2)) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < folded_.size(); i += 2, ++kept) {
      folded_[kept] = i + 1 < folded_.size() ? merge(folded_[i], folded_[i + 1]) : folded_[i];
    }
    folded_.resize(kept);
    points_per_bucket_ *= 2;
  }
  const Bucket single = bucket_of(*newest_);
  if (!folded_.empty() && folded_.back().points() < points_per_bucket_) {
    folded_.back() = merge(folded_.back(), single);
  } else {
    folded_.push_back(single);
  }
  remember(*newest_, limits.recent);
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
  if (newest_ && newest_->step >= step) newest_.reset();

  std::vector<Point> exact = window();
  while (!folded_.empty() && folded_.back().first_step >= step) folded_.pop_back();
  if (!folded_.empty() && folded_.back().last_step >= step) {
    Bucket& cut = folded_.back();
    if (!exact.empty() && exact.front().step <= cut.first_step) {
      // The window still holds every point of the bucket: rebuild it without those that go.
      std::optional<Bucket> rebuilt;
      for (const Point& point : exact) {
        if (point.step < cut.first_step || point.step >= step) continue;
        rebuilt = rebuilt ? merge(*rebuilt, bucket_of(point)) : bucket_of(point);
      }
      cut = *rebuilt;  // the bucket's first point lies before the cut
    } else {
      cut.last_step = step - 1;
      for (std::int64_t* inside : {&cut.min_step, &cut.max_step, &cut.first_nonfinite_step}) {
        *inside = std::min(*inside, cut.last_step);
      }
    }
  }
  while (!exact.empty() && exact.back().step >= step) exact.pop_back();
  recent_ = std::move(exact);
  recent_start_ = 0;

  points_ = newest_ ? 1 : 0;
  for (const Bucket& bucket : folded_) points_ += bucket.points();
  if (points_ == 0) points_per_bucket_ = 1;
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
