// Points out of summaries.
#include "history/kept_points.h"

#include <limits>
#include <map>

namespace osler {
namespace {

/// The points that a bucket knows, in rising order of steps.
std::vector<Point> known_points(const Bucket& bucket) {
  std::map<std::int64_t, Point> points;
  const auto put = [&](std::int64_t step, double time, double value) { points[step] = {step, time, value}; };
  if (bucket.count > 0) {
    put(bucket.first_step, bucket.first_time, bucket.first);
    put(bucket.last_step, bucket.last_time, bucket.last);
    put(bucket.min_step, kNoTime, bucket.min);
    put(bucket.max_step, kNoTime, bucket.max);
  }
  if (bucket.nonfinite > 0) put(bucket.first_nonfinite_step, kNoTime, std::numeric_limits<double>::quiet_NaN());
  std::vector<Point> found;
  for (const auto& [step, point] : points) found.push_back(point);
  return found;
}

void tell_series(const Series& series, EventSink& sink) {
  const SeriesId id = sink.series(series.name());
  const auto tell = [&](const Point& point) { sink.add(Event{id, point.step, point.wall_time, point.value}); };
  const std::vector<Point> recent = series.summary().recent();
  const std::int64_t exact_from = recent.empty() ? std::numeric_limits<std::int64_t>::max() : recent.front().step;
  for (const Bucket& bucket : series.summary().buckets()) {
    for (const Point& point : known_points(bucket)) {
      if (point.step < exact_from) tell(point);
    }
  }
  for (const Point& point : recent) tell(point);
}

}  // namespace

void tell_kept_points(const Run& run, EventSink& sink) {
  for (const auto& [key, value] : run.configuration()) sink.config(key, value);
  for (const Mark& mark : run.marks()) {
    // What a restart took back is gone already; its mark must not take back more.
    sink.add(mark.kind == Mark::Kind::restart ? Mark{Mark::Kind::note, mark.step, mark.wall_time, mark.text} : mark);
  }
  for (const Series& series : run.all_series()) tell_series(series, sink);
  for (const auto& [series, histograms] : run.histograms()) {
    for (Histogram histogram : histograms) {
      histogram.series = sink.series(run.all_series()[series].name());
      sink.distribution(histogram);
    }
  }
}

}  // namespace osler
