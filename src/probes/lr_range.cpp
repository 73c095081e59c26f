// Running the range test on a training that is known by two functions.
#include "osler/probes/lr_range.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "probes/range_verdict.h"

namespace osler::probes {
namespace {

/// What is wrong with the options; empty when nothing is.
std::string fault_of(const RangeTraining& training, const RangeTestOptions& options) {
  if (!training.step || !training.restore) return "the training needs both a step and a way back";
  if (!(std::isfinite(options.start) && options.start > 0)) return "start must be above 0";
  if (!(std::isfinite(options.end) && options.end > options.start)) return "end must be above start";
  if (options.steps < 20) return "steps must be at least 20: fewer cannot be read";
  if (options.repeats < 1) return "repeats must be at least 1";
  if (!(options.smoothing > 0 && options.smoothing <= 1)) return "smoothing must be above 0 and at most 1";
  if (!(options.divergence > 1)) return "divergence must be above 1";
  return {};
}

/// Puts the training back when a pass is over, however it ends.
class WayBack {
 public:
  explicit WayBack(const std::function<void()>& restore) : restore_(restore) {}
  ~WayBack() { restore_(); }
  WayBack(const WayBack&) = delete;
  WayBack& operator=(const WayBack&) = delete;

 private:
  const std::function<void()>& restore_;
};

RangePass run_pass(const RangeTraining& training, const std::vector<double>& rates, const RangeCurveOptions& curve) {
  const WayBack way_back(training.restore);
  Divergence divergence(curve);
  RangePass losses;
  for (const double rate : rates) {
    const double loss = training.step(rate);
    if (divergence.add(loss)) break;
    losses.push_back(loss);
  }
  return losses;
}

}  // namespace

Result<Experiment> lr_range_test(const RangeTraining& training, const RangeTestOptions& options) {
  if (const std::string fault = fault_of(training, options); !fault.empty()) {
    return Error{ErrorCode::invalid_argument, "lr-range-test: " + fault, ""};
  }
  Experiment experiment;
  experiment.probe = "lr-range-test";
  experiment.outcome = Experiment::Outcome::undecided;
  RangeCurveOptions curve;
  curve.smoothing = options.smoothing;
  curve.divergence = options.divergence;
  const std::vector<double> rates = range_rates(options.start, options.end, options.steps, options.linear);
  std::vector<RangePass> passes;
  for (std::size_t i = 0; i < options.repeats; ++i) {
    passes.push_back(run_pass(training, rates, curve));
    if (!passes.back().empty()) continue;
    experiment.verdict = "No learning rate can be suggested: the first loss is not finite, before any step.";
    return experiment;
  }
  write_range(rates, passes, training.present, curve, std::nullopt, experiment);
  return experiment;
}

}  // namespace osler::probes
