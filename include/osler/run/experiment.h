// Experiment: what an active test on a training found, in a form that every run can keep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"
#include "osler/run/run.h"

namespace osler {

/// The result of one probe. A run keeps the newest of each probe, as JSON under a key of its configuration: so it
/// passes through every sink and every format that has a configuration.
struct Experiment {
  enum class Outcome {
    passed,     ///< what was tested is as it should be
    failed,     ///< it is not
    undecided,  ///< the test ran and its numbers do not support an answer
    stopped,    ///< it was interrupted before it had an answer
  };
  /// A figure that the probe measured.
  struct Value {
    std::string name;  ///< "top-eigenvalue"
    double value = 0;
    std::optional<double> low;  ///< the interval it lies in, where the probe knows one
    std::optional<double> high;

    friend bool operator==(const Value&, const Value&) = default;
  };
  /// A column of the table of measurements; all columns are equally long.
  struct Column {
    std::string name;  ///< "learning-rate"
    std::vector<double> values;

    friend bool operator==(const Column&, const Column&) = default;
  };
  /// One line of a list of checks, or of what was found layer by layer.
  struct Check {
    std::string id;  ///< "first-loss", or a layer's name
    Outcome outcome = Outcome::passed;
    std::string text;

    friend bool operator==(const Check&, const Check&) = default;
  };

  std::string probe;  ///< the probe's id, as in Settlement::probe: "lr-range-test"
  std::int64_t step = 0;
  Outcome outcome = Outcome::undecided;
  std::string verdict;  ///< one or two sentences, with their numbers
  std::vector<Value> values;
  std::vector<Column> columns;
  std::vector<Check> checks;

  /// The value called `name`.
  [[nodiscard]] std::optional<double> value(std::string_view name) const;
  [[nodiscard]] const Column* column(std::string_view name) const;

  friend bool operator==(const Experiment&, const Experiment&) = default;
};

[[nodiscard]] std::string_view to_string(Experiment::Outcome outcome);

/// The key of a run's configuration under which the newest experiment with a probe is kept: "osler/experiment/<probe>".
[[nodiscard]] std::string experiment_key(std::string_view probe);
/// Whether a key of a configuration is such a key, and no setting of the user's.
[[nodiscard]] bool is_experiment_key(std::string_view key);

/// One line of JSON. Non-finite numbers are the strings "nan", "inf" and "-inf".
[[nodiscard]] std::string to_json(const Experiment& experiment);
[[nodiscard]] Result<Experiment> experiment_from_json(std::string_view json);

/// The experiments a run holds, sorted by probe; those that cannot be read are left out.
[[nodiscard]] std::vector<Experiment> experiments(const Run& run);
/// The newest experiment with a probe.
[[nodiscard]] std::optional<Experiment> experiment(const Run& run, std::string_view probe);

}  // namespace osler
