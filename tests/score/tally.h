// The tally: counts over scored runs, and the figures made from them.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "score/subject.h"

namespace osler::score {

/// How one run came out.
enum class Call {
  hit,          ///< failed, and an accepted finding was reported
  miss,         ///< failed, and none was
  clean,        ///< healthy, and no untrue warning
  false_alarm,  ///< healthy, and a warning or worse that the label does not allow
  open,         ///< the label is undecided
};
[[nodiscard]] Call call_of(const Outcome& outcome);
[[nodiscard]] std::string_view to_string(Call call);

/// Whether the label accepts or tolerates a finding.
[[nodiscard]] bool is_true(const simulate::Truth& truth, const std::string& id);
/// Warnings and worse that neither the accepted nor the tolerated ids of the label cover.
[[nodiscard]] std::vector<const Observation*> untrue(const Outcome& outcome);
/// Whether an accepted finding was reported at warning or above (a hit may also be a note).
[[nodiscard]] bool warned(const Outcome& outcome);
/// The position of the right cause among those reported, from 0; nothing when it is absent or unknown.
[[nodiscard]] std::optional<std::size_t> cause_rank(const Outcome& outcome);
/// Whether the first step of the main finding lies where the label says; nothing when it says nothing or it was missed.
[[nodiscard]] std::optional<bool> well_dated(const Outcome& outcome);

/// Counts for one finding, or for one group of runs.
struct FindingTally {
  std::size_t expected = 0;       ///< runs whose main finding it is
  std::size_t found = 0;          ///< of those, with any accepted finding
  std::size_t found_exactly = 0;  ///< of those, with this very finding
  std::size_t reported = 0;       ///< warnings or worse of this finding on decided runs
  std::size_t reported_true = 0;  ///< of those, where the label allows it
};

/// Counts for one group of runs.
struct GroupTally {
  std::size_t failed = 0;
  std::size_t hits = 0;
  std::size_t warned = 0;  ///< hits at warning or above
  std::size_t healthy = 0;
  std::size_t false_alarms = 0;
  std::size_t causes_known = 0;
  std::size_t cause_first = 0;
  std::size_t cause_in_three = 0;
  std::size_t dated = 0;
  std::size_t dated_well = 0;
  std::size_t unreadable = 0;
};

/// One row of the reliability table.
struct ReliabilityBin {
  double from = 0;
  double to = 1;
  std::size_t count = 0;
  std::size_t right = 0;
  double confidence_sum = 0;
};

/// The rows of the table, empty.
[[nodiscard]] std::vector<ReliabilityBin> empty_bins();
/// Counts one confidence, and whether it was right, into its row.
void count_into(std::vector<ReliabilityBin>& bins, double confidence, bool right);

/// Everything counted over a set of outcomes.
struct Tally {
  GroupTally all;       ///< runs with a certain label
  GroupTally doubtful;  ///< runs whose annotator was not sure
  std::map<std::string, GroupTally> by_label;
  std::map<std::string, GroupTally> by_family;
  std::map<std::string, FindingTally> by_finding;
  std::vector<ReliabilityBin> reliability;
  std::map<std::string, std::map<std::string, std::size_t>> causes_said;  ///< true cause -> first cause reported
};
[[nodiscard]] Tally tally(const std::vector<const Outcome*>& outcomes);

/// `part / whole`, and 1 for nothing out of nothing.
[[nodiscard]] double share(std::size_t part, std::size_t whole);

}  // namespace osler::score
