// Making curves from summaries.
#include "signal/curve.h"

#include <cmath>
#include <numeric>

namespace osler::signal {

double Curve::points() const {
  return std::accumulate(count.begin(), count.end(), 0.0);
}

Curve curve_of(const Summary& summary, std::size_t at_most) {
  return curve_of(summary.buckets(), at_most);
}

Curve curve_of(std::vector<Bucket> buckets, std::size_t at_most) {
  thin(buckets, at_most);
  // A newest bucket that has only begun to fill is noisier than the rest; its neighbour takes it in.
  if (buckets.size() > 1 && 2 * buckets.back().count < buckets[buckets.size() - 2].count) {
    buckets[buckets.size() - 2] = merge(buckets[buckets.size() - 2], buckets.back());
    buckets.pop_back();
  }
  Curve curve;
  double squared_differences = 0;
  double differences = 0;
  const Bucket* before = nullptr;
  for (const Bucket& bucket : buckets) {
    if (bucket.count == 0) continue;
    curve.step.push_back(0.5 * (static_cast<double>(bucket.first_step) + static_cast<double>(bucket.last_step)));
    curve.value.push_back(bucket.mean);
    curve.low.push_back(bucket.min);
    curve.high.push_back(bucket.max);
    curve.count.push_back(static_cast<double>(bucket.count));
    curve.variance.push_back(bucket.variance());
    squared_differences += bucket.squared_differences;
    differences += static_cast<double>(bucket.count - 1);
    if (before != nullptr) {
      squared_differences += (bucket.first - before->last) * (bucket.first - before->last);
      differences += 1;
    }
    before = &bucket;
  }
  if (differences > 0) curve.inner_difference = std::sqrt(squared_differences / differences / 2);
  return curve;
}

Curve slice(const Curve& curve, std::size_t first, std::size_t last) {
  const auto cut = [&](const std::vector<double>& all) {
    return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(first),
                               all.begin() + static_cast<std::ptrdiff_t>(last));
  };
  return {cut(curve.step),  cut(curve.value),    cut(curve.low),        cut(curve.high),
          cut(curve.count), cut(curve.variance), curve.inner_difference};
}

Curve negated(Curve curve) {
  for (double& value : curve.value) value = -value;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double low = curve.low[i];
    curve.low[i] = -curve.high[i];
    curve.high[i] = -low;
  }
  return curve;
}

}  // namespace osler::signal
