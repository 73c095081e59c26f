// osler-gallery play: one training of the dashboard's playground, or its treatment, told to the server line by line.
#pragma once

#include "osler/gallery/training.h"

namespace osler::cli {

/// Trains, treats what was trained, or trains again to run a probe, and writes what goes on to standard output as JSON
/// lines: progress
/// ({"phase", "step", "steps", "loss"}), then {"result"} or {"error"}. Stops when its standard input ends. The
/// arguments begin with "play".
[[nodiscard]] int run_play(int count, const char* const* arguments, const gallery::Trainer& trainer);

}  // namespace osler::cli
