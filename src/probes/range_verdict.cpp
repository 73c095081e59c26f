// The judgement of a range test in words and numbers.
#include "probes/range_verdict.h"

#include <fmt/format.h>

namespace osler::probes {
namespace {

constexpr double kFarOff = 10;  // times the suggestion, or a part of it: the present rate is wrong

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
  if (high) {
    experiment.verdict += fmt::format(". The present one, {:.2g}, is {:.0f} times that", present, present / suggestion);
  } else if (low) {
    experiment.verdict +=
        fmt::format(". The present one, {:.2g}, is {:.0f} times smaller", present, suggestion / present);
  }
  experiment.verdict += ".";
}

}  // namespace

void write_range(std::span<const double> rates, const std::vector<RangePass>& passes, double present,
                 const RangeCurveOptions& options, const std::optional<std::string>& batches, Experiment& experiment) {
  const RangeJudgement judgement = judge_range(rates, passes, options);
  write_values(judgement, present, experiment);
  write_verdict(judgement, present, experiment);
  const auto length = static_cast<std::ptrdiff_t>(judgement.loss.size());
  experiment.columns = {{"learning-rate", {rates.begin(), rates.begin() + length}},
                        {"loss", judgement.loss},
                        {"smoothed", judgement.smoothed}};
  if (!batches) return;
  experiment.checks.push_back({"batches", Experiment::Outcome::failed, *batches});
  experiment.verdict += " The batches may not be representative: " + *batches;
}

}  // namespace osler::probes
