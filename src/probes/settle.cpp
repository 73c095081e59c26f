// Choosing experiments by what they would say of the leading causes, and weighing again after each.
#include "osler/probes/settle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "diagnosis/experiments.h"
#include "osler/diagnosis/catalogue.h"

namespace osler::probes {
namespace {

/// One kind of experiment and its price in passes forward and backward.
struct Choice {
  std::string_view probe;
  std::int64_t least = 0;  ///< below which it is not worth trying
  std::int64_t usual = 0;  ///< what it costs when there is plenty
};

constexpr Choice kChoices[] = {
    {"lr-range-test", 40, 300}, {"overfit-one-batch", 480, 4000}, {"sharpness", 20, 150},
    {"curvature", 48, 200},     {"gradient-noise-scale", 8, 48},  {"signal-propagation", 4, 8},
    {"checkup", 150, 300},      {"fresh-start", 246, 906},
};

/// The findings that rest on a probe.
const std::multimap<std::string_view, std::string_view>& findings_of_probes() {
  static const std::multimap<std::string_view, std::string_view> all = {
      {"sharpness", "sharp-minimum"},
      {"curvature", "saddle-point"},
      {"curvature", "edge-of-stability"},
      {"overfit-one-batch", "cannot-overfit-one-batch"}};
  return all;
}

/// How far a probe can move a cause: the heaviest thing it might say, in log-odds.
double power(std::string_view probe, std::string_view cause) {
  double heaviest = 0;
  for (const ExperimentRow& row : experiment_rows()) {
    if (row.probe == probe && row.cause == cause) heaviest = std::max(heaviest, std::abs(row.weight));
  }
  const Cause* known = find_cause(cause);
  if (known == nullptr) return heaviest;
  const auto [first, last] = findings_of_probes().equal_range(probe);
  for (auto finding = first; finding != last; ++finding) {
    for (const Pull& pull : known->pulls) {
      if (pull.finding == finding->second) heaviest = std::max(heaviest, std::abs(pull.if_found));
    }
  }
  return heaviest;
}

double log_odds(double probability) {
  constexpr double kEnd = 1e-6;
  const double inside = std::clamp(probability, kEnd, 1 - kEnd);
  return std::log(inside / (1 - inside));
}

double probability_of(const Report& report, const std::string& cause) {
  const auto found = std::find_if(report.causes.begin(), report.causes.end(),
                                  [&](const WeighedCause& each) { return each.cause == cause; });
  return found == report.causes.end() ? 0 : found->probability;
}

/// The session: what is left to spend, what was tried, what is known.
class Session {
 public:
  Session(const SettleMeans& means, const SettleOptions& options) : means_(means), options_(options) {}

  Settled run(std::int64_t steps) {
    settled_.before = means_.weigh();
    settled_.report = settled_.before;
    settled_.budget = options_.steps.value_or(static_cast<std::int64_t>(options_.share * static_cast<double>(steps)));
    for (const Experiment& known : settled_.before.experiments) tried_.insert(known.probe);
    settled_.ended = why_not_more();
    while (settled_.ended.empty()) {
      test(*choose());
      settled_.ended = why_not_more();
    }
    return std::move(settled_);
  }

 private:
  [[nodiscard]] std::int64_t left() const { return settled_.budget - settled_.cost; }

  [[nodiscard]] std::vector<WeighedCause> leading() const {
    const std::vector<WeighedCause>& all = settled_.report.causes;
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(options_.leading, all.size()))};
  }

  [[nodiscard]] std::string why_not_more() {
    if (std::string why = means_.ended(); !why.empty()) return why;
    const std::vector<WeighedCause> causes = leading();
    if (causes.empty()) return "Nothing needs an explanation.";
    const double second = causes.size() > 1 ? log_odds(causes[1].probability) : log_odds(0);
    if (!settled_.tests.empty() && log_odds(causes[0].probability) - second >= options_.lead) {
      return fmt::format("{} leads clearly.", causes[0].cause);
    }
    if (choose() != nullptr) return "";
    return affordable_left_out_ ? "What is left of the budget is too little for another experiment."
                                : "No experiment is left that would tell these causes apart.";
  }

  /// The experiment that could move the leading causes furthest, the cheaper of equals.
  [[nodiscard]] const Choice* choose() {
    const Choice* best = nullptr;
    double most = 0;
    affordable_left_out_ = false;
    for (const Choice& test : kChoices) {
      if (tried_.contains(test.probe)) continue;
      double worth = 0;
      for (const WeighedCause& cause : leading()) worth += cause.probability * power(test.probe, cause.cause);
      worth /= 1 + static_cast<double>(test.usual) / 1000;
      if (!(worth > kWorthwhile)) continue;
      if (test.least > left()) {
        affordable_left_out_ = true;
        continue;
      }
      if (worth > most) {
        most = worth;
        best = &test;
      }
    }
    return best;
  }

  void test(const Choice& test) {
    Tested tested;
    for (const WeighedCause& cause : leading()) {
      if (power(test.probe, cause.cause) > 0) tested.between.push_back(cause.cause);
    }
    const std::int64_t allowed = std::min(left(), test.usual);
    SettleMeans::Spent spent = means_.run(test.probe, allowed, left());
    tested.experiment = std::move(spent.experiment);
    tried_.emplace(test.probe);
    // Second derivatives cost without a pass of their own.
    tested.cost = test.probe == "curvature" ? std::max(spent.passes, allowed) : spent.passes;
    settled_.cost += tested.cost;
    means_.record(tested.experiment);
    Report after = means_.weigh();
    for (const WeighedCause& cause : leading()) {
      tested.shifts.push_back({cause.cause, cause.probability, probability_of(after, cause.cause)});
    }
    settled_.report = std::move(after);
    settled_.tests.push_back(std::move(tested));
  }

  static constexpr double kWorthwhile = 0.3;  // log-odds that an experiment could move, weighed by the causes' odds

  const SettleMeans& means_;
  const SettleOptions& options_;
  Settled settled_;
  std::set<std::string, std::less<>> tried_;
  bool affordable_left_out_ = false;
};

}  // namespace

Settled settle(const SettleMeans& means, std::int64_t steps, const SettleOptions& options) {
  return Session(means, options).run(steps);
}

std::string describe(const Settled& settled) {
  std::string text;
  for (const Tested& tested : settled.tests) {
    text += fmt::format("{} ({} passes; between {})\n  {}\n", tested.experiment.probe, tested.cost,
                        fmt::join(tested.between, ", "), tested.experiment.verdict);
    for (const OddsShift& shift : tested.shifts) {
      text += fmt::format("  {:<26} {:3.0f} % -> {:3.0f} %\n", shift.cause, 100 * shift.before, 100 * shift.after);
    }
  }
  return text + fmt::format("{} {} of {} passes were used.\n", settled.ended, settled.cost, settled.budget);
}

}  // namespace osler::probes
