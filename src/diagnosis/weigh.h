// Weighing causes: log-odds from a prior, the findings, what is absent, and what the curves tell directly.
#pragma once

#include <vector>

#include "diagnosis/patient.h"
#include "diagnosis/verdicts.h"
#include "osler/diagnosis/report.h"

namespace osler {

/// The causes that explain what was found, the most probable first, and those that the numbers exclude.
struct Weighing {
  std::vector<WeighedCause> causes;
  std::vector<RuledOut> ruled_out;
};

/// Weighs every cause that at least one finding speaks for.
[[nodiscard]] Weighing weigh(const Patient& patient, const Verdicts& verdicts);

}  // namespace osler
