// Opening recorders, and asking them for a diagnosis.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "osler/diagnosis/diagnose.h"
#include "osler/recorder/recorder.h"

namespace osler::python {

/// Kinds of sinks ("csv", "jsonl", "tensorboard", "wandb") with their places.
using Destinations = std::vector<std::pair<std::string, std::string>>;

/// A recorder into a run file, where `path` is not empty, and into others. With `resume` the live run goes on from what
/// the file holds. With the interpreter's lock held, which it lets go.
[[nodiscard]] Recorder opened(const std::string& path, const std::string& name, const Destinations& others,
                              bool resume);

/// The diagnosis of what a recorder holds. With the interpreter's lock held, which it lets go.
[[nodiscard]] Report report_of(Recorder& recorder, const DiagnosisOptions& options);

}  // namespace osler::python
