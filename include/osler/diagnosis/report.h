// Report: what Osler says of a run. The JSON form of this is a public contract (docs/report.schema.json).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/damage.h"
#include "osler/diagnosis/domain.h"
#include "osler/diagnosis/measures.h"
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
  /// The change as a line of code.
  struct Code {
    std::string language;  ///< the framework: "PyTorch", "Keras", ...
    std::string text;
  };
  std::string text;
  std::optional<Change> change;
  /// In the framework that the log shows; nothing where no one line would be true.
  std::optional<Code> code = std::nullopt;
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

/// One layer: a parameter, or a module whose activations were recorded. Figures are medians over the last tenth of its
/// values (the update ratio: over the run); nothing where the log does not tell.
struct LayerRow {
  std::string layer;
  std::string kind;  ///< "weight", "embedding", "adapter", "bias", "normalisation", "scalar", "activation"
  std::optional<double> gradient_norm;
  std::optional<double> weight_norm;
  std::optional<double> update_ratio;    ///< size of an update by that of the weights
  std::optional<double> gradient_ratio;  ///< gradient norm by weight norm
  std::optional<double> dead_share;      ///< of its units
  std::optional<double> saturated_share;
  std::vector<double> gradient_course;  ///< the gradient norm over equal parts of the run; NaN where there is none
  std::string status = "ok";         ///< "ok", or what is wrong in a word: "exploding", "silent", "dead", "frozen", ...
  std::string why;                   ///< with numbers; empty when all is well
  std::string finding;               ///< the finding that says so, if any
  std::optional<Severity> severity;  ///< that finding's
};

/// How one figure is spread over the layers.
struct LayerSpan {
  std::string figure;  ///< "gradient_norm", "weight_norm", ...: as in JSON
  std::size_t layers = 0;
  double lowest = 0;
  double median = 0;
  double highest = 0;
  std::string lowest_layer;
  std::string highest_layer;
};

/// The layers of a network from input to output, as far as the log tells.
struct LayerTable {
  std::vector<LayerRow> rows;
  std::vector<LayerSpan> spans;  ///< over weights, embeddings and adapters; biases and the like have sizes of their own
};

/// Where the loss of an unfinished run will be at its planned end, if training goes on as it does.
struct Prognosis {
  std::string series;
  std::int64_t step = 0;  ///< the planned end
  std::string from;       ///< how that is known: "max_steps 20000"
  double now = 0;
  double low = 0;  ///< nine runs in ten that were cut ended between `low` and `high`
  double high = 0;
  double left = 0;   ///< share of the plan still to come
  std::string text;  ///< all of that in words
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
  RecognisedDomain domain;                                ///< what kind of training it is
  std::map<std::string, std::string> computed;            ///< role name to how it was made from what the log has
  std::map<std::string, double> metrics;  ///< figures worth quoting: "best-validation-loss", "final-train-loss", ...
  std::vector<Measured> measures;         ///< figures of the run beside those of healthy runs
  std::string reference;                  ///< whose runs those are; empty for those that Osler comes with
  std::vector<Sketch> sketches;           ///< the curves a reader would want to see
  std::vector<Mark> marks;
  std::optional<LayerTable> layers;     ///< when it was asked for
  std::optional<Prognosis> prognosis;   ///< of a run that is well and not at its planned end
  std::vector<Experiment> experiments;  ///< what active tests found, sorted by probe
  DamageReport damage;
};

}  // namespace osler
