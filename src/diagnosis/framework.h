// The framework that a log shows, and what a remedy's change looks like in its code.
#pragma once

#include <optional>

#include "osler/diagnosis/report.h"
#include "osler/run/run.h"

namespace osler {

/// The frameworks in whose code remedies are told.
enum class Framework { pytorch, lightning, transformers, keras, libtorch };

/// The framework that wrote the log, by its format, its configuration and the names of its series; PyTorch where
/// nothing tells.
[[nodiscard]] Framework framework_of(const Run& run);

/// The line that makes a change. Nothing where no one line would be true: then the remedy's sentence says it better.
[[nodiscard]] std::optional<Remedy::Code> code_of(const Remedy::Change& change, Framework framework);

}  // namespace osler
