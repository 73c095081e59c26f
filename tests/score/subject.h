// A subject of the scorer: a run with a label, and what Osler said about it.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "osler/base/result.h"
#include "osler/diagnosis/report.h"
#include "simulate/truth.h"

namespace osler::score {

/// Where labelled runs come from.
enum class Source { corpus, population, cases, suite };
[[nodiscard]] std::string_view to_string(Source source);

/// The part of a population whose families nothing may be learned from.
inline constexpr std::string_view kLeftOut = "left-out";

/// A run to be scored. It is made or read only when its turn comes, so that few are in memory at a time.
struct Subject {
  Source source = Source::suite;
  std::string part;  ///< "learn" or "left-out" of a population, the folder of a corpus; empty: the source is one whole
  std::string name;
  std::string family;                ///< runs of one family never stand on both sides of a cross-validation
  std::string domain;                ///< what kind of training it is, where the label says
  std::string label;                 ///< the group it is listed under: "healthy", or the main finding
  std::vector<std::string> planted;  ///< the causes it is listed under, the first of those that count as right
  bool decided = true;               ///< false: the label says that the log alone does not tell
  bool certain = true;               ///< false: the annotator was not sure (confidence low)
  bool shows = true;                 ///< whether the log can hold evidence of what is wrong
  simulate::Truth truth;
  /// Makes or reads the run; what depends on the run itself is added to the label here.
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
/// Calls `take` with each line of a JSON-lines file; fails at the first line that is not as expected.
[[nodiscard]] Result<void> each_record(const std::string& path,
                                       const std::function<void(const nlohmann::json& record)>& take);

/// The labelled logs of a folder with a labels.jsonl, of either kind of label. Logs that are not beside it are looked
/// for in `unpacked`.
[[nodiscard]] Result<std::vector<Subject>> corpus_subjects(const std::string& folder, const std::string& unpacked);
/// Trainings with planted faults: a folder with meta.jsonl and runs/, or one file of packed runs.
[[nodiscard]] Result<std::vector<Subject>> population_subjects(const std::string& path);
/// The project's own cases: tests/cases.
[[nodiscard]] Result<std::vector<Subject>> case_subjects(const std::string& folder);
/// `count` simulated runs, drawn evenly from the families.
[[nodiscard]] std::vector<Subject> suite_subjects(std::size_t count, std::uint64_t seed);

/// Diagnoses every subject, on all cores. `only` restricts the findings, as `osler diagnose --only` does.
[[nodiscard]] std::vector<Outcome> examine(std::vector<Subject>& subjects, const std::vector<std::string>& only);

}  // namespace osler::score
