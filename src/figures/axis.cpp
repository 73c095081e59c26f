// Axes: scales that suit what they show, and round ticks.
#include "figures/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/numbers.h"

namespace osler::figure {
namespace {

constexpr double kRatioForLog = 100;    // from here on equal steps would hide the small end
constexpr double kMargin = 0.05;        // air above and below the curves
constexpr double kZeroStrip = 0.09;     // of a logarithmic axis with zeros
constexpr double kNearInDecades = 1.0;  // a level this close to the values is worth showing
constexpr double kTiny = 1e-300;
constexpr int kPlainFrom = -3;  // decades that are written out: 0.001 to 10,000
constexpr int kPlainTo = 4;

double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

/// The round step (1, 2, 2.5 or 5 times a power of ten) that divides `range` into at most `most` parts.
double round_step(double range, int most) {
  const double rough = range / std::max(1, most);
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  for (const double multiple : {1.0, 2.0, 2.5, 5.0}) {
    if (multiple * decade >= rough * (1 - 1e-9)) return multiple * decade;
  }
  return 10 * decade;
}

std::string linear_label(double value, double step, double largest) {
  if (std::fabs(value) < step * 1e-6) return "0";
  if (largest >= 1e5 || step < 1e-4) {
    const double decades = std::floor(std::log10(std::fabs(value))) - std::floor(std::log10(step));
    const bool half = std::fabs(step / std::pow(10, std::floor(std::log10(step))) - 2.5) < 0.01;
    return tidy_exponent(fmt::format("{:.{}e}", value, std::clamp(static_cast<int>(decades) + (half ? 1 : 0), 0, 6)));
  }
  int digits = 0;
  for (double unit = step; digits < 6 && std::fabs(unit - std::round(unit)) > 1e-6 * unit; unit *= 10) ++digits;
  if (digits == 0) return layout::grouped(static_cast<std::int64_t>(std::llround(value)));
  return fmt::format("{:.{}f}", value, digits);
}

/// A step in the unit that suits the largest on its axis.
std::string step_label(double step, double unit, double largest) {
  if (step == 0) return "0";
  if (largest >= 1e15) return tidy_exponent(fmt::format("{:.3g}", step));
  const auto with = [step, unit](double divisor, const char* suffix) {
    const double shown = step / divisor;
    int digits = 0;
    for (double part = unit / divisor; digits < 3 && std::fabs(part - std::round(part)) > 1e-6; part *= 10) ++digits;
    return fmt::format("{:.{}f}{}", shown, digits, suffix);
  };
  if (largest >= 1e9) return with(1e9, "G");
  if (largest >= 1e6) return with(1e6, "M");
  if (largest >= 1e5) return with(1e3, "k");
  return layout::grouped(static_cast<std::int64_t>(std::llround(step)));
}

}  // namespace

std::string tidy_exponent(std::string text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  std::size_t digits = e + 1;
  const bool negative = text[digits] == '-';
  while (digits < text.size() - 1 && (text[digits] == '-' || text[digits] == '+' || text[digits] == '0')) ++digits;
  return text.substr(0, e + 1) + (negative ? "-" : "") + text.substr(digits);
}

std::optional<Spread> spread_of(const Lines& lines) {
  Spread spread{HUGE_VAL, -HUGE_VAL, HUGE_VAL, 0, 0, false};
  std::vector<double> positive;
  std::vector<double> sizes;
  for (const Line& line : lines.lines) {
    for (const Bucket& bucket : line.buckets) {
      if (bucket.count == 0) continue;
      spread.low = std::min(spread.low, bucket.min);
      spread.high = std::max(spread.high, bucket.max);
      spread.zeros = spread.zeros || bucket.min == 0 || bucket.max == 0;
      for (const double value : {bucket.min, bucket.max}) {
        if (value > 0) spread.least_positive = std::min(spread.least_positive, value);
      }
      if (bucket.mean > 0) positive.push_back(bucket.mean);
      sizes.push_back(std::fabs(bucket.mean));
    }
  }
  if (!(spread.low <= spread.high)) return std::nullopt;
  if (!std::isfinite(spread.least_positive)) spread.least_positive = 0;
  spread.low_level = quantile(positive, 0.05);
  spread.typical = quantile(sizes, 0.5);
  return spread;
}

ValueAxis::ValueAxis(const Spread& spread, Lines::Scale wish, const std::vector<Level>& levels) {
  Spread wanted = spread;
  for (const Level& level : levels) {
    if (!level.always || !std::isfinite(level.value) || level.value <= 0) continue;
    wanted.high = std::max(wanted.high, level.value);
    if (wanted.low_level > 0) wanted.low_level = std::min(wanted.low_level, level.value);
  }
  choose_kind(wanted, wish);
  set_range(spread, levels);
}

void ValueAxis::choose_kind(const Spread& spread, Lines::Scale wish) {
  if (wish == Lines::Scale::linear) return;
  const bool asked = wish == Lines::Scale::log;
  if (spread.low >= 0 && spread.least_positive > kTiny) {
    const bool wide = spread.low_level > kTiny && spread.high / spread.low_level >= kRatioForLog;
    if (asked || wide) kind_ = Kind::log;
  } else if (spread.low < 0 && spread.typical > kTiny) {
    const bool wide = std::max(-spread.low, spread.high) / spread.typical >= kRatioForLog;
    if (asked || wide) kind_ = Kind::signed_log;
  }
  if (kind_ == Kind::log && spread.zeros) floor_ = kZeroStrip;
  if (kind_ == Kind::signed_log) unit_ = spread.typical;
}

void ValueAxis::set_range(const Spread& spread, const std::vector<Level>& levels) {
  low_ = warp(kind_ == Kind::log ? spread.least_positive : spread.low);
  high_ = warp(spread.high);
  for (const Level& level : levels) {
    if (!std::isfinite(level.value) || (kind_ == Kind::log && level.value <= 0)) continue;
    const double place = warp(level.value);
    const bool near = kind_ == Kind::log && place > low_ - kNearInDecades && place < high_ + kNearInDecades;
    if (!level.always && !near) continue;
    low_ = std::min(low_, place);
    high_ = std::max(high_, place);
  }
  const double range = high_ - low_;
  if (kind_ == Kind::log) {
    const double least = std::max(range, 0.3);
    low_ -= kMargin * least;
    high_ += kMargin * least;
    return;
  }
  if (!(range > 1e-9 * std::max(std::fabs(low_), std::fabs(high_)))) {  // a constant: put it in the middle
    const double margin = low_ == 0 ? 1 : std::fabs(low_) * 0.1;
    low_ -= margin;
    high_ += margin;
    return;
  }
  const bool from_zero = low_ >= 0 && low_ <= range * 0.35;
  low_ = from_zero ? (low_ == 0 ? -kMargin / 2 * range : 0) : low_ - kMargin * range;
  high_ += kMargin * range;
}

double ValueAxis::warp(double value) const {
  switch (kind_) {
    case Kind::log:
      return std::log10(std::max(value, kTiny));
    case Kind::signed_log:
      return std::asinh(value / unit_);
    case Kind::linear:
      break;
  }
  return std::clamp(value, -1e307, 1e307);  // so that differences stay finite
}

double ValueAxis::share(double value) const {
  if (kind_ == Kind::log && value <= 0) return floor_ * 0.35;
  return floor_ + (1 - floor_) * (warp(value) - low_) / (high_ - low_);
}

bool ValueAxis::shows(const Level& level) const {
  return (level.always || kind_ == Kind::log) && shows(level.value);
}

bool ValueAxis::shows(double value) const {
  if (!std::isfinite(value) || (kind_ == Kind::log && value <= 0)) return false;
  const double place = warp(value);
  return place >= low_ && place <= high_;
}

std::vector<Tick> ValueAxis::ticks(int most) const {
  std::vector<Tick> ticks;
  if (floor_ > 0) ticks.push_back({share(0), "0"});
  std::vector<Tick> rest;
  switch (kind_) {
    case Kind::log:
      rest = log_ticks(most);
      break;
    case Kind::signed_log:
      rest = signed_log_ticks(most);
      break;
    case Kind::linear:
      for (const RoundValue& round : round_values(low_, high_, most)) rest.push_back({share(round.value), round.label});
      break;
  }
  ticks.insert(ticks.end(), rest.begin(), rest.end());
  return ticks;
}

std::vector<Tick> ValueAxis::log_ticks(int most) const {
  const int first = static_cast<int>(std::ceil(low_ - 1e-9));
  const int last = static_cast<int>(std::floor(high_ + 1e-9));
  std::vector<Tick> ticks;
  if (last - first < 1) {  // hardly a decade: round values do better than powers of ten
    for (const RoundValue& round : round_values(std::pow(10, low_), std::pow(10, high_), most)) {
      if (round.value > 0) ticks.push_back({share(round.value), round.label});
    }
    return ticks;
  }
  const int stride = (last - first) / std::max(1, most) + 1;
  const bool plain = first >= kPlainFrom && last <= kPlainTo;
  // Multiples of the stride, so that 1 is among them.
  const int start = first + ((-first) % stride + stride) % stride;
  for (int decade = first; decade <= last; ++decade) {
    const bool labelled = (decade - start) % stride == 0;
    ticks.push_back({share(std::pow(10, decade)), labelled ? decade_label(decade, plain) : ""});
  }
  return ticks;
}

std::vector<Tick> ValueAxis::signed_log_ticks(int most) const {
  std::vector<Tick> ticks = {{share(0), "0"}};
  const double largest = std::max(std::fabs(low_), std::fabs(high_));
  const int first = static_cast<int>(std::ceil(std::log10(unit_)));
  const int last = static_cast<int>(std::floor(std::log10(unit_ * std::sinh(std::min(largest, 700.0)))));
  const int stride = std::max(0, last - first) / std::max(1, most / 2) + 1;
  const bool plain = first >= kPlainFrom && last <= kPlainTo;
  for (int decade = first; decade <= last; decade += stride) {
    for (const double sign : {1.0, -1.0}) {
      const double value = sign * std::pow(10, decade);
      if (!shows(value)) continue;
      ticks.push_back({share(value), (sign < 0 ? "−" : "") + decade_label(decade, plain)});
    }
  }
  return ticks;
}

std::vector<RoundValue> round_values(double low, double high, int most) {
  const double range = high - low;
  const double largest = std::max(std::fabs(low), std::fabs(high));
  if (!(range > kTiny) || !std::isfinite(range) || largest / range > 1e9) return {};  // labels would all read the same
  const double step = round_step(range, most);
  std::vector<RoundValue> values;
  for (double n = std::ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; ++n) {
    values.push_back({n * step, linear_label(n * step, step, largest)});
  }
  return values;
}

double step_share(double step, double first, double last) {
  return last > first ? (step - first) / (last - first) : 0.5;
}

std::vector<Tick> step_ticks(std::int64_t first, std::int64_t last, int most) {
  const auto low = static_cast<double>(first);
  const auto high = static_cast<double>(last);
  if (!(high > low)) return {{0.5, step_label(low, 1, std::fabs(low))}};
  const double unit = std::max(1.0, round_step(high - low, most));
  const double whole = unit < 10 ? std::ceil(unit) : unit;  // there is no step 2.5
  std::vector<Tick> ticks;
  for (double n = std::ceil(low / whole); n * whole <= high; ++n) {
    ticks.push_back(
        {step_share(n * whole, low, high), step_label(n * whole, whole, std::max(std::fabs(low), std::fabs(high)))});
    if (ticks.size() > static_cast<std::size_t>(most) + 2) break;
  }
  return ticks;
}

std::string decade_label(int exponent, bool plain) {
  if (plain && exponent < 0) return fmt::format("{:.{}f}", std::pow(10, exponent), -exponent);
  if (plain) return layout::grouped(static_cast<std::int64_t>(std::llround(std::pow(10, exponent))));
  static constexpr const char* kRaised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string label = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) label += kRaised[digit - '0'];
  return label;
}

}  // namespace osler::figure
