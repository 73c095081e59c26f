// Reading the curve of a range test.
#include "probes/range_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "probes/memorising.h"

namespace osler::probes {
namespace {

constexpr int kDraws = 200;          // of the bootstrap
constexpr double kTail = 0.05;       // what the interval leaves out on either side
constexpr std::size_t kFewest = 12;  // losses of a pass that can be read at all
constexpr double kNoticeable = 0.1;  // of the dip: where the valley begins, and as far from the bottom where it ends
constexpr double kSmallestShare = 0.01;  // of the start: a smaller dip is flat, however exactly it is known

/// From where to where a curve falls: its start level and its minimum.
struct Fall {
  double start = 0;
  std::size_t minimum = 0;
};

/// The level at the beginning, before the rates matter: the mean of the first tenth of a range of this many rates.
std::size_t opening(std::size_t rates) {
  return std::max<std::size_t>(3, rates / 10);
}

Fall fall_of(std::span<const double> losses, std::span<const double> smoothed, std::size_t rates) {
  const std::size_t first = std::min(opening(rates), losses.size());
  Fall fall;
  fall.start = std::accumulate(losses.begin(), losses.begin() + static_cast<std::ptrdiff_t>(first), 0.0) /
               static_cast<double>(first);
  fall.minimum = static_cast<std::size_t>(std::min_element(smoothed.begin(), smoothed.end()) - smoothed.begin());
  return fall;
}

/// The slope per decade of the least-squares line through points [from, from + width).
double slope_of(std::span<const double> decades, std::span<const double> values, std::size_t from, std::size_t width) {
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = from; i < from + width; ++i) {
    mean_x += decades[i] / static_cast<double>(width);
    mean_y += values[i] / static_cast<double>(width);
  }
  double xy = 0;
  double xx = 0;
  for (std::size_t i = from; i < from + width; ++i) {
    xy += (decades[i] - mean_x) * (values[i] - mean_y);
    xx += (decades[i] - mean_x) * (decades[i] - mean_x);
  }
  return xx > 0 ? xy / xx : 0;
}

/// The first place at which the curve is down to `level`.
std::size_t first_below(std::span<const double> values, double level) {
  return static_cast<std::size_t>(
      std::find_if(values.begin(), values.end(), [&](double value) { return value <= level; }) - values.begin());
}

/// The first place from which on the curve stays below `level` up to its end.
std::size_t stays_below(std::span<const double> values, double level) {
  std::size_t at = values.size() - 1;
  while (at > 0 && values[at - 1] < level) --at;
  return at;
}

/// The typical size of noise in one loss, from the changes between neighbours in the median: neither the fall nor the
/// divergence moves it.
double noise_of(const std::vector<RangePass>& passes) {
  std::vector<double> changes;
  for (const RangePass& pass : passes) {
    for (std::size_t i = 1; i < pass.size(); ++i) changes.push_back(std::abs(pass[i] - pass[i - 1]));
  }
  if (changes.empty()) return 0;
  const auto middle = changes.begin() + static_cast<std::ptrdiff_t>(changes.size() / 2);
  std::nth_element(changes.begin(), middle, changes.end());
  constexpr double kMedianOfNormal = 0.6745;
  return *middle / kMedianOfNormal / std::sqrt(2.0);
}

std::vector<double> mean_of(const std::vector<const RangePass*>& passes, std::size_t length) {
  std::vector<double> mean(length, 0.0);
  for (const RangePass* pass : passes) {
    for (std::size_t i = 0; i < length; ++i) mean[i] += (*pass)[i] / static_cast<double>(passes.size());
  }
  return mean;
}

double quantile(std::vector<double>& sorted, double share) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(std::lround(share * last))];
}

/// How much wider than the quantiles of the bootstrap an honest interval is with few passes: the bootstrap's variance
/// is too small by (n - 1) / n, and Student's distribution has wider tails than the normal one.
double widening(std::size_t passes) {
  constexpr std::array<double, 9> kStudent = {6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83};  // 95 %
  constexpr double kNormal = 1.645;
  const double n = static_cast<double>(passes);
  const double student = kStudent[std::min(passes - 2, kStudent.size() - 1)];
  return std::sqrt(n / (n - 1)) * student / kNormal;
}

