// Short forms of reports, comparisons and experiments: what an assistant needs to act, in few words.
#pragma once

#include <string>
#include <vector>

#include "osler/diagnosis/compare.h"
#include "osler/diagnosis/report.h"
#include "osler/run/experiment.h"

namespace osler::cli::mcp {

/// The verdict, the worst findings, the likeliest causes and what to do.
[[nodiscard]] std::string summary(const Report& report);
/// A line for each run, the worst first, and at most `most` of them.
[[nodiscard]] std::string summary(std::vector<Report> reports, std::size_t most);
/// Where the runs part, how the second stands, and what differs in their settings.
[[nodiscard]] std::string summary(const Comparison& comparison);
/// What a probe found, with its figures.
[[nodiscard]] std::string summary(const Experiment& experiment);

}  // namespace osler::cli::mcp
