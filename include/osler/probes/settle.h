// Settling which cause it is: what was tested, and how the odds moved.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "osler/diagnosis/report.h"
#include "osler/run/experiment.h"

namespace osler::probes {

/// How much may be spent on an answer, and when there is one.
struct SettleOptions {
  double share = 0.2;                 ///< of the steps of the run so far that all experiments together may cost
  std::optional<std::int64_t> steps;  ///< instead of `share`: that many passes forward and backward
  std::size_t leading = 5;            ///< causes that the choice of experiments looks at
  double lead = 3;                    ///< log-odds between the first two causes at which the question is settled
};

/// How the odds of a cause moved.
struct OddsShift {
  std::string cause;
  double before = 0;  ///< probabilities; 0 when it was not among the causes
  double after = 0;
};

/// One experiment that was run to settle the question.
struct Tested {
  Experiment experiment;
  std::vector<std::string> between;  ///< the causes it was to tell apart
  std::int64_t cost = 0;             ///< in passes forward and backward
  std::vector<OddsShift> shifts;     ///< the leading causes before and after
};

/// What settle() did and what is known now.
struct Settled {
  Report before;
  Report report;  ///< with the experiments in it
  std::vector<Tested> tests;
  std::int64_t budget = 0;  ///< in passes forward and backward
  std::int64_t cost = 0;
  std::string ended;  ///< why no more was tested
};

/// What settling needs of a training.
struct SettleMeans {
  /// An experiment and what it cost.
  struct Spent {
    Experiment experiment;
    std::int64_t passes = 0;  ///< forward and backward
  };
  /// Runs a probe on about `passes` passes forward and backward, and never on more than `left`.
  std::function<Spent(std::string_view probe, std::int64_t passes, std::int64_t left)> run;
  std::function<void(const Experiment& experiment)> record;  ///< writes a result to the run
  std::function<Report()> weigh;                             ///< diagnoses the run anew
  std::function<std::string()> ended;                        ///< why nothing more may be tried; empty: go on
};

/// Tests the leading causes of a run of `steps` steps against each other, the most telling experiment first.
[[nodiscard]] Settled settle(const SettleMeans& means, std::int64_t steps, const SettleOptions& options = {});

/// What was tested and how the odds moved, as a table of text.
[[nodiscard]] std::string describe(const Settled& settled);

}  // namespace osler::probes
