// Running the range test: passes with rising rates, then the judgement of their curve.
#include "osler/torch/lr_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "torch/probes/class_skew.h"
#include "torch/probes/parameters.h"
#include "torch/probes/probe.h"
#include "torch/probes/range_curve.h"
#include "torch/saved_state.h"

namespace osler::torch {
namespace {

constexpr double kFarOff = 10;  // times the suggestion, or a part of it: the present rate is wrong

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

RangePass run_pass(const Training& training, const LrRangeOptions& options, const std::vector<double>& rates,
                   GroupRates& groups, ClassSkew& skew, const Clock& clock) {
  RangeCurveOptions curve;
  curve.smoothing = options.smoothing;
  curve.divergence = options.divergence;
  Divergence divergence(curve);
  RangePass losses;
  for (const double rate : rates) {
    clock.check();
    const std::vector<Batch> batches = draw(training, options.accumulate);
    for (const Batch& batch : batches) {
      if (auto labels = class_labels(batch); !labels.empty()) skew.add(labels);
    }
    groups.set(rate);
    const double loss = optimizer_step(training, training.optimizer, batches);
    if (divergence.add(loss)) break;
    losses.push_back(loss);
  }
  return losses;
}

void write_values(const RangeJudgement& judgement, double present, Experiment& experiment) {
  auto& values = experiment.values;
  if (judgement.suggestion) {
    values.push_back({"suggestion", *judgement.suggestion, judgement.low, judgement.high});
  }
  if (judgement.readings) {
    values.push_back({"steepest", judgement.readings->steepest, {}, {}});
    values.push_back({"valley", judgement.readings->valley, {}, {}});
    values.push_back({"minimum-tenth", judgement.readings->minimum_tenth, {}, {}});
    values.push_back({"sliding-slope", judgement.readings->sliding_slope, {}, {}});
  }
  if (judgement.divergence) values.push_back({"divergence", *judgement.divergence, {}, {}});
  values.push_back({"present", present, {}, {}});
}

void write_verdict(const RangeJudgement& judgement, double present, Experiment& experiment) {
  if (!judgement.suggestion) {
    experiment.outcome = Experiment::Outcome::undecided;
    experiment.verdict = fmt::format("No learning rate can be suggested: {}.", judgement.refusal);
    return;
  }
  const double suggestion = *judgement.suggestion;
  experiment.verdict = fmt::format("A learning rate of {:.2g} is suggested (between {:.2g} and {:.2g})", suggestion,
                                   judgement.low, judgement.high);
  if (judgement.divergence) {
    experiment.verdict += fmt::format("; the loss diverges at {:.2g}", *judgement.divergence);
  }
  const bool high = present > kFarOff * suggestion && present > judgement.high;
  const bool low = present > 0 && present < suggestion / kFarOff && present < judgement.low;
  experiment.outcome = high || low ? Experiment::Outcome::failed : Experiment::Outcome::passed;
  if (high)
    experiment.verdict += fmt::format(". The present one, {:.2g}, is {:.0f} times that", present, present / suggestion);
  if (low)
    experiment.verdict +=
        fmt::format(". The present one, {:.2g}, is {:.0f} times smaller", present, suggestion / present);
  experiment.verdict += ".";
}

}  // namespace

Experiment lr_range_test(const Training& training, const LrRangeOptions& options, const Limits& limits) {
  check_options(options);
  return run_probe(
      "lr-range-test", training, limits, [&](Experiment& experiment, Preserved& preserved, const Clock& clock) {
        const std::vector<double> rates = range_rates(options.start, options.end, options.steps, options.linear);
        GroupRates groups(training.optimizer);
        ClassSkew skew(training.classes);
        std::vector<RangePass> passes;
        for (std::size_t i = 0; i < options.repeats; ++i) {
          if (i > 0) {
            // The same start, but the random numbers go on: otherwise batches drawn by them would come again.
            const RandomState random = RandomState::now(training.model.parameters());
            preserved.restore();
            random.restore();
          }
          switch_to_training(training.model);
          passes.push_back(run_pass(training, options, rates, groups, skew, clock));
        }
        RangeCurveOptions curve;
        curve.smoothing = options.smoothing;
        curve.divergence = options.divergence;
        const RangeJudgement judgement = judge_range(rates, passes, curve);
        write_values(judgement, groups.present(), experiment);
        write_verdict(judgement, groups.present(), experiment);
        const auto length = static_cast<std::ptrdiff_t>(judgement.loss.size());
        experiment.columns = {{"learning-rate", {rates.begin(), rates.begin() + length}},
                              {"loss", judgement.loss},
                              {"smoothed", judgement.smoothed}};
        if (const auto problem = skew.problem()) {
          experiment.checks.push_back({"batches", Experiment::Outcome::failed, *problem});
          experiment.verdict += " The batches may not be representative: " + *problem;
        }
      });
}

}  // namespace osler::torch
