// Optimal partitioning of a curve into straight pieces.
#include "signal/phases.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "signal/noise.h"
#include "signal/robust.h"

namespace osler::signal {
namespace {

/// Sums that give the residual of a straight line through any stretch in constant time.
class LineCosts {
 public:
  LineCosts(const std::vector<double>& x, const std::vector<double>& y)
      : x_(x.size() + 1), y_(x_), xx_(x_), xy_(x_), yy_(x_) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x_[i + 1] = x_[i] + x[i];
      y_[i + 1] = y_[i] + y[i];
      xx_[i + 1] = xx_[i] + x[i] * x[i];
      xy_[i + 1] = xy_[i] + x[i] * y[i];
      yy_[i + 1] = yy_[i] + y[i] * y[i];
    }
  }

  struct Line {
    double mean_x = 0;
    double mean_y = 0;
    double slope = 0;
    double spread_x = 0;
    double residual = 0;
  };

  [[nodiscard]] Line fit(std::size_t first, std::size_t last) const {
    const auto n = static_cast<double>(last - first);
    Line line;
    line.mean_x = (x_[last] - x_[first]) / n;
    line.mean_y = (y_[last] - y_[first]) / n;
    line.spread_x = std::max(0.0, xx_[last] - xx_[first] - n * line.mean_x * line.mean_x);
    const double xy = xy_[last] - xy_[first] - n * line.mean_x * line.mean_y;
    const double yy = std::max(0.0, yy_[last] - yy_[first] - n * line.mean_y * line.mean_y);
    line.slope = line.spread_x > 0 ? xy / line.spread_x : 0;
    line.residual = std::max(0.0, yy - line.slope * xy);
    return line;
  }

 private:
  std::vector<double> x_, y_, xx_, xy_, yy_;
};

}  // namespace

std::vector<Phase> phases_of(const Curve& curve, const PhaseOptions& options) {
  const std::size_t n = curve.size();
  if (n < 2 * options.shortest) return {};
  // Learning curves are straighter over log(step); the offset of one typical gap keeps the first point in place.
  const double gap = (curve.step.back() - curve.step.front()) / static_cast<double>(n - 1);
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = std::log((curve.step[i] - curve.step.front()) / std::max(gap, 1e-300) + 1);
  // Centred and clipped values keep the sums accurate, and a lone outlier from making phases of its own.
  const double centre = median(curve.value);
  const Noise noise = noise_of(curve.value);
  const std::vector<double> smooth = running_median(curve.value, 2);
  std::vector<double> y(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double wild = 4 * noise.sigma;
    y[i] = std::clamp(curve.value[i], smooth[i] - wild, smooth[i] + wild) - centre;
  }

  const LineCosts costs(x, y);
  const double range = quantile(curve.value, 0.98) - quantile(curve.value, 0.02);
  // Perfectly smooth curves have no noise; a thousandth of the range stands in for it.
  const double sigma = std::max(noise.sigma, 1e-3 * range);
  const double penalty = options.penalty * sigma * sigma * std::log(static_cast<double>(n));
  std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> start(n + 1, 0);
  best[0] = -penalty;
  for (std::size_t last = options.shortest; last <= n; ++last) {
    for (std::size_t first = 0; first + options.shortest <= last; ++first) {
      if (first != 0 && first < options.shortest) continue;
      const double cost = best[first] + costs.fit(first, last).residual + penalty;
      if (cost < best[last]) {
        best[last] = cost;
        start[last] = first;
      }
    }
  }

  std::vector<Phase> phases;
  for (std::size_t last = n; last > 0; last = start[last]) {
    const std::size_t first = start[last];
    const LineCosts::Line line = costs.fit(first, last);
    Phase phase;
    phase.first = first;
    phase.last = last;
    phase.begin = centre + line.mean_y + line.slope * (x[first] - line.mean_x);
    phase.end = centre + line.mean_y + line.slope * (x[last - 1] - line.mean_x);
    const double change = phase.end - phase.begin;
    const double error = line.spread_x > 0 ? sigma / std::sqrt(line.spread_x) * (x[last - 1] - x[first]) : 0;
    if (std::abs(change) > options.significant * error && std::abs(change) > options.sizeable * range) {
      phase.motion = change < 0 ? Motion::descent : Motion::rise;
    }
    phases.push_back(phase);
    if (first == 0) break;
  }
  std::reverse(phases.begin(), phases.end());
  for (std::size_t i = 1; i < phases.size(); ++i) phases[i].jump = phases[i].begin - phases[i - 1].end;
  return phases;
}

}  // namespace osler::signal
