// The vertical scale of a small plot: linear, logarithmic, or logarithmic on both sides of zero.
#include "report/scale.h"

#include <algorithm>
#include <cmath>

namespace osler::layout {
namespace {

constexpr double kDecadesForLog = 100;  // the ratio from which equal steps would hide the small end
constexpr double kTiny = 1e-300;

}  // namespace

Scale::Scale(double low, double high, double typical) : low_(low), high_(high) {
  if (low > 0 && high / low >= kDecadesForLog) {
    kind_ = Kind::log;
  } else if (low <= 0 && typical > kTiny && std::max(-low, high) / typical >= kDecadesForLog) {
    kind_ = Kind::signed_log;
    unit_ = typical;
  } else {
    unit_ = 2;
  }
  if (low_ == high_) {  // a constant: put it in the middle
    const double margin = low_ == 0 ? 1 : std::fabs(low_) * 0.1;
    low_ -= margin;
    high_ += margin;
  }
  warped_low_ = warp(low_);
  warped_high_ = warp(high_);
}

double Scale::warp(double value) const {
  switch (kind_) {
    case Kind::log:
      return std::log10(std::max(value, kTiny));
    case Kind::signed_log:
      return std::asinh(value / unit_);
    case Kind::linear:
      break;
  }
  return value / unit_;
}

double Scale::height(double value) const {
  const double range = warped_high_ - warped_low_;
  if (!(range > 0)) return 0.5;
  return std::clamp((warp(value) - warped_low_) / range, 0.0, 1.0);
}

std::vector<double> Scale::ticks(int most) const {
  std::vector<double> ticks;
  switch (kind_) {
    case Kind::linear:
      ticks = linear_ticks(most);
      break;
    case Kind::log:
      ticks = log_ticks(most);
      break;
    case Kind::signed_log:
      ticks = signed_log_ticks();
      break;
  }
  if (ticks.size() < 2) ticks.insert(ticks.end(), {high_, low_});
  return ticks;
}

std::vector<double> Scale::linear_ticks(int most) const {
  const double rough = (high_ / 2 - low_ / 2) / std::max(1, most) * 2;
  if (!std::isfinite(rough) || rough <= kTiny) return {};
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  for (const double multiple : {1.0, 2.0, 2.5, 5.0, 10.0}) {
    const double step = decade * multiple;
    if (step < rough) continue;
    std::vector<double> ticks;
    for (double n = std::ceil(low_ / step); n * step <= high_ && ticks.size() <= static_cast<std::size_t>(most); ++n) {
      ticks.push_back(n * step);
    }
    if (std::fabs(low_) / step > 1e6) return {};  // labels would all read the same
    return ticks;
  }
  return {};
}

std::vector<double> Scale::log_ticks(int most) const {
  const int first = static_cast<int>(std::ceil(warped_low_ - 1e-9));
  const int last = static_cast<int>(std::floor(warped_high_ + 1e-9));
  const int stride = std::max(1, (last - first) / std::max(1, most) + (last - first >= most ? 1 : 0));
  std::vector<double> ticks;
  for (int decade = first; decade <= last; decade += stride) ticks.push_back(std::pow(10, decade));
  return ticks;
}

std::vector<double> Scale::signed_log_ticks() const {
  std::vector<double> ticks;
  if (high_ > 0) ticks.push_back(high_);
  if (low_ < 0) ticks.push_back(low_);
  if (low_ <= 0 && high_ >= 0) ticks.push_back(0);
  return ticks;
}

}  // namespace osler::layout
