// What the API answers about runs: series, pictures and comparisons as JSON, and the figures for Prometheus.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dashboard/run_json.h"
#include "osler/base/result.h"
#include "server/shelf.h"

namespace osler::server {

[[nodiscard]] Text shared(std::string text);

/// A stretch of a series as columns of equal length.
[[nodiscard]] Result<Text> series_json(Shelf& shelf, std::string_view id, const SeriesChoice& series,
                                       const WindowRequest& request);
/// Layers by time.
[[nodiscard]] Result<Text> heat_json(Shelf& shelf, std::string_view id, const dashboard::StepWindow& window);
/// How a distribution moves.
[[nodiscard]] Result<Text> ridge_json(Shelf& shelf, std::string_view id, const std::string& series,
                                      const dashboard::StepWindow& window);
/// The contract "osler-comparison/1".
[[nodiscard]] Result<Text> comparison_json(Shelf& shelf, std::string_view a, std::string_view b, std::string_view axis);
/// OpenMetrics text: status, loss, gradient norm and findings of every run.
[[nodiscard]] std::string metrics_text(std::vector<dashboard::Card> cards);

}  // namespace osler::server
