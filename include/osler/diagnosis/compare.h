// compare(): where two runs part, and what differs between them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/diagnosis/report.h"
#include "osler/run/role.h"
#include "osler/run/run.h"

namespace osler {

/// What two runs are laid side by side along.
enum class Axis { automatic, step, epoch, tokens };
[[nodiscard]] std::string_view to_string(Axis axis);
[[nodiscard]] std::optional<Axis> axis_from(std::string_view name);

/// What a user may change about a comparison.
struct CompareOptions {
  Axis axis = Axis::automatic;  ///< automatic: steps, unless the runs take different strides through the data
  DiagnosisOptions diagnosis;
  double score = 4;            ///< standard errors between the runs at which they have parted
  double effect_share = 0.02;  ///< least difference that matters, as a share of what the runs gained
  double early_share = 0.9;    ///< a second run that ends before this share of the first one's way has stopped early
  bool still_grows = false;    ///< the second run is still being written: that it is shorter says nothing yet
};

/// What a curve does in the last of its phases.
struct Ending {
  enum class Motion { improves, stands, worsens };
  Motion motion = Motion::stands;
  double since = 0;  ///< the run's own step at which the phase begins
};
[[nodiscard]] std::string_view to_string(Ending::Motion motion);

/// One run's side of a compared series.
struct Side {
  std::string series;
  double start = 0;
  double best = 0;
  double end = 0;                    ///< at the end of the common range
  double slope = 0;                  ///< change over the last half of the common range, along the trend
  std::optional<Ending> ending;      ///< nothing when the curve is too short to have phases
  std::optional<double> floor;       ///< of a loss: where its descent is heading, when a decay fits
  double last = 0;                   ///< the level at the run's own end, which may lie beyond the common range
  std::optional<double> lost_after;  ///< the run's own step of the last finite value, when none followed to the end
};

/// Where a series of one run leaves that of the other.
struct Parting {
  double at = 0;     ///< on the common axis
  double score = 0;  ///< standard errors between them there
  double a = 0;      ///< levels there
  double b = 0;
};

/// One series that both runs have.
struct SeriesComparison {
  Role role = Role::other;
  bool higher_is_better = false;
  Side a;
  Side b;
  double to = 0;                          ///< the end of the range in which both have finite values of this series
  double difference = 0;                  ///< b - a at the end of the common range
  double difference_score = 0;            ///< the same in standard errors
  std::optional<Parting> parting;         ///< nothing when they stay together beyond noise
  std::optional<double> identical_until;  ///< up to here both have the very same values
};

/// A configuration entry that differs; empty where a run does not have it.
struct ConfigDifference {
  std::string key;
  std::string a;
  std::string b;
};

/// How the second run stands against the first.
enum class Standing { same, better, worse, unclear };
[[nodiscard]] std::string_view to_string(Standing standing);

/// What the standing rests on.
enum class StandingReason { difference, crashed, nonfinite, critical_finding, stopped_early };
[[nodiscard]] std::string_view to_string(StandingReason reason);

/// Everything there is to say about two runs.
struct Comparison {
  Report a;
  Report b;
  Axis axis = Axis::step;
  double from = 0;  ///< the common range
  double to = 0;
  std::vector<SeriesComparison> series;  ///< learning rate, gradient norm and objectives first
  std::optional<std::size_t> first;      ///< the series in which they part first
  std::vector<ConfigDifference> config;  ///< what steers training first
  std::vector<std::string> only_a;       ///< findings that the other run does not have
  std::vector<std::string> only_b;
  Standing standing = Standing::unclear;               ///< of b against a, by the validation loss or the best there is
  StandingReason reason = StandingReason::difference;  ///< a run that died or fell ill is worse whatever the difference
  std::string verdict;                                 ///< the standing as a sentence; empty when unclear
  std::string headline;
  std::vector<std::string> facts;  ///< sentences that follow from the numbers
};

/// Compares run `b` with run `a`, which may be a known good baseline. Fails when the options are wrong or the runs have
/// nothing in common.
[[nodiscard]] Result<Comparison> compare(const Run& a, const Run& b, const CompareOptions& options = {});

}  // namespace osler
