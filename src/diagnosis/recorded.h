// Recorded: what a monitor inside the process told about one thing, and the judgements that several findings share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/observe.h"
#include "diagnosis/patient.h"

namespace osler {

/// One series of a monitor, boiled down.
struct Recorded {
  std::string series;
  double points = 0;
  double early = 0;  ///< median of the first third
  double late = 0;   ///< median of the last third
  double lowest = 0;
  double highest = 0;
  double last = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
};
/// The series called `name`; nothing when it is not there or holds no finite value.
[[nodiscard]] std::optional<Recorded> recorded(const Patient& patient, std::string_view name);
/// The share of its values above `limit`, and the step of the first of them.
[[nodiscard]] double share_above(const Patient& patient, const Recorded& series, double limit);
[[nodiscard]] std::int64_t first_above(const Patient& patient, const Recorded& series, double limit);
/// What follows `beginning` in the names of all series that start with it.
[[nodiscard]] std::vector<std::string> recorded_under(const Patient& patient, std::string_view beginning);

/// The same of one layer's activations.
struct LayerRecord {
  std::string layer;
  Recorded record;
};
/// All layers with that statistic of their activations and at least `fewest` values, in the network's order.
[[nodiscard]] std::vector<LayerRecord> activation_records(const Patient& patient, std::string_view statistic,
                                                          double fewest);

/// When a layer's late value is too large (or too small), and how to say it.
struct LayerRule {
  std::string_view statistic;
  bool too_large = true;
  double warning = 0;
  double critical = 0;  ///< not reached at all when it is the same as `warning`
  double fewest = 0;
  std::function<std::string(const std::string& layer, double value)> say;  ///< a clause about the worst layer
  std::string_view missing;          ///< what to say when no layer has the statistic
  bool note_while_learning = false;  ///< short of critical, a training that clearly improves makes it a note
};
/// Looks at the late value of every layer.
[[nodiscard]] Verdict judge_layers(const Patient& patient, const LayerRule& rule);

/// A check whose values are 0 when all is well: found when more than `share` of them are above `limit`.
struct CheckRule {
  std::string_view series;
  double limit = 0.5;
  double share = 0;
  Severity severity = Severity::warning;
  double confidence = 0.95;
  std::string_view missing;
  std::string_view summary;
};
[[nodiscard]] Verdict judge_check(const Patient& patient, const CheckRule& rule);

}  // namespace osler
