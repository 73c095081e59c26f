// A window of a series of a log: from its summary, in few columns, with no spike lost.
#include "dashboard/window.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace osler::dashboard {
namespace {

WindowSpan span_of(const Bucket& bucket) {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const bool finite = bucket.count > 0;
  return {.first_step = bucket.first_step,
          .last_step = bucket.last_step,
          .first_time = bucket.first_time,
          .min = finite ? bucket.min : nothing,
          .max = finite ? bucket.max : nothing,
          .mean = finite ? bucket.mean : nothing,
          .points = bucket.points(),
          .nonfinite = bucket.nonfinite};
}

std::vector<Bucket> buckets_in(const Summary& summary, const WindowRequest& request) {
  std::vector<Bucket> chosen;
  const std::vector<Point> recent = summary.recent();
  if (!recent.empty() && recent.front().step <= request.first_step) {
    for (const Point& point : recent) {
      if (point.step >= request.first_step && point.step <= request.last_step) chosen.push_back(bucket_of(point));
    }
    return chosen;
  }
  for (const Bucket& bucket : summary.buckets()) {
    if (bucket.last_step >= request.first_step && bucket.first_step <= request.last_step) chosen.push_back(bucket);
  }
  return chosen;
}

}  // namespace

std::vector<WindowSpan> window_of(const Summary& summary, const WindowRequest& request) {
  std::vector<Bucket> chosen = buckets_in(summary, request);
  thin(chosen, std::max<std::size_t>(request.most_spans, 2));
  std::vector<WindowSpan> spans;
  spans.reserve(chosen.size());
  for (const Bucket& bucket : chosen) spans.push_back(span_of(bucket));
  return spans;
}

}  // namespace osler::dashboard
