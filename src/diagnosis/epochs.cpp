// Finding the boundaries of epochs.
#include "diagnosis/epochs.h"

#include <algorithm>
#include <cmath>

#include "signal/robust.h"

namespace osler {
namespace {

/// The steps at which the number of the epoch rises.
std::vector<double> starts_from_series(const Series& series) {
  const signal::Curve epoch = signal::curve_of(series.summary(), SummaryLimits{}.buckets);
  std::vector<double> starts;
  for (std::size_t i = 1; i < epoch.size(); ++i) {
    if (std::floor(epoch.value[i]) > std::floor(epoch.value[i - 1])) starts.push_back(epoch.step[i]);
  }
  return starts;
}

/// A row is evaluated after it is logged, so the next epoch begins right after a validation.
std::vector<double> starts_from_validations(const Patient& patient) {
  const Reading* validation = patient.validation();
  if (validation == nullptr && !patient.validation_quality().empty())
    validation = &patient.validation_quality().front();
  if (validation == nullptr || validation->size() < 4) return {};
  const std::vector<double>& step = validation->curve.step;
  if (validation->curve.points() > static_cast<double>(step.size())) return {};
  std::vector<double> gaps;
  for (std::size_t i = 1; i < step.size(); ++i) gaps.push_back(step[i] - step[i - 1]);
  constexpr double kRegular = 0.05;
  const double typical = signal::median(gaps);
  if (signal::mad_scale(gaps) > kRegular * typical) return {};
  std::vector<double> starts;
  for (const double at : step) starts.push_back(at + 0.5);
  return starts;
}

/// The longest unbroken run of epochs that begin at `starts` and hold at least `fewest_rows` rows of the curve.
std::vector<EpochRange> whole_epochs(const signal::Curve& curve, const std::vector<double>& starts,
                                     std::size_t fewest_rows) {
  std::vector<EpochRange> longest;
  std::vector<EpochRange> stretch;
  std::size_t first = 0;
  for (const double start : starts) {
    const auto next =
        static_cast<std::size_t>(std::lower_bound(curve.step.begin(), curve.step.end(), start) - curve.step.begin());
    if (next >= first + fewest_rows) {
      stretch.push_back({first, next});
    } else {
      if (stretch.size() > longest.size()) longest = stretch;
      stretch.clear();
    }
    first = next;
  }
  // What follows the last boundary is an epoch that may not be over.
  return stretch.size() > longest.size() ? stretch : longest;
}

}  // namespace

const Series* epoch_series(const Patient& patient) {
  if (const Series* series = patient.roles().first(Role::epoch)) return series;
  for (const Series& series : patient.run().all_series()) {
    const std::string& name = series.name();
    const auto slash = name.rfind('/');
    if (slash != std::string::npos && name.substr(slash + 1) == "epoch") return &series;
  }
  return nullptr;
}

Epochs epochs_of(const Patient& patient, const signal::Curve& curve, std::size_t fewest_rows) {
  const Series* series = epoch_series(patient);
  const std::vector<double> starts = series == nullptr ? std::vector<double>() : starts_from_series(*series);
  if (starts.size() >= 2) return {whole_epochs(curve, starts, fewest_rows), "epoch series"};
  return {whole_epochs(curve, starts_from_validations(patient), fewest_rows), "validations"};
}

bool rises_at_boundaries(const RateCurve& rate, const signal::Curve& curve, const Epochs& epochs) {
  constexpr double kRise = 1.2;
  const auto rate_at = [&](double step) {
    const auto after = std::upper_bound(rate.curve.step.begin(), rate.curve.step.end(), step);
    const auto index = std::max<std::ptrdiff_t>(0, after - rate.curve.step.begin() - 1);
    return rate.curve.value[static_cast<std::size_t>(index)];
  };
  std::size_t rises = 0;
  for (const EpochRange& range : epochs.ranges) {
    const double before = rate_at(curve.step[range.last - 1]);
    const double after = range.last < curve.size() ? rate_at(curve.step[range.last]) : before;
    rises += after > kRise * before ? 1 : 0;
  }
  return 2 * rises > epochs.ranges.size();
}

}  // namespace osler