/// The interval that drawing passes anew gives. A single pass has none: the methods alone are left to tell.
void bound(std::span<const double> rates, const std::vector<RangePass>& passes, std::size_t length,
           const RangeCurveOptions& options, RangeJudgement& judgement) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp,cert-msc32-c): the same test says the same
  std::uniform_int_distribution<std::size_t> any(0, passes.size() - 1);
  std::vector<double> found;
  std::vector<const RangePass*> drawn(passes.size());
  for (int draw = 0; draw < kDraws; ++draw) {
    for (const RangePass*& pass : drawn) pass = &passes[any(random)];
    const std::vector<double> losses = mean_of(drawn, length);
    const std::vector<double> smoothed = smooth(losses, options.smoothing);
    const auto readings = read_range(rates, smoothed, fall_of(losses, smoothed, rates.size()).start);
    if (readings) found.push_back(std::log10(readings->middle()));
  }
  const double centre = std::log10(*judgement.suggestion);
  double low = centre;
  double high = centre;
  if (!found.empty() && passes.size() > 1) {
    std::sort(found.begin(), found.end());
    const double wider = widening(passes.size());
    low = centre - wider * std::max(0.0, centre - quantile(found, kTail));
    high = centre + wider * std::max(0.0, quantile(found, 1 - kTail) - centre);
  }
  // The methods are four opinions about the same curve: the middle two of them belong to what is not known.
  std::array<double, 4> methods = {judgement.readings->steepest, judgement.readings->valley,
                                   judgement.readings->minimum_tenth, judgement.readings->sliding_slope};
  std::sort(methods.begin(), methods.end());
  judgement.low = std::max(rates.front(), std::min(std::pow(10.0, low), methods[1]));
  judgement.high = std::min(rates.back(), std::max(std::pow(10.0, high), methods[2]));
}

std::string reason_to_refuse(std::span<const double> rates, std::size_t length, const RangeCurveOptions& options,
                             const Fall& fall, const RangeJudgement& judgement) {
  if (judgement.divergence && judgement.dip < options.smallest_dip * judgement.noise) {
    return fmt::format("the loss never fell below its start ({:.4g}) and diverged at a learning rate of {:.3g}",
                       fall.start, *judgement.divergence);
  }
  if (judgement.dip < kSmallestShare * std::abs(fall.start)) {
    return fmt::format("the loss does not fall: it starts at {:.4g} and its smoothed minimum is {:.4g}", fall.start,
                       fall.start - judgement.dip);
  }
  if (judgement.dip < options.smallest_dip * judgement.noise) {
    return fmt::format(
        "the dip of {:.3g} is no larger than the noise between batches (standard error {:.3g}): use larger "
        "batches, more repeats or accumulation",
        judgement.dip, judgement.noise);
  }
  if (!judgement.readings) return "the loss is at its minimum from the start";
  if (judgement.readings->spread() > options.widest) {
    return fmt::format("no three of the four methods agree within {:.1f} decades (from {:.2g} to {:.2g})",
                       judgement.readings->spread(),
                       std::min({judgement.readings->steepest, judgement.readings->valley,
                                 judgement.readings->minimum_tenth, judgement.readings->sliding_slope}),
                       std::max({judgement.readings->steepest, judgement.readings->valley,
                                 judgement.readings->minimum_tenth, judgement.readings->sliding_slope}));
  }
  if (!judgement.divergence && length == rates.size() && fall.minimum + 1 == length) {
    if (falls_without_end(fall.start, judgement.smoothed[fall.minimum])) {
      return "the loss falls below zero without end: its sign is wrong, or nothing bounds it";
    }
    return fmt::format("the loss still falls at the largest rate tried ({:.3g}): test a wider range", rates.back());
  }
  return {};
}

}  // namespace

double RangeReadings::middle() const {
  std::array<double, 4> all = {steepest, valley, minimum_tenth, sliding_slope};
  std::sort(all.begin(), all.end());
  return std::sqrt(all[1] * all[2]);
}

double RangeReadings::spread() const {
  std::array<double, 4> all = {steepest, valley, minimum_tenth, sliding_slope};
  std::sort(all.begin(), all.end());
  return std::log10(std::min(all[3] / all[1], all[2] / all[0]));
}

double Smoother::add(double loss) {
  average_ = weight_ * loss + (1 - weight_) * average_;
  missing_ *= 1 - weight_;
  return average_ / (1 - missing_);
}

bool Divergence::add(double loss) {
  const double newest = smoother_.add(loss);
  if (!start_) {
    start_ = newest;
    lowest_ = newest;
  }
  lowest_ = std::min(lowest_, newest);
  const double scale = std::max(*start_ - lowest_, std::abs(*start_));
  return !std::isfinite(newest) || newest > *start_ + (times_ - 1) * scale;
}

std::vector<double> smooth(std::span<const double> losses, double weight) {
  Smoother smoother(weight);
  std::vector<double> smoothed;
  smoothed.reserve(losses.size());
  for (const double loss : losses) smoothed.push_back(smoother.add(loss));
  return smoothed;
}

std::vector<double> range_rates(double start, double end, std::size_t count, bool linear) {
  std::vector<double> rates;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = count < 2 ? 0.0 : static_cast<double>(i) / static_cast<double>(count - 1);
    rates.push_back(linear ? start + (end - start) * share : start * std::pow(end / start, share));
  }
  return rates;
}

