// A window of a series of a log: from its summary, in few columns, with no spike lost.
#pragma once

#include <vector>

#include "osler/run/summary.h"
#include "osler/runfile/reader.h"

namespace osler::dashboard {

/// The stretch that `request` asks for in at most `most_spans` spans, as a run file's reader gives it. Where the exact
/// newest points cover the stretch they are used; else the summary's buckets, as fine as they are.
[[nodiscard]] std::vector<WindowSpan> window_of(const Summary& summary, const WindowRequest& request);

}  // namespace osler::dashboard
