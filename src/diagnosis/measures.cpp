// Takes the measures of a run, learns what is usual, and reads the one beside the other.
#include "osler/diagnosis/measures.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "diagnosis/measuring.h"
#include "diagnosis/patient.h"
#include "diagnosis/reference_table.h"

namespace osler {
namespace {

// Closer together at the ends, where a value begins to be unusual.
constexpr double kLevels[] = {0,   0.001, 0.005, 0.01, 0.025, 0.05,  0.1,  0.2,   0.3,   0.4, 0.5,
                              0.6, 0.7,   0.8,   0.9,  0.95,  0.975, 0.99, 0.995, 0.999, 1};
static_assert(std::size(kLevels) == std::tuple_size_v<decltype(ReferenceTableRow::quantiles)>);

/// The quantile of sorted values, between two of them where it falls between.
double sorted_quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  return std::lerp(sorted[below], sorted[below + 1], at - static_cast<double>(below));
}

/// The share of values below `value`, read off the quantiles; a tie counts half.
double share_below(const ReferenceRow& row, double value) {
  const std::vector<double>& quantiles = row.quantiles;
  const auto [first, last] = std::equal_range(quantiles.begin(), quantiles.end(), value);
  if (first != last) {
    const double from = kLevels[first - quantiles.begin()];
    return (from + kLevels[last - quantiles.begin() - 1]) / 2;
  }
  if (first == quantiles.begin()) return 0;
  if (first == quantiles.end()) return 1;
  const auto above = static_cast<std::size_t>(first - quantiles.begin());
  const double part = (value - quantiles[above - 1]) / (quantiles[above] - quantiles[above - 1]);
  return std::lerp(kLevels[above - 1], kLevels[above], part);
}

}  // namespace

const MeasureKind* find_measure(std::string_view id) {
  for (const auto& [stem, kind] : measure_kinds()) {
    if (kind.id == id) return &kind;
  }
  return nullptr;
}

std::span<const double> reference_levels() {
  return kLevels;
}

MeasuredRun measure(const Patient& patient) {
  MeasuredRun run;
  run.strata = strata_of(patient);
  for (const auto& [stem, kind] : measure_kinds()) {
    const std::optional<double> value = kind.take(patient);
    if (value && std::isfinite(*value)) run.values[std::string(kind.id)] = *value;
  }
  return run;
}

Result<MeasuredRun> measure(const Run& run, const std::vector<RoleOverride>& roles) {
  const auto cast = RoleMap::infer(run, roles);
  if (!cast) return cast.error();
  return measure(Patient(run, *cast));
}

ReferenceRanges learn_ranges(std::span<const MeasuredRun> healthy, std::size_t fewest) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> values;
  for (const MeasuredRun& run : healthy) {
    for (const auto& [id, value] : run.values) {
      for (const std::string& stratum : run.strata) values[{id, stratum}].push_back(value);
    }
  }
  ReferenceRanges ranges;
  ranges.runs = healthy.size();
  for (auto& [key, list] : values) {
    if (list.size() < fewest) continue;
    std::sort(list.begin(), list.end());
    ReferenceRow row = {key.first, key.second, list.size(), {}};
    for (const double level : kLevels) row.quantiles.push_back(sorted_quantile(list, level));
    ranges.rows.push_back(std::move(row));
  }
  return ranges;
}

const ReferenceRanges& built_in_ranges() {
  static const ReferenceRanges ranges = [] {
    ReferenceRanges ranges;
    ranges.runs = reference_runs();
    for (const ReferenceTableRow& row : reference_table()) {
      ranges.rows.push_back({std::string(row.measure), std::string(row.stratum), row.runs,
                             std::vector<double>(row.quantiles.begin(), row.quantiles.end())});
    }
    return ranges;
  }();
  return ranges;
}

std::vector<Measured> compared(const MeasuredRun& run, const ReferenceRanges& ranges) {
  std::vector<Measured> all;
  for (const auto& [id, value] : run.values) {
    Measured measured = {id, value, std::nullopt, 0, ""};
    for (const std::string& stratum : run.strata) {
      const auto row = std::find_if(ranges.rows.begin(), ranges.rows.end(), [&, &id = id](const ReferenceRow& each) {
        return each.measure == id && each.stratum == stratum;
      });
      if (row == ranges.rows.end()) continue;
      measured.quantile = share_below(*row, value);
      measured.runs = row->runs;
      measured.among = stratum;
      break;
    }
    all.push_back(std::move(measured));
  }
  return all;
}

}  // namespace osler
