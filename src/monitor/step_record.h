// StepRecord: what every step leaves in the run, whatever front end has measured it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/loss_graph.h"
#include "monitor/resident_memory.h"
#include "monitor/step_tally.h"
#include "osler/recorder/recorder.h"
#include "osler/stats/pair_stats.h"
#include "run/series_names.h"

namespace osler::monitor {

/// A parameter as it stands with the optimizers.
struct ParameterState {
  std::string_view name;
  bool trainable = true;
  bool left_out = false;  ///< no optimizer holds it, and it has not moved
};

/// Writes facts of steps under the names that findings ask for; what hardly ever changes only where it is new.
class StepRecord {
 public:
  /// A parameter that no optimizer of ours holds counts as left out when it has not moved for so many steps.
  static constexpr std::int64_t kStepsToKnow = 20;

  StepRecord(std::int64_t first_step, std::int64_t line_every) : first_step_(first_step), tally_(line_every) {}

  /// The loss, and the norm of all gradients where it was measured.
  void step(Recorder& recorder, std::int64_t step, double loss, std::optional<double> norm);
  /// The rates of the parameter groups, and the model's mode (nothing where it does not matter).
  void state(Recorder& recorder, std::int64_t step, const std::vector<double>& rates, std::optional<bool> training);
  /// Whether the monitor clears the gradients itself, whatever they look like.
  void gradients_cleared(Recorder& recorder, std::int64_t step, bool cleared);
  /// Which parameters are frozen and which nobody trains. One that no optimizer holds counts as left out only after
  /// some steps: someone else may train it, not on every step perhaps.
  void parameters(Recorder& recorder, std::int64_t step, const std::vector<ParameterState>& states);
  /// The resident memory, seldom.
  void memory(Recorder& recorder, std::int64_t step);

  /// Whether the gradients of this step are to be held against those of the next; asked when they are.
  bool begin_pair(std::int64_t step);
  /// How the gradients of two neighbouring steps relate; with `batch_size` their noise too.
  void pair(Recorder& recorder, std::int64_t step, const stats::PairStats& pair,
            std::optional<std::int64_t> batch_size);

  /// A number that is the same for losses that are computed alike, from the same outputs.
  void loss_kind(Recorder& recorder, std::uint64_t kind);
  /// The network is one of several that are trained in turns on each other's answers.
  void in_turns(Recorder& recorder);

  [[nodiscard]] StepTally& tally() { return tally_; }

 private:
  [[nodiscard]] std::int64_t seen(std::int64_t step) const { return step - first_step_; }

  std::int64_t first_step_;
  StepTally tally_;
  double last_memory_ = 0;
  std::int64_t last_memory_step_ = 0;
  ResidentMemory memory_;
  std::optional<std::int64_t> last_pair_;
  std::vector<stats::PairStats> pairs_;
  std::optional<bool> told_training_;
  std::optional<bool> told_cleared_;
  std::vector<std::uint8_t> told_states_;  // of all parameters, as they were told of last
  std::map<std::string, double> told_parameters_;
  LossTurns losses_;
  bool told_losses_ = false;
  bool told_turns_ = false;
};

}  // namespace osler::monitor
