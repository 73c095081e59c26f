// Learns the reference ranges: what is usual among healthy runs.
#pragma once

#include <string>
#include <vector>

#include "osler/diagnosis/measures.h"
#include "score/subject.h"

namespace osler::score {

/// Measures the healthy runs that may be learned from: real logs, and the part of a population that is not left out.
/// Simulated curves are no measure of anything.
[[nodiscard]] ReferenceRanges learn_from(std::vector<Subject>& subjects);

/// The file src/diagnosis/reference_table.cpp.
[[nodiscard]] std::string ranges_source(const ReferenceRanges& ranges);

}  // namespace osler::score
