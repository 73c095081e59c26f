// What the API answers: runs, series, reports and the catalogue as JSON, and the figures for Prometheus.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"
#include "server/library.h"

namespace osler::server {

/// {"revision", "runs": [card...]}
[[nodiscard]] std::string runs_json(const Library& library);
/// Series, marks, configuration and the way through the tree of one run.
[[nodiscard]] Result<std::string> run_json(Library& library, std::string_view id);
[[nodiscard]] Result<std::string> report_json(Library& library, std::string_view id);
/// A stretch of a series as columns of equal length.
[[nodiscard]] Result<std::string> series_json(Library& library, std::string_view id, const std::string& series,
                                              const WindowRequest& request);
/// Every finding and every cause.
[[nodiscard]] std::string catalogue_json();
/// The diagnosis tree.
[[nodiscard]] std::string tree_json();
/// OpenMetrics text: status, loss, gradient norm and findings of every run.
[[nodiscard]] std::string metrics_text(const std::vector<Card>& cards);

}  // namespace osler::server
