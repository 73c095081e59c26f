// What is printed of several reports, and the exit code that sums them up.
#pragma once

#include <string>
#include <vector>

#include "osler/diagnosis/report.h"
#include "osler/report/render.h"

namespace osler::cli {

/// A line for each run, the worst first; then the sick ones in full unless they are many.
[[nodiscard]] std::string render_many(std::vector<Report> reports, const TextOptions& options);

/// kSick when any finding reaches `fail_on`, else kCannotJudge when something `failed` or could not be judged.
[[nodiscard]] int exit_code(const std::vector<Report>& reports, bool failed, Severity fail_on);

}  // namespace osler::cli
