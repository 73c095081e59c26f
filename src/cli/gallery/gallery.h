// osler gallery: sick networks trained for real, diagnosed, treated, healthy.
#pragma once

#include "cli/command_tree.h"
#include "osler/gallery/training.h"

namespace osler::cli {

/// The gallery's command line as data, as a verb of the program.
[[nodiscard]] Command gallery_command();

/// Runs the gallery's command line; returns its exit code. It is a program of its own, which `osler gallery` starts:
/// LibTorch takes half a second to load, and a diagnosis of a log must not wait for it.
[[nodiscard]] int run_gallery(int count, const char* const* arguments, const gallery::Trainer& trainer);

}  // namespace osler::cli
