// The vertical scale of a small plot: linear, logarithmic, or logarithmic on both sides of zero.
#pragma once

#include <string>
#include <vector>

namespace osler::layout {

/// Maps values to heights between 0 (bottom) and 1 (top).
class Scale {
 public:
  /// A scale for values between `low` and `high`, both finite, of which `typical` is the median of the sizes.
  /// Logarithmic when all are positive and span two decades; when they are not all positive but the largest dwarfs the
  /// typical one a hundred times, logarithmic away from zero (asinh). Linear otherwise.
  Scale(double low, double high, double typical);

  [[nodiscard]] double height(double value) const;
  [[nodiscard]] bool logarithmic() const { return kind_ != Kind::linear; }
  /// Round values inside the scale, the ones most worth a label first.
  [[nodiscard]] std::vector<double> ticks(int most) const;

 private:
  enum class Kind { linear, log, signed_log };

  [[nodiscard]] double warp(double value) const;
  [[nodiscard]] std::vector<double> linear_ticks(int most) const;
  [[nodiscard]] std::vector<double> log_ticks(int most) const;
  [[nodiscard]] std::vector<double> signed_log_ticks() const;

  Kind kind_ = Kind::linear;
  double low_;
  double high_;
  double unit_ = 1;  // where signed_log turns from linear to logarithmic; 1/2 on a linear scale guards against overflow
  double warped_low_ = 0;
  double warped_high_ = 1;
};

}  // namespace osler::layout
