// Recipes: how each case of tests/cases is made.
#pragma once

#include <string>
#include <vector>

#include "cases/case.h"
#include "osler/run/experiment.h"
#include "simulate/draft.h"
#include "simulate/shapes.h"

namespace osler::cases {

/// A log in the making, column by column.
class Table {
 public:
  /// `rows` rows, `stride` steps apart, the first at step `first`.
  Table(simulate::Random& random, std::size_t rows, std::int64_t stride = 1, std::int64_t first = 0);

  /// A column of `shape(progress)`, with Gaussian noise of that share of its value; `every`: on each n-th row only.
  template <typename Shape>
  Table& add(const std::string& name, Shape shape, double noise = 0, std::size_t every = 1) {
    return put(name, simulate::rows_of(axis_, shape), noise, every);
  }
  /// A column of `shape(progress)` with Gaussian scatter of a fixed size: rewards may be zero or negative.
  template <typename Shape>
  Table& scatter(const std::string& name, Shape shape, double size, std::size_t every = 1) {
    simulate::Levels values = simulate::rows_of(axis_, shape);
    for (double& value : values) value += size * random_.normal();
    return put(name, std::move(values), 0, every);
  }
  /// The same value on every row.
  Table& add(const std::string& name, double value, double noise = 0) {
    return put(name, simulate::Levels(axis_.rows(), value), noise, 1);
  }
  /// A column from values made by hand.
  Table& put(const std::string& name, simulate::Levels values, double noise = 0, std::size_t every = 1);
  /// Replaces the values of the newest column from a row on, up to but not including another.
  Table& replace(std::size_t from, std::size_t to, double value);

  /// An experiment that the run holds; such a log is written as JSON lines.
  Table& tell(Experiment experiment);
  /// What the log says at a step: a restart, a crash, an end. Such a log is written as JSON lines, too.
  Table& mark(const std::string& kind, std::int64_t step, const std::string& words);

  [[nodiscard]] const simulate::Axis& axis() const { return axis_; }
  [[nodiscard]] simulate::Random& random() const { return random_; }
  [[nodiscard]] const simulate::SimulatedRun& run() const { return run_; }
  /// The text of the log.
  [[nodiscard]] std::string text() const;

 private:
  simulate::Random& random_;
  simulate::Axis axis_;
  simulate::SimulatedRun run_;
  std::vector<Experiment> experiments_;
  std::vector<std::string> marks_;  // as lines of JSON
};

/// One case: what is expected, and how its table is made.
struct Recipe {
  Case expected;
  Table (*make)(simulate::Random& random);
};

/// A case in which the finding must be reported, as a warning at least.
[[nodiscard]] Recipe sick(const std::string& finding, const std::string& name, const std::string& about,
                          Table (*make)(simulate::Random&), std::vector<std::string> causes = {},
                          std::vector<std::string> tolerate = {});
/// A case in which nothing may be reported as a warning, but what is tolerated.
[[nodiscard]] Recipe healthy(const std::string& finding, const std::string& name, const std::string& about,
                             Table (*make)(simulate::Random&), std::vector<std::string> tolerate = {});
/// A case in which the finding may be reported or not, and nothing else but what is tolerated.
[[nodiscard]] Recipe borderline(const std::string& finding, const std::string& name, const std::string& about,
                                Table (*make)(simulate::Random&), std::vector<std::string> tolerate = {});
/// The recipe with a range for the first step, a severity, or a qualifier.
[[nodiscard]] Recipe between(Recipe recipe, std::int64_t first, std::int64_t last);
[[nodiscard]] Recipe at_least(Recipe recipe, Severity severity);
[[nodiscard]] Recipe qualified(Recipe recipe, const std::string& name, const std::string& value);
/// The recipe of a log with experiments, named for the format it is written in.
[[nodiscard]] Recipe probed(Recipe recipe);

/// The recipes, by family of findings.
[[nodiscard]] std::vector<Recipe> nonfinite_recipes();
[[nodiscard]] std::vector<Recipe> progress_recipes();
[[nodiscard]] std::vector<Recipe> stability_recipes();
[[nodiscard]] std::vector<Recipe> validation_recipes();
[[nodiscard]] std::vector<Recipe> gradient_recipes();
[[nodiscard]] std::vector<Recipe> plateau_recipes();
[[nodiscard]] std::vector<Recipe> spike_recipes();
[[nodiscard]] std::vector<Recipe> metric_recipes();
[[nodiscard]] std::vector<Recipe> rate_recipes();
[[nodiscard]] std::vector<Recipe> layer_recipes();
[[nodiscard]] std::vector<Recipe> lone_layer_recipes();
[[nodiscard]] std::vector<Recipe> monitor_recipes();
[[nodiscard]] std::vector<Recipe> probe_recipes();
[[nodiscard]] std::vector<Recipe> crash_recipes();
[[nodiscard]] std::vector<Recipe> reward_recipes();
[[nodiscard]] std::vector<Recipe> learner_recipes();
[[nodiscard]] std::vector<Recipe> tuning_recipes();
[[nodiscard]] std::vector<Recipe> answer_recipes();

}  // namespace osler::cases
