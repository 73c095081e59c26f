// settle(): runs the experiments that decide between the causes a report leaves open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "osler/diagnosis/report.h"
#include "osler/run/experiment.h"
#include "osler/run/run.h"
#include "osler/torch/monitor.h"
#include "osler/torch/training.h"

namespace osler::torch {

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

/// Tests the leading causes of a monitored run against each other, the most telling experiment first, writes each
/// result to the run and weighs again after each. Model, optimizer, random numbers and mode are as before afterwards.
[[nodiscard]] Settled settle(Monitor& monitor, const Training& training, const SettleOptions& options = {},
                             const Limits& limits = {});
/// The same for a run that is not monitored any more; the experiments are written to it.
[[nodiscard]] Settled settle(Run& run, const Training& training, const SettleOptions& options = {},
                             const Limits& limits = {});

/// What was tested and how the odds moved, as a table of text.
[[nodiscard]] std::string describe(const Settled& settled);

}  // namespace osler::torch
