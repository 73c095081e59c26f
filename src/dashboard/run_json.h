// One run as the dashboard reads it: what it has, a stretch of a series, layers by time, distributions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "osler/base/result.h"
#include "osler/diagnosis/report.h"
#include "osler/run/run.h"
#include "osler/runfile/reader.h"

namespace osler::dashboard {

/// Series, marks, configuration, the way through the tree, and what else there is to draw. At most `most_series` series
/// are listed; "series_in_all" says how many there are.
[[nodiscard]] std::string run_json(std::string_view id, const Run& run, const Report& report,
                                   std::size_t most_series = 20'000);

/// A stretch of a series as columns of equal length. What is the same in all of them, or follows from the others, is
/// left out.
[[nodiscard]] std::string columns_json(std::string_view name, std::span<const WindowSpan> spans);

/// Steps of a run; nothing where it has no end.
struct StepWindow {
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
};

/// Every layer by time, one map for each of gradient, weight, update and activation that the run has.
[[nodiscard]] std::string heat_json(const Run& run, const Report& report, const StepWindow& window = {});

/// How the distribution of one tensor moves; fails when it has none.
[[nodiscard]] Result<std::string> ridge_json(const Run& run, const Report& report, const std::string& series,
                                             const StepWindow& window = {});

}  // namespace osler::dashboard
