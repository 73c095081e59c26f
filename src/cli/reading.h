// Reading a run that the command line names, with progress and a Ctrl-C that keeps what was read.
#pragma once

#include <string>
#include <vector>

#include "cli/interrupt.h"
#include "osler/run/run.h"
#include "osler/source/source.h"

namespace osler::cli {

/// Reads one input. Progress is drawn on standard error unless `quiet` or there is no terminal.
[[nodiscard]] Result<Run> read_input(const Source& input, const Interrupt& interrupt, ReadOptions options, bool quiet);

/// What was left out in one line, the first few by name; empty when nothing was.
[[nodiscard]] std::string told(const std::vector<LeftOut>& left_out);

/// Reads the only run at `path`; fails when there are several, and names some of them.
[[nodiscard]] Result<Run> read_only_run(const std::string& path, const std::string& format);

}  // namespace osler::cli
