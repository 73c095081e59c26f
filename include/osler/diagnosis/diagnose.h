// diagnose(): from a run to a report.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"
#include "osler/diagnosis/catalogue.h"
#include "osler/diagnosis/report.h"
#include "osler/run/role.h"
#include "osler/run/run.h"

namespace osler {

/// What a user may change about a diagnosis.
struct DiagnosisOptions {
  std::vector<RoleOverride> roles;
  std::map<std::string, double, std::less<>> settings;  ///< "finding-id.setting-name" to value
  std::vector<std::string> only;                        ///< ids of the findings to check; empty: all
  double now = kNoTime;  ///< seconds since the Unix epoch while the run is watched live; kNoTime for a finished log
};

/// Examines a run. Fails only when the options are wrong (an unknown finding, setting or series); a run that cannot be
/// judged gives a report with status `insufficient_data`.
[[nodiscard]] Result<Report> diagnose(const Run& run, const DiagnosisOptions& options = {});

}  // namespace osler
