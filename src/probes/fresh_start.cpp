// Comparing short trainings from the same fresh weights.
#include "probes/fresh_start.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "probes/memorising.h"

namespace osler::probes {
namespace {

using Outcome = Experiment::Outcome;

constexpr std::size_t kLastShare = 5;   // the last fifth of an arm counts
constexpr double kErrors = 2;           // standard errors that a difference must exceed
constexpr double kLearned = 0.02;       // of the first loss: less is nothing learned
constexpr double kClearlyBetter = 0.2;  // of what the better rate learned

/// How much lower the second is; zero when that may be chance.
double fall(const LossLevel& from, const LossLevel& to) {
  const double difference = from.mean - to.mean;
  return difference > kErrors * std::hypot(from.error, to.error) ? difference : 0;
}

std::string in_words(const FreshArm& arm) {
  return std::isfinite(arm.level.mean) ? fmt::format("{:.4g} at {}", arm.level.mean, arm.words)
                                       : fmt::format("beyond all numbers at {}", arm.words);
}

void write_losses(const FreshArm& arm, std::size_t steps, Experiment& experiment) {
  const double margin = kErrors * arm.level.error;
  experiment.values.push_back({arm.name, arm.level.mean, arm.level.mean - margin, arm.level.mean + margin});
  std::vector<double> losses = arm.losses;
  losses.resize(steps, std::numeric_limits<double>::quiet_NaN());
  experiment.columns.push_back({arm.name, std::move(losses)});
}

}  // namespace

LossLevel level_of(std::span<const double> losses) {
  const auto count = static_cast<double>(losses.size());
  const double mean = std::accumulate(losses.begin(), losses.end(), 0.0) / count;
  if (!std::isfinite(mean)) return {};
  double squares = 0;
  for (const double loss : losses) squares += (loss - mean) * (loss - mean);
  return {mean, count > 1 ? std::sqrt(squares / (count - 1) / count) : 0};
}

bool FreshTrial::learned(const FreshArm& arm) const {
  return fall(first_, arm.level) > kLearned * std::abs(first_.mean);
}

/// Whether a training comes clearly further than the one at the present rate.
bool FreshTrial::clearly_better(const FreshArm& arm) const {
  return learned(arm) && fall(arms_[1].level, arm.level) > kClearlyBetter * (first_.mean - arm.level.mean);
}

const FreshArm& FreshTrial::best() const {
  return *std::min_element(arms_.begin(), arms_.end(),
                           [](const FreshArm& a, const FreshArm& b) { return a.level.mean < b.level.mean; });
}

std::optional<FreshArm> FreshTrial::next() {
  if (arms_.empty()) return FreshArm{"loss-tenth", "a tenth of the rate", 0.1};
  if (arms_.size() == 1) return FreshArm{"loss-present", "the rate itself", 1};
  const FreshArm& newest = arms_.back();
  const bool beyond = newest.factor > 1;
  const bool broken = !std::isfinite(newest.level.mean);
  const bool clear = beyond && (broken || (learned(best()) && &best() != &newest));
  const double factor = beyond ? 10 * newest.factor : 10;
  if (!clear && factor <= largest_) {
    return FreshArm{fmt::format("loss-{}-times", factor), fmt::format("{} times the rate", factor), factor};
  }
  if (free_ || dropped_) return std::nullopt;
  return FreshArm{"loss-unregularised", "the rate itself, without weight decay and dropout", 1, false};
}

void FreshTrial::trained(FreshArm arm, std::vector<double> losses) {
  arm.losses = std::move(losses);
  if (arm.losses.size() == steps_ && std::isfinite(arm.losses.back())) {
    const std::size_t counted = std::max<std::size_t>(2, steps_ / kLastShare);
    arm.level = level_of(std::span(arm.losses).last(std::min(counted, arm.losses.size())));
  }
  if (arm.regularised) {
    arms_.push_back(std::move(arm));
  } else {
    free_ = std::move(arm);
  }
}

void FreshTrial::judge(Experiment& experiment) const {
  std::vector<std::string> figures;
  for (const FreshArm& arm : arms_) figures.push_back(in_words(arm));
  experiment.verdict =
      fmt::format("From fresh weights the loss went from {:.4g} to {}", first_.mean, fmt::join(figures, ", "));
  if (classes_ && best().level.mean < 0) {
    experiment.verdict +=
        ": the loss of a classifier cannot be below zero, so its sign is wrong. Look at that before the rate.";
    return;
  }
  if (falls_without_end(first_.mean, best().level.mean)) {
    experiment.verdict +=
        ": it falls below zero without end, so its sign is wrong, or nothing bounds it. Look at that before the rate.";
    return;
  }
  const bool freer = free_ && clearly_better(*free_);
  if (!learned(best()) && !freer) {
    experiment.verdict += ": none of these rates learns anything.";
    return;
  }
  const bool other_rate = clearly_better(best());
  experiment.outcome = other_rate || freer ? Outcome::failed : Outcome::passed;
  experiment.verdict +=
      other_rate ? fmt::format(": {} is the better start.", best().words) : ": the rate itself does as well as any.";
  if (freer) {
    experiment.verdict +=
        fmt::format(" Without weight decay and dropout it comes to {:.4g} at the rate itself.", free_->level.mean);
  }
  const bool overtaken = !std::isfinite(now_.mean) || fall(now_, best().level) > kLearned * std::abs(now_.mean);
  if (overtaken) {
    experiment.verdict += fmt::format(" The whole training has come to no more than {:.4g}.", now_.mean);
  }
  experiment.values.push_back({"best-factor", other_rate ? best().factor : 1, {}, {}});
  experiment.values.push_back({"overtakes", overtaken ? 1.0 : 0.0, {}, {}});
  if (free_) experiment.values.push_back({"regularisation-hinders", freer ? 1.0 : 0.0, {}, {}});
}

void FreshTrial::write(Experiment& experiment) const {
  experiment.values = {{"rate", rate_, {}, {}}, {"now", now_.mean, {}, {}}, {"first-loss", first_.mean, {}, {}}};
  std::vector<double> steps(steps_);
  std::iota(steps.begin(), steps.end(), 0.0);
  experiment.columns = {{"step", std::move(steps)}};
  for (const FreshArm& arm : arms_) write_losses(arm, steps_, experiment);
  if (free_) write_losses(*free_, steps_, experiment);
  judge(experiment);
}

}  // namespace osler::probes
