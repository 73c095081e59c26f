// The tally: counts over scored runs, and the figures made from them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "score/subject.h"

namespace osler::score {

/// How one run came out. Only warnings and worse count: to its reader, a report with nothing but notes says "healthy".
enum class Call {
  found,        ///< sick, and a finding that is right was reported
  missed,       ///< sick, and none was
  clean,        ///< healthy, and nothing untrue was reported
  false_alarm,  ///< healthy, and something was reported that the label does not allow
  open,         ///< the label is undecided
};
[[nodiscard]] Call call_of(const Outcome& outcome);
[[nodiscard]] std::string_view to_string(Call call);

/// Whether the label accepts or tolerates a finding.
[[nodiscard]] bool is_true(const simulate::Truth& truth, const std::string& id);
/// Warnings and worse that the label does not cover.
[[nodiscard]] std::vector<const Observation*> untrue(const Outcome& outcome);
/// Whether the report has a note.
[[nodiscard]] bool has_note(const Outcome& outcome);
/// The position of the right cause among those reported, from 0; nothing when it is absent or unknown.
[[nodiscard]] std::optional<std::size_t> cause_rank(const Outcome& outcome);
/// Whether the trouble is said to begin where the label says, by the main finding or else by the worst that is right;
/// nothing when the label says nothing or the run was not found.
[[nodiscard]] std::optional<bool> well_dated(const Outcome& outcome);

/// Counts for one finding.
struct FindingTally {
  std::size_t expected = 0;       ///< sick runs whose main finding it is
  std::size_t found = 0;          ///< of those, found by any finding that is right
  std::size_t found_exactly = 0;  ///< of those, with this very finding as a warning or worse
  std::size_t reported = 0;       ///< warnings or worse of this finding on decided runs
  std::size_t reported_true = 0;  ///< of those, where the label allows it
};

/// Counts for one group of runs.
struct GroupTally {
  std::size_t sick = 0;
  std::size_t found = 0;
  std::size_t showing = 0;  ///< sick runs whose log can hold evidence
  std::size_t showing_found = 0;
  std::size_t healthy = 0;
  std::size_t false_alarms = 0;
  std::size_t faultless = 0;  ///< healthy runs in which no fault was planted, which one did no harm in the others
  std::size_t faultless_alarms = 0;  ///< of them, those with a false alarm
  std::size_t with_note = 0;         ///< healthy runs with a note
  std::size_t causes_known = 0;      ///< sick runs of which the cause is known
  std::size_t cause_first = 0;
  std::size_t cause_in_three = 0;
  std::size_t found_causes_known = 0;  ///< the same of the runs that were found
  std::size_t found_cause_first = 0;
  std::size_t found_cause_in_three = 0;
  std::size_t dated = 0;
  std::size_t dated_well = 0;
  std::size_t logs = 0;
  std::size_t unread = 0;    ///< logs that could not be read
  std::size_t unjudged = 0;  ///< logs that were read and called too little to judge
};

/// One row of a reliability table.
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
/// The expected calibration error: how far what is said lies from what is right, averaged over the rows by their
/// counts. 0 for an empty table.
[[nodiscard]] double calibration_error(const std::vector<ReliabilityBin>& bins);

/// Everything counted over a set of outcomes.
struct Tally {
  GroupTally all;       ///< runs with a certain label
  GroupTally doubtful;  ///< runs whose annotator was not sure
  std::map<std::string, GroupTally> by_label;
  std::map<std::string, GroupTally> by_family;
  std::map<std::string, GroupTally> by_domain;
  std::map<std::string, GroupTally> by_cause;  ///< sick runs by each cause that was planted or is known
  std::map<std::string, FindingTally> by_finding;
  std::vector<ReliabilityBin> findings_reliability;  ///< warnings and worse on decided runs
  std::vector<ReliabilityBin> causes_reliability;    ///< the first three causes, where one is known
  std::map<std::string, std::map<std::string, std::size_t>> causes_said;  ///< true cause -> first cause reported
};
[[nodiscard]] Tally tally(const std::vector<const Outcome*>& outcomes);

/// One figure of a group: a share with its counts.
struct Figure {
  std::string_view id;     ///< "false_alarms"
  std::string_view words;  ///< "healthy runs with a false alarm"
  std::size_t part = 0;
  std::size_t whole = 0;
};
/// The figures of a group that rest on at least one run.
[[nodiscard]] std::vector<Figure> figures(const GroupTally& group);

/// `part / whole`, and 1 for nothing out of nothing.
[[nodiscard]] double share(std::size_t part, std::size_t whole);
/// Wilson's interval for a share, at 95 %.
[[nodiscard]] std::pair<double, double> wilson(std::size_t part, std::size_t whole);

}  // namespace osler::score
