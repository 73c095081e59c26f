// Report: what Osler says of a run. The JSON form of this is a public contract (docs/report.schema.json).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/damage.h"
#include "osler/run/experiment.h"
#include "osler/run/run.h"

namespace osler {

/// How much a finding matters.
enum class Severity { note, warning, critical };
[[nodiscard]] std::string_view to_string(Severity severity);
[[nodiscard]] std::optional<Severity> severity_from(std::string_view name);

/// The verdict on a whole run.
enum class Status { healthy, warning, critical, insufficient_data };
[[nodiscard]] std::string_view to_string(Status status);

/// One measured fact behind a finding.
struct Evidence {
  std::string series;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  double observed = 0;
  double threshold = 0;  ///< what `observed` was compared with; NaN when nothing
  std::string text;      ///< the fact in words, with its numbers
};

/// Something seen in the numbers.
struct Observation {
  std::string finding;  ///< the finding's id
  Severity severity = Severity::warning;
  double confidence = 0;  ///< 0 to 1
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::map<std::string, std::string> qualifiers;
  std::vector<std::string> layers;
  std::string summary;  ///< one sentence
  std::vector<Evidence> evidence;
};

/// One reason for or against a cause.
struct Reason {
  std::string finding;  ///< the finding it rests on; empty for a fact read from the curves directly
  double weight = 0;    ///< log-odds, always positive; the list it stands in gives the sign
  std::string text;
};

/// A concrete change to make.
struct Remedy {
  struct Change {
    std::string name;  ///< "lr", "clip_norm", ...
    std::string from;  ///< empty when the log does not say
    std::string to;
  };
  std::string text;
  std::optional<Change> change;
};

/// The test that would settle whether a cause is the true one.
struct Settlement {
  std::string probe;  ///< the id of one of our probes, or empty
  std::string text;
};

/// A cause with its odds.
struct WeighedCause {
  std::string cause;  ///< the cause's id
  double probability = 0;
  std::vector<Reason> speaks_for;
  std::vector<Reason> speaks_against;
  Settlement settle;
  std::vector<Remedy> remedies;
};

/// A cause that the numbers exclude.
struct RuledOut {
  std::string cause;
  std::string why;
};

/// A check that could not run.
struct NotRun {
  std::string finding;
  std::string reason;
};

/// A curve drawn small: at most a few hundred columns, each with its lowest and highest value.
struct Sketch {
  struct Column {
    std::int64_t step = 0;
    double low = 0;  ///< NaN when the column has no finite value
    double high = 0;
    double mean = 0;
    std::uint64_t nonfinite = 0;
  };
  std::string series;
  std::string role;  ///< the role's name
  std::vector<Column> columns;
};

/// Everything Osler has to say about one run.
struct Report {
  std::string run_name;
  std::vector<std::string> sources;
  std::string format;
  StepRange steps;
  Status status = Status::insufficient_data;
  std::string headline;
  std::vector<Observation> findings;  ///< the worst first
  std::vector<WeighedCause> causes;   ///< the most probable first
  std::vector<RuledOut> ruled_out;
  std::vector<std::string> checks_ran;
  std::vector<NotRun> checks_not_run;
  std::map<std::string, std::vector<std::string>> roles;  ///< role name to series names
  std::map<std::string, double> metrics;  ///< figures worth quoting: "best-validation-loss", "final-train-loss", ...
  std::vector<Sketch> sketches;           ///< the curves a reader would want to see
  std::vector<Mark> marks;
  std::vector<Experiment> experiments;  ///< what active tests found, sorted by probe
  DamageReport damage;
};

}  // namespace osler
