// diagnose(): from a run to a report.
#pragma once

#include <map>
#include <optional>
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
  std::vector<RoleOverride> roles_if_there;             ///< the same, for runs that have such a series
  std::map<std::string, double, std::less<>> settings;  ///< "finding-id.setting-name" to value
  std::vector<std::string> only;                        ///< ids of the findings to check; empty: all
  std::optional<ReferenceRanges> baseline;  ///< healthy runs to compare with in place of those Osler comes with
  std::optional<Domain> domain;             ///< what kind of training it is, where the user knows better
  bool layers = false;                      ///< also a table of the layers (Report::layers)
  double now = kNoTime;  ///< seconds since the Unix epoch while the run is watched live; kNoTime for a finished log
};

/// The roles that were given to series of this run.
[[nodiscard]] std::vector<RoleOverride> roles_for(const Run& run, const DiagnosisOptions& options);

/// Examines a run. Fails only when the options are wrong (an unknown finding, setting or series); a run that cannot be
/// judged gives a report with status `insufficient_data`.
[[nodiscard]] Result<Report> diagnose(const Run& run, const DiagnosisOptions& options = {});

}  // namespace osler
