// What probes found on a training of the gallery, in words and small figures for a terminal.
#pragma once

#include <string>
#include <vector>

#include "osler/base/result.h"
#include "osler/gallery/training.h"
#include "osler/report/render.h"

namespace osler::cli {

/// The probes of these names, each once. The error names the one that there is not, and those that there are.
[[nodiscard]] Result<std::vector<const gallery::Probe*>> probes_named(const std::vector<std::string>& names);

/// Every probe with what it asks, for the help.
[[nodiscard]] std::string probes_help();

/// What each probe asked and found: the verdict, its curve or its map, its figures and its checks.
[[nodiscard]] std::string show_answers(const std::vector<gallery::ProbeAnswer>& answers, const TextOptions& options);

/// The exit code: 2 when a probe was stopped, 1 when one failed, 0 otherwise.
[[nodiscard]] int exit_code_of(const std::vector<gallery::ProbeAnswer>& answers);

}  // namespace osler::cli
