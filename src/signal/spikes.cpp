// Finding spikes against a running median, with the noise of the unspiked curve.
#include "signal/spikes.h"

#include <algorithm>
#include <cmath>

#include "signal/noise.h"
#include "signal/robust.h"

namespace osler::signal {
namespace {

/// The scatter of a positive curve about the smoothed one, as a factor, in natural logarithms; 0 when the curve is not
/// positive. Losses that fall over decades scatter in proportion to their level, so that the noise of the low end says
/// nothing about the high one.
double factor_scatter(const Curve& curve, const std::vector<double>& smoothed) {
  const std::size_t n = curve.size();
  std::vector<double> factors(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!(curve.low[i] > 0) || !(smoothed[i] > 0)) return 0;
    factors[i] = std::log(curve.value[i] / smoothed[i]);
  }
  return mad_scale(factors);
}

}  // namespace

std::vector<Spike> spikes_of(const Curve& curve, const SpikeOptions& options) {
  const std::size_t n = curve.size();
  std::vector<Spike> spikes;
  if (n < 8) return spikes;
  const std::size_t longest = options.longest > 0 ? options.longest : std::max<std::size_t>(3, n / 10);
  const std::vector<double> smoothed = running_median(curve.value, std::max<std::size_t>(longest, 4));
  std::vector<double> residuals(n);
  for (std::size_t i = 0; i < n; ++i) residuals[i] = curve.value[i] - smoothed[i];
  // A peak is a single logged value, so it is judged against the noise of single values, not of bucket means.
  double inner = 0;
  for (std::size_t i = 0; i < n; ++i) inner = std::max(inner, curve.count[i]);
  std::vector<double> spreads;
  for (const double variance : curve.variance) spreads.push_back(std::sqrt(variance));
  const double sigma = std::max({mad_scale(residuals), difference_noise(curve.value), inner > 1 ? median(spreads) : 0});
  if (!(sigma > 0)) return spikes;

  const double factor = factor_scatter(curve, smoothed);
  const double top = *std::max_element(smoothed.begin(), smoothed.end());
  for (std::size_t i = 0; i < n; ++i) {
    const double height = curve.high[i] - smoothed[i];
    const double descent = top - smoothed[i];
    const double matters = std::max(options.share_of_level * std::abs(smoothed[i]), options.share_of_descent * descent);
    if (height < options.score * sigma || height < matters) continue;
    if (factor > 0 && std::log(curve.high[i] / smoothed[i]) < options.factor_score * factor) continue;
    if (!spikes.empty() && i - spikes.back().last <= 1) {
      Spike& open = spikes.back();
      open.last = i + 1;
      if (curve.high[i] > open.peak) {
        open.peak = curve.high[i];
        open.step = curve.step[i];
        open.score = height / sigma;
      }
      continue;
    }
    Spike spike;
    spike.first = i;
    spike.last = i + 1;
    spike.step = curve.step[i];
    spike.peak = curve.high[i];
    spike.base = smoothed[i];
    spike.score = height / sigma;
    spikes.push_back(spike);
  }
  for (Spike& spike : spikes) {
    const std::size_t end = std::min(n, spike.last + longest);
    const std::span<const double> after = std::span(curve.value).subspan(spike.last, end - spike.last);
    spike.recovered = !after.empty() && *std::min_element(after.begin(), after.end()) <
                                            spike.base + options.recovery * (spike.peak - spike.base);
  }
  std::erase_if(spikes, [&](const Spike& spike) { return spike.last - spike.first > longest; });
  return spikes;
}

std::optional<double> period_of(const std::vector<Spike>& spikes) {
  constexpr std::size_t kFewest = 4;
  constexpr double kRegular = 0.15;
  if (spikes.size() < kFewest) return std::nullopt;
  std::vector<double> gaps;
  for (std::size_t i = 1; i < spikes.size(); ++i) gaps.push_back(spikes[i].step - spikes[i - 1].step);
  const double typical = median(gaps);
  if (!(typical > 0) || mad_scale(gaps) > kRegular * typical) return std::nullopt;
  // A gap twice as long is a spike that was missed, not an irregular one.
  for (const double gap : gaps) {
    const double multiple = std::round(gap / typical);
    if (multiple < 1 || std::abs(gap - multiple * typical) > 2 * kRegular * typical) return std::nullopt;
  }
  return typical;
}

}  // namespace osler::signal
