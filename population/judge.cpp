// What a training lost by its fault, measured against its repaired twin.
#include "judge.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace osler::population {
namespace {

/// Least progress of a twin, as a share of where it began, for a comparison to mean anything.
constexpr double kLeastProgress = 0.05;
/// The same for a draw that is to be called healthy without a twin to compare it with.
constexpr double kHealthyProgress = 0.15;
/// Share of a probe's progress that a healthy draw may lack.
constexpr double kProbeGain = 0.25;

/// The loss of a network that knows nothing: what it started with, or chance where that is less.
double ignorance(const Recipe& recipe, const History& history) {
  const double chance = chance_loss(recipe);
  return chance > 0 ? std::min(chance, history.untrained.loss) : history.untrained.loss;
}

double worst_finite(double value) {
  return std::isfinite(value) ? std::min(value, 10.0) : 10.0;
}

/// Lost progress by loss: (run - reference) over (ignorance - reference).
double lost_by_loss(double start, double run, double reference) {
  return worst_finite((run - reference) / (start - reference));
}

bool has_rising_metric(const Recipe& recipe) {
  return recipe.metric != Metric::none && recipe.metric != Metric::perplexity;
}

double metric_start(const Recipe& recipe, const History& history) {
  if (recipe.metric == Metric::r2) return 0;
  return recipe.metric == Metric::auc ? 0.5 : history.untrained.metric;
}

bool learned(double start, double end, double least = kLeastProgress) {
  return std::isfinite(end) && start - end > least * std::abs(start);
}

std::string_view verdict_of(double harm) {
  if (harm >= kSickFrom) return "sick";
  return harm < kHealthyBelow ? "healthy" : "undecidable";
}

double mean(const std::vector<double>& values, std::size_t from, std::size_t to) {
  double sum = 0;
  for (std::size_t i = from; i < to; ++i) sum += values[i];
  return sum / static_cast<double>(std::max<std::size_t>(1, to - from));
}

/// A curve in twelve pieces.
std::vector<double> pieces(const std::vector<double>& values) {
  const std::size_t count = std::min<std::size_t>(12, values.size());
  std::vector<double> means;
  for (std::size_t i = 0; i < count; ++i) {
    means.push_back(mean(values, i * values.size() / count, (i + 1) * values.size() / count));
  }
  return means;
}

/// The share of a curve's best gain that is lost again at its end.
double rise(const std::vector<double>& values) {
  const std::vector<double> means = pieces(values);
  if (means.size() < 3) return 0;
  const double best = *std::min_element(means.begin(), means.end());
  const double gain = std::max(means.front() - best, 0.05 * std::abs(means.front()));
  return (means.back() - best) / gain;
}

}  // namespace

Judgement judge_planted(const Recipe& recipe, const History& run, const History& twin, Claim claim) {
  Judgement judgement;
  const double start = ignorance(recipe, twin);
  if (!learned(start, twin.final.loss)) {
    judgement.reason = "the twin did not learn";
    return judgement;
  }
  judgement.drift = lost_by_loss(start, run.final.loss, run.best.loss);
  judgement.harm_loss = lost_by_loss(start, run.final.loss, twin.final.loss);
  const double metric_gain = twin.final.metric - metric_start(recipe, twin);
  if (has_rising_metric(recipe) && metric_gain > 0.05) {
    judgement.harm_metric = worst_finite((twin.final.metric - run.final.metric) / metric_gain);
  }
  judgement.harm = std::max(judgement.harm_loss, judgement.harm_metric);
  if (claim.misleads) {
    judgement.misled = worst_finite(std::abs(run.logged_final - run.final.loss) / (start - twin.final.loss));
    if (has_rising_metric(recipe) && metric_gain > 0.05) {
      const double apart = std::abs(run.logged_metric - run.final.metric) / metric_gain;
      judgement.misled = std::max(judgement.misled, worst_finite(apart));
    }
    judgement.verdict = verdict_of(judgement.misled);
    judgement.reason = "how far the logged validation is from the truth";
  } else if (!run.finite || run.nonfinite_from >= 0) {
    judgement.verdict = "sick";
    judgement.reason = "not finite";
  } else {
    judgement.verdict = verdict_of(judgement.harm);
    judgement.reason = "harm against the twin";
  }
  if (claim.by_fact && judgement.verdict == "healthy") judgement.verdict = "undecidable";
  return judgement;
}

Judgement judge_healthy(const Recipe& recipe, const History& run, const std::vector<History>& probes) {
  Judgement judgement;
  const double start = ignorance(recipe, run);
  if (!run.finite || run.nonfinite_from >= 0) {
    judgement.reason = "a draw meant to be healthy is not finite";
    return judgement;
  }
  if (!learned(start, run.final.loss, kHealthyProgress)) {
    judgement.reason = "a draw meant to be healthy hardly learned";
    return judgement;
  }
  judgement.drift = lost_by_loss(start, run.final.loss, run.best.loss);
  if (judgement.drift >= kSickFrom) {
    judgement.reason = "a draw meant to be healthy lost what it had learned";
    return judgement;
  }
  for (const History& probe : probes) {
    if (!learned(start, probe.final.loss)) continue;
    judgement.harm_loss = std::max(judgement.harm_loss, lost_by_loss(start, run.final.loss, probe.final.loss));
  }
  judgement.harm = judgement.harm_loss;
  if (judgement.harm >= kProbeGain) {
    judgement.reason = "another rate does far better";
    return judgement;
  }
  judgement.verdict = "healthy";
  judgement.reason = probes.empty() ? "nothing was planted" : "nothing was planted, and no other rate does far better";
  return judgement;
}

bool curve_shows(const Recipe& recipe, const History& run, const Style& style) {
  if (run.nonfinite_from >= 0 || !run.finite || run.steps.empty()) return true;
  std::vector<double> losses;
  for (const Step& step : run.steps) losses.push_back(step.loss);
  const std::vector<double> means = pieces(losses);
  const double first = losses.front();
  const double start = chance_loss(recipe) > 0 && !recipe.sum ? std::min(first, chance_loss(recipe)) : first;
  const double gained = start - means.back();
  if (gained < kLeastProgress * std::abs(start)) return true;  // stuck, or above where it began
  if (rise(losses) > 0.2) return true;
  if (means.size() > 3) {
    const double late = means[means.size() - 3] - means.back();
    if (late > 0.15 * gained) return true;  // it was far from done
  }
  if (!style.validation) return false;
  std::vector<double> held_out;
  for (const Look& look : run.looks) held_out.push_back(look.loss);
  if (rise(held_out) > 0.2) return true;
  return held_out.back() - means.back() > 0.4 * gained;
}

}  // namespace osler::population
