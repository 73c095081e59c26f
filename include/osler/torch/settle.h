// settle(): runs the experiments that decide between the causes a report leaves open.
#pragma once

#include "osler/probes/settle.h"
#include "osler/run/run.h"
#include "osler/torch/monitor.h"
#include "osler/torch/training.h"

namespace osler::torch {

using probes::describe;
using probes::OddsShift;
using probes::Settled;
using probes::SettleOptions;
using probes::Tested;

/// Tests the leading causes of a monitored run against each other, the most telling experiment first, writes each
/// result to the run and weighs again after each. Model, optimizer, random numbers and mode are as before afterwards.
[[nodiscard]] Settled settle(Monitor& monitor, const Training& training, const SettleOptions& options = {},
                             const Limits& limits = {});
/// The same for a run that is not monitored any more; the experiments are written to it.
[[nodiscard]] Settled settle(Run& run, const Training& training, const SettleOptions& options = {},
                             const Limits& limits = {});

}  // namespace osler::torch
