// The curve of a learning rate range test: smoothed, read by four methods, and refused when it says nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace osler::probes {

/// The losses of one pass, one for each rate from the first on; shorter than the rates when it diverged.
using RangePass = std::vector<double>;

struct RangeCurveOptions {
  double smoothing = 0.25;  ///< weight of the newest loss in the moving average, in (0, 1]
  double divergence = 4;    ///< diverged: above the start by this many times the larger of dip and start
  double smallest_dip = 4;  ///< in standard errors of the smoothed curve
  double widest = 1.5;      ///< decades that the methods may differ by, and that the interval may span
};

/// Where the four methods point, each in units of the learning rate.
struct RangeReadings {
  double steepest = 0;       ///< the steepest fall per decade
  double valley = 0;         ///< the middle of the fall, in decades
  double minimum_tenth = 0;  ///< a tenth of the rate in the middle of the bottom
  double sliding_slope = 0;  ///< the last window that still falls half as fast as the steepest one

  /// The middle of the four, on the logarithmic scale.
  [[nodiscard]] double middle() const;
  /// How many decades lie between the smallest and the largest of the three that agree best: one of the four may have
  /// been caught by a wiggle far from the others.
  [[nodiscard]] double spread() const;
};

/// What a range test says.
struct RangeJudgement {
  std::vector<double> loss;      ///< mean over the passes, as far as all of them came
  std::vector<double> smoothed;  ///< of that mean
  double dip = 0;                ///< from the start of the smoothed curve to its minimum
  double noise = 0;              ///< standard error of the smoothed curve
  std::optional<double> divergence;
  std::optional<RangeReadings> readings;
  std::optional<double> suggestion;  ///< with `low` and `high`; nothing when the curve does not support one
  double low = 0;
  double high = 0;
  std::string refusal;  ///< why there is no suggestion
};

/// Exponential moving average with the start's bias taken out: the first value is the first loss itself.
class Smoother {
 public:
  explicit Smoother(double weight) : weight_(weight) {}
  double add(double loss);

 private:
  double weight_;
  double average_ = 0;
  double missing_ = 1;  // the share of the average that still is the zero it began with
};

/// Notices when a pass may end.
class Divergence {
 public:
  explicit Divergence(const RangeCurveOptions& options) : smoother_(options.smoothing), times_(options.divergence) {}
  /// Whether the smoothed loss is not finite any more, or far above the start.
  bool add(double loss);

 private:
  Smoother smoother_;
  double times_;
  std::optional<double> start_;
  double lowest_ = 0;
};

[[nodiscard]] std::vector<double> smooth(std::span<const double> losses, double weight);

/// `count` rates from `start` to `end`.
[[nodiscard]] std::vector<double> range_rates(double start, double end, std::size_t count, bool linear);

/// What the four methods read from a curve that was smoothed with `weight` and begins at the level `start`; nothing
/// when it does not fall.
[[nodiscard]] std::optional<RangeReadings> read_range(std::span<const double> rates, std::span<const double> smoothed,
                                                      double start);

/// The judgement over all passes. The interval comes from drawing passes anew (bootstrap), widened for their number.
[[nodiscard]] RangeJudgement judge_range(std::span<const double> rates, const std::vector<RangePass>& passes,
                                         const RangeCurveOptions& options = {});

}  // namespace osler::probes
