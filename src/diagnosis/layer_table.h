// Layer table: every layer of a run with its figures, and what is wrong with it.
#pragma once

#include <vector>

#include "diagnosis/patient.h"
#include "osler/diagnosis/report.h"

namespace osler {

/// The layers of a run. What is wrong with a layer is what the findings say of it, the worst first.
[[nodiscard]] LayerTable layer_table(const Patient& patient, const std::vector<Observation>& findings);

}  // namespace osler
