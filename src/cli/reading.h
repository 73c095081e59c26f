// Reading a run that the command line names, with progress and a Ctrl-C that keeps what was read.
#pragma once

#include <string>

#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "osler/run/run.h"

namespace osler::cli {

/// Reads one input. Progress is drawn on standard error unless `quiet` or there is no terminal.
[[nodiscard]] Result<Run> read_input(const Input& input, const Interrupt& interrupt, ReadOptions options, bool quiet);

/// Reads the only run at `path`; fails when there are several, and names some of them. Histograms are kept only where
/// they are asked for, since they take time and memory; a pipe has none.
[[nodiscard]] Result<Run> read_only_run(const std::string& path, const std::string& format, bool histograms = false);

}  // namespace osler::cli