std::optional<RangeReadings> read_range(std::span<const double> rates, std::span<const double> smoothed, double start) {
  const auto minimum = static_cast<std::size_t>(std::min_element(smoothed.begin(), smoothed.end()) - smoothed.begin());
  const std::size_t width = std::max<std::size_t>(5, rates.size() / 12);  // of the sliding window
  const double dip = start - smoothed[minimum];
  if (minimum + 1 < width || !(dip > 0)) return std::nullopt;
  std::vector<double> decades;
  for (const double rate : rates.first(minimum + 1)) decades.push_back(std::log10(rate));
  const std::span<const double> falling = smoothed.first(minimum + 1);

  std::size_t steepest = 0;
  double steepest_slope = 0;
  for (std::size_t i = 1; i < minimum; ++i) {
    const double slope = slope_of(decades, falling, i - 1, 3);
    if (slope < steepest_slope) {
      steepest_slope = slope;
      steepest = i;
    }
  }
  std::vector<double> slopes;
  for (std::size_t i = 0; i + width <= falling.size(); ++i) slopes.push_back(slope_of(decades, falling, i, width));
  const double fastest = *std::min_element(slopes.begin(), slopes.end());
  if (!(steepest_slope < 0) || !(fastest < 0)) return std::nullopt;
  std::size_t last = slopes.size() - 1;
  while (slopes[last] > fastest / 2) --last;

  const double bottom_level = start - (1 - kNoticeable) * dip;
  const std::size_t bottom = first_below(falling, bottom_level);
  RangeReadings readings;
  readings.steepest = rates[steepest];
  readings.sliding_slope = rates[last + width / 2];
  readings.valley = std::sqrt(rates[stays_below(falling, start - kNoticeable * dip)] * rates[bottom]);
  // A bottom that is flat over decades has its lowest point anywhere: its middle counts.
  std::size_t bottom_end = minimum;
  while (bottom_end + 1 < smoothed.size() && smoothed[bottom_end + 1] <= bottom_level) ++bottom_end;
  readings.minimum_tenth = std::sqrt(rates[bottom] * rates[bottom_end]) / 10;
  return readings;
}

RangeJudgement judge_range(std::span<const double> rates, const std::vector<RangePass>& passes,
                           const RangeCurveOptions& options) {
  RangeJudgement judgement;
  std::size_t length = rates.size();
  std::vector<double> ends;  // where passes diverged
  std::vector<const RangePass*> all;
  for (const RangePass& pass : passes) {
    length = std::min(length, pass.size());
    if (pass.size() < rates.size()) ends.push_back(std::log10(rates[pass.size()]));
    all.push_back(&pass);
  }
  if (2 * ends.size() > passes.size() && !ends.empty()) {
    std::sort(ends.begin(), ends.end());
    judgement.divergence = std::pow(10.0, ends[ends.size() / 2]);
  }
  // The first loss comes before the first step: no rate is to blame.
  if (!passes.empty() &&
      std::all_of(passes.begin(), passes.end(), [](const RangePass& pass) { return pass.empty(); })) {
    judgement.divergence.reset();
    judgement.refusal =
        "the loss is not finite before the first step: look at the batches, which may be empty or hold NaN";
    return judgement;
  }
  if (length < std::min(kFewest, rates.size()) || passes.empty()) {
    judgement.refusal = judgement.divergence ? fmt::format("the loss diverged at once, at a learning rate of {:.3g}",
                                                           *judgement.divergence)
                                             : std::string("there are too few losses to read");
    return judgement;
  }
  judgement.loss = mean_of(all, length);
  judgement.smoothed = smooth(judgement.loss, options.smoothing);
  const Fall fall = fall_of(judgement.loss, judgement.smoothed, rates.size());
  judgement.dip = fall.start - judgement.smoothed[fall.minimum];
  judgement.noise =
      noise_of(passes) * std::sqrt(options.smoothing / (2 - options.smoothing) / static_cast<double>(passes.size()));
  judgement.readings = read_range(rates, judgement.smoothed, fall.start);
  judgement.refusal = reason_to_refuse(rates, length, options, fall, judgement);
  if (!judgement.refusal.empty()) return judgement;
  judgement.suggestion = judgement.readings->middle();
  bound(rates, passes, length, options, judgement);
  if (std::log10(judgement.high / judgement.low) > options.widest) {
    judgement.refusal = fmt::format(
        "other batches would give another answer (anything from {:.2g} to {:.2g}): use larger batches, more "
        "repeats or accumulation",
        judgement.low, judgement.high);
    judgement.suggestion.reset();
  }
  return judgement;
}

}  // namespace osler::probes
