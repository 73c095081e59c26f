// Measures: plain figures of a run, read beside those of healthy runs as a laboratory value beside its range.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/registry.h"
#include "osler/base/result.h"
#include "osler/run/role.h"
#include "osler/run/run.h"

namespace osler {

class Patient;

/// One way to measure a run. One file of src/diagnosis/measures each.
struct MeasureKind {
  std::string_view id;                                    ///< "gradient-norm"
  std::string_view title;                                 ///< "gradient norm"
  std::string_view unit;                                  ///< "of the loss", "noise levels"; empty for a plain number
  std::string_view sentence;                              ///< what it tells
  std::string_view valid;                                 ///< the runs that it can be taken of
  std::optional<double> (*take)(const Patient& patient);  ///< nothing where it cannot be taken
};

/// All measures, sorted by file name.
[[nodiscard]] std::span<const Registered<MeasureKind>> measure_kinds();
[[nodiscard]] const MeasureKind* find_measure(std::string_view id);

/// A measured value of a run beside those of healthy runs.
struct Measured {
  std::string measure;  ///< the id of the measure
  double value = 0;
  std::optional<double> quantile;  ///< the share of healthy runs with a lower value; nothing when there are too few
  std::size_t runs = 0;            ///< the healthy runs behind that share
  std::string among;               ///< what they are: "classifiers, logged by the epoch"
};

/// The figures of one run, and the groups of runs it belongs to, the narrowest first.
struct MeasuredRun {
  std::vector<std::string> strata;
  std::map<std::string, double> values;  ///< by the id of the measure
};

/// How one measure spreads over the healthy runs of a stratum.
struct ReferenceRow {
  std::string measure;
  std::string stratum;
  std::size_t runs = 0;
  std::vector<double> quantiles;  ///< at reference_levels()
};

/// What is usual among healthy runs.
struct ReferenceRanges {
  std::string name;      ///< whose runs they are; empty for those that Osler comes with
  std::size_t runs = 0;  ///< how many there were in all
  std::vector<ReferenceRow> rows;
};

/// The shares at which quantiles are kept, rising from 0 to 1.
[[nodiscard]] std::span<const double> reference_levels();

/// Takes every measure that can be taken of a run.
[[nodiscard]] MeasuredRun measure(const Patient& patient);
[[nodiscard]] Result<MeasuredRun> measure(const Run& run, const std::vector<RoleOverride>& roles = {});

/// The quantiles of each measure over each stratum that has at least `fewest` runs.
[[nodiscard]] ReferenceRanges learn_ranges(std::span<const MeasuredRun> healthy, std::size_t fewest);
/// What Osler comes with: learned from healthy trainings and public logs (`osler_score --learn-ranges`).
[[nodiscard]] const ReferenceRanges& built_in_ranges();
/// Looks up every value of a run in the narrowest stratum that has it.
[[nodiscard]] std::vector<Measured> compared(const MeasuredRun& run, const ReferenceRanges& ranges);

}  // namespace osler
