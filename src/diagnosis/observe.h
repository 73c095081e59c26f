// Building observations: the few lines every finding would otherwise repeat.
#pragma once

#include <string>

#include "diagnosis/patient.h"
#include "diagnosis/settings.h"
#include "diagnosis/verdicts.h"
#include "diagnosis/wording.h"

namespace osler {

/// An observation on a stretch of one reading; the engine fills in the finding's id.
[[nodiscard]] inline Observation observe(Severity severity, double confidence, std::int64_t first_step,
                                         std::int64_t last_step, std::string summary) {
  Observation observation;
  observation.severity = severity;
  observation.confidence = confidence;
  observation.first_step = first_step;
  observation.last_step = last_step;
  observation.summary = std::move(summary);
  return observation;
}

/// One piece of evidence from one series.
[[nodiscard]] inline Evidence evidence(const std::string& series, std::int64_t first_step, std::int64_t last_step,
                                       double observed, double threshold, std::string text) {
  return {series, first_step, last_step, observed, threshold, std::move(text)};
}

}  // namespace osler
