// Axes: where a value or a step lies along one, and which round values are worth a label.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "osler/figures/figure.h"

namespace osler::figure {

/// A place on an axis, 0 at its beginning and 1 at its end, with what stands there.
struct Tick {
  double share = 0;
  std::string label;  ///< empty: a small tick without words
};

/// The spread of the values that an axis has to show.
struct Spread {
  double low = 0;
  double high = 0;
  double least_positive = 0;  ///< 0 when nothing is positive
  double low_level = 0;       ///< a twentieth of the positive values lie below
  double typical = 0;         ///< the median of the sizes
  bool zeros = false;         ///< some values are exactly zero
};
/// Nothing when no value is finite.
[[nodiscard]] std::optional<Spread> spread_of(const Lines& lines);

/// The vertical axis: linear, logarithmic (with a place for zero when there are zeros), or logarithmic on both sides of
/// zero.
class ValueAxis {
 public:
  enum class Kind { linear, log, signed_log };

  ValueAxis(const Spread& spread, Lines::Scale wish, const std::vector<Level>& levels);

  [[nodiscard]] Kind kind() const { return kind_; }
  /// 0 at the bottom, 1 at the top; outside of that for values off the axis.
  [[nodiscard]] double share(double value) const;
  [[nodiscard]] bool shows(double value) const;
  [[nodiscard]] bool shows(const Level& level) const;
  /// The zero of a logarithmic axis lies apart, below this share; 0 when there is none.
  [[nodiscard]] double zero_gap() const { return floor_; }
  /// At most about `most` labels, from bottom to top.
  [[nodiscard]] std::vector<Tick> ticks(int most) const;

 private:
  void choose_kind(const Spread& spread, Lines::Scale wish);
  void set_range(const Spread& spread, const std::vector<Level>& levels);
  [[nodiscard]] double warp(double value) const;
  [[nodiscard]] std::vector<Tick> log_ticks(int most) const;
  [[nodiscard]] std::vector<Tick> signed_log_ticks(int most) const;

  Kind kind_ = Kind::linear;
  double low_ = 0;  // warped
  double high_ = 1;
  double unit_ = 1;
  double floor_ = 0;  // the share of the axis that is set apart for zero
};

/// Round values between `low` and `high`, at most about `most`, each with a label.
struct RoundValue {
  double value = 0;
  std::string label;
};
[[nodiscard]] std::vector<RoundValue> round_values(double low, double high, int most);

/// Where a step lies between the first and the last.
[[nodiscard]] double step_share(double step, double first, double last);
[[nodiscard]] std::vector<Tick> step_ticks(std::int64_t first, std::int64_t last, int most);

/// "1.5e-05" as "1.5e-5".
[[nodiscard]] std::string tidy_exponent(std::string text);
/// A power of ten as people write it: "0.01", "1,000", "10⁻⁷".
[[nodiscard]] std::string decade_label(int exponent, bool plain);

}  // namespace osler::figure
