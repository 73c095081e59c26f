// What a run in bounded memory still knows of its points.
#pragma once

#include "osler/run/run.h"

namespace osler {

/// Tells a run to `sink`: configuration, marks, histograms, and of each series the newest points exactly and, of what
/// was merged before them, the first, lowest, highest and last of each stretch and its first non-finite value.
void tell_kept_points(const Run& run, EventSink& sink);

}  // namespace osler
