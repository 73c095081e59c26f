// A case: a small run in a folder <finding-id>/ and what a report on it must and must not say.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "osler/base/result.h"
#include "osler/diagnosis/report.h"

namespace osler::cases {

/// What is expected of one file. The name of the file starts with its kind.
struct Case {
  enum class Kind { sick, healthy, borderline };

  std::string finding;  ///< the folder
  std::string file;     ///< "sick-lr-too-high.csv"
  Kind kind = Kind::sick;
  std::string about;                         ///< one sentence: what the run is
  std::vector<std::string> must_report;      ///< all of them
  std::vector<std::string> must_not_report;  ///< none at warning or above; "*": nothing but what is named elsewhere
  std::vector<std::string> tolerate;         ///< may be reported or not
  std::optional<Severity> severity;          ///< of the folder's finding, at least
  std::optional<std::pair<std::int64_t, std::int64_t>> first_step;  ///< the folder's finding begins between these
  std::map<std::string, std::string> qualifiers;                    ///< of the folder's finding
  std::vector<std::string> causes;  ///< one of them is among the first three; empty: not checked
};

[[nodiscard]] std::string_view to_string(Case::Kind kind);

/// Every case of a folder of cases, sorted by finding. Fails on an expectation without file and on a file without
/// expectation; a README.md needs none.
[[nodiscard]] Result<std::vector<Case>> read_cases(const std::string& folder);

/// The cases of one finding as the text of its expected.json.
[[nodiscard]] std::string expected_json(const std::vector<Case>& cases);

/// What a report says against its case, one sentence each; empty when it is as expected.
[[nodiscard]] std::vector<std::string> complaints(const Case& expected, const Report& report);

}  // namespace osler::cases
