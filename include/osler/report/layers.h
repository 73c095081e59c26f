// The layers of a run as a table for a terminal.
#pragma once

#include <string>

#include "osler/report/render.h"

namespace osler {

/// Every layer in a line, from input to output: its figures, its gradient over the run, its status and why; then the
/// lowest, middle and highest of each figure. Biases and the like that are well are left out unless `verbose`. A report
/// that was made without its layers, or of a run that has none, says so.
[[nodiscard]] std::string render_layers(const Report& report, const TextOptions& options = {});

}  // namespace osler
