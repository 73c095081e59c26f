// A subject of the scorer: a run with a label, and what Osler said about it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "osler/base/result.h"
#include "osler/diagnosis/report.h"
#include "simulate/truth.h"

namespace osler::score {

/// Where labelled runs come from.
enum class Source { corpus, cases, suite };
[[nodiscard]] std::string_view to_string(Source source);

/// A run to be scored. It is made or read only when its turn comes, so that few are in memory at a time.
struct Subject {
  Source source = Source::suite;
  std::string name;
  std::string family;   ///< runs of one family never stand on both sides of a cross-validation
  std::string label;    ///< the group it is listed under: a corpus label, or the main finding
  bool decided = true;  ///< false: the label says that the log alone does not tell
  bool certain = true;  ///< false: the annotator was not sure (confidence low)
  simulate::Truth truth;
  /// Makes or reads the run; a simulated one also gets its label here.
  std::function<Result<std::vector<Run>>(Subject& self)> load;
};

/// What came out for one subject. Several runs in one log count as one: everything found in any of them.
struct Outcome {
  const Subject* subject = nullptr;
  std::optional<Error> error;  ///< it could not be read or judged
  Status status = Status::insufficient_data;
  std::vector<Observation> findings;
  std::vector<WeighedCause> causes;  ///< of the run with the most findings
  std::size_t runs = 0;
  double seconds = 0;  ///< reading or making, and diagnosing
};

/// All runs at a path.
[[nodiscard]] Result<std::vector<Run>> read_runs(const std::string& path);

/// The labelled logs of a folder with a labels.jsonl.
[[nodiscard]] Result<std::vector<Subject>> corpus_subjects(const std::string& folder);
/// The project's own cases: tests/cases.
[[nodiscard]] Result<std::vector<Subject>> case_subjects(const std::string& folder);
/// `count` simulated runs, drawn evenly from the families.
[[nodiscard]] std::vector<Subject> suite_subjects(std::size_t count, std::uint64_t seed);

/// Diagnoses every subject, on all cores. `only` restricts the findings, as `osler diagnose --only` does.
[[nodiscard]] std::vector<Outcome> examine(std::vector<Subject>& subjects, const std::vector<std::string>& only);

}  // namespace osler::score
