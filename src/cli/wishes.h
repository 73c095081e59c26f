// What the user wants of a diagnosis, from words on the command line to options; an unknown word gets suggestions.
#pragma once

#include <string>
#include <vector>

#include "osler/base/result.h"
#include "osler/diagnosis/diagnose.h"

namespace CLI {
class App;
}

namespace osler::cli {

/// The words as they stand on the command line.
struct Wishes {
  std::vector<std::string> roles;     ///< "train-loss=NAME"
  std::vector<std::string> settings;  ///< "finding.setting=value"
  std::vector<std::string> only;      ///< ids of findings
  std::string format;                 ///< the id of a format; empty: look
  std::string domain;                 ///< the name of a domain; empty: look
  std::string baseline;               ///< a file with your own reference ranges; empty: those Osler comes with
};

/// Adds --role, --domain, --set and --baseline to a verb.
void add_meaning_options(CLI::App& verb, Wishes& wishes);
/// Adds these and --format and --only.
void add_wish_options(CLI::App& verb, Wishes& wishes);

/// The same as options, the baseline read. A role with a question mark in front counts where there is such a series.
[[nodiscard]] Result<DiagnosisOptions> to_options(const Wishes& wishes);

/// The level of --fail-on.
[[nodiscard]] Result<Severity> to_severity(const std::string& word);

/// Fails when `id` is not empty and no format has it.
[[nodiscard]] Result<void> check_format(const std::string& id);

/// Fails when a role is given to a series that `run` does not have.
[[nodiscard]] Result<void> check_series(const DiagnosisOptions& options, const Run& run);

/// The names a user may write.
[[nodiscard]] std::vector<std::string> role_names();
[[nodiscard]] std::vector<std::string> finding_ids();
[[nodiscard]] std::vector<std::string> cause_ids();
[[nodiscard]] std::vector<std::string> format_ids();
/// "finding.setting", for every setting.
[[nodiscard]] std::vector<std::string> setting_names();

}  // namespace osler::cli
