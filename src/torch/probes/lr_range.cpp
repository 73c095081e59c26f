// Running the range test: passes with rising rates, then the judgement of their curve.
#include "osler/torch/lr_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "osler/torch/batch_check.h"
#include "probes/class_skew.h"
#include "probes/range_verdict.h"
#include "torch/probes/parameters.h"
#include "torch/probes/probe.h"
#include "torch/saved_state.h"

namespace osler::torch {
namespace {

void expect(bool right, const char* what) {
  if (!right) throw std::invalid_argument(fmt::format("lr-range-test: {}", what));
}

void check_options(const LrRangeOptions& options) {
  expect(std::isfinite(options.start) && options.start > 0, "start must be above 0.");
  expect(std::isfinite(options.end) && options.end > options.start, "end must be above start.");
  expect(options.steps >= 20, "steps must be at least 20: fewer cannot be read.");
  expect(options.repeats >= 1, "repeats must be at least 1.");
  expect(options.accumulate >= 1, "accumulate must be at least 1.");
  expect(options.smoothing > 0 && options.smoothing <= 1, "smoothing must be above 0 and at most 1.");
  expect(options.divergence > 1, "divergence must be above 1.");
}

/// The rates of an optimizer's groups, raised together.
class GroupRates {
 public:
  explicit GroupRates(::torch::optim::Optimizer& optimizer) : optimizer_(optimizer) {
    for (auto& group : optimizer.param_groups()) ratios_.push_back(group.options().get_lr());
    present_ = *std::max_element(ratios_.begin(), ratios_.end());
    // Rates that are all zero, as before a warm-up, say nothing about their ratios.
    for (double& ratio : ratios_) ratio = present_ > 0 ? ratio / present_ : 1.0;
  }
  void set(double rate) {
    for (std::size_t i = 0; i < ratios_.size(); ++i) {
      optimizer_.param_groups()[i].options().set_lr(rate * ratios_[i]);
    }
  }
  [[nodiscard]] double present() const { return present_; }

 private:
  ::torch::optim::Optimizer& optimizer_;
  std::vector<double> ratios_;
  double present_ = 0;
};

/// What makes a batch useless at any rate.
std::string fault_of(const Batch& batch) {
  if (!batch.inputs.defined() || batch.inputs.numel() == 0) return "a batch is empty";
  const BatchReport inputs = validate_batch(batch.inputs);
  if (inputs.nonfinite == 0) return {};
  return fmt::format("{} of {} input values of a batch are NaN or infinite", inputs.nonfinite, inputs.inputs);
}

probes::RangePass run_pass(const Training& training, const LrRangeOptions& options, const std::vector<double>& rates,
                           GroupRates& groups, probes::ClassSkew& skew, const Clock& clock, std::string& fault) {
  probes::RangeCurveOptions curve;
  curve.smoothing = options.smoothing;
  curve.divergence = options.divergence;
  probes::Divergence divergence(curve);
  probes::RangePass losses;
  for (const double rate : rates) {
    clock.check();
    const std::vector<Batch> batches = draw(training, options.accumulate);
    for (const Batch& batch : batches) {
      if (auto labels = class_labels(batch); !labels.empty()) skew.add(labels);
    }
    groups.set(rate);
    for (const Batch& batch : batches) {
      if (fault.empty() && batch.inputs.defined() && batch.inputs.numel() == 0) fault = fault_of(batch);
    }
    if (!fault.empty()) break;
    const double loss = optimizer_step(training, training.optimizer, batches);
    if (divergence.add(loss)) {
      // Not every loss that ends a pass was driven up by the rate.
      for (const Batch& batch : batches) {
        if (fault.empty() && !std::isfinite(loss)) fault = fault_of(batch);
      }
      if (fault.empty() && losses.empty()) fault = fmt::format("the first loss is {}, before any step", loss);
      break;
    }
    losses.push_back(loss);
  }
  return losses;
}

}  // namespace

Experiment lr_range_test(const Training& training, const LrRangeOptions& options, const Limits& limits) {
  check_options(options);
  return run_probe("lr-range-test", training, limits,
                   [&](Experiment& experiment, Preserved& preserved, const Clock& clock) {
                     const std::vector<double> rates =
                         probes::range_rates(options.start, options.end, options.steps, options.linear);
                     GroupRates groups(training.optimizer);
                     probes::ClassSkew skew(training.classes);
                     std::vector<probes::RangePass> passes;
                     std::string fault;
                     for (std::size_t i = 0; i < options.repeats; ++i) {
                       if (i > 0) {
                         // The same start, but the random numbers go on: otherwise batches drawn by them would come
                         // again.
                         const RandomState random = RandomState::now(training.model.parameters());
                         preserved.restore();
                         random.restore();
                       }
                       switch_to_training(training.model);
                       passes.push_back(run_pass(training, options, rates, groups, skew, clock, fault));
                       if (!fault.empty()) {
                         experiment.verdict = fmt::format("No learning rate can be suggested: {}.", fault);
                         experiment.checks.push_back({"batches", Experiment::Outcome::failed, fault});
                         return;
                       }
                     }
                     probes::RangeCurveOptions curve;
                     curve.smoothing = options.smoothing;
                     curve.divergence = options.divergence;
                     probes::write_range(rates, passes, groups.present(), curve, skew.problem(), experiment);
                   });
}

}  // namespace osler::torch
