// Softmax regression of the right cause on the reasons that a report shows, and weighing causes anew with its weights.
#include "score/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "osler/diagnosis/catalogue.h"
#include "score/calibrate.h"

namespace osler::score {
namespace {

constexpr double kMost = 3.5;          // no single finding decides alone
constexpr double kWorthWriting = 0.1;  // smaller changes are noise

/// Pulls that stay as an expert states them, and why the suite must not teach them.
struct Override {
  std::string_view cause;
  std::string_view finding;
  std::string_view reason;
};
constexpr std::array kOverrides = {
    Override{"converged", "loss-plateau", "the suite labels no run converged: healthy plateaus carry no cause"},
    Override{"lr-too-high", "loss-oscillating", "the seeds' first cause of swings"},
    Override{"too-little-data", "overfitting", "the seeds' first cause of overfitting"},
    Override{"model-too-large", "overfitting", "always labelled together with too-little-data, which must stay first"},
    Override{"vanishing-signal", "vanishing-gradients", "the seeds' first cause"},
    Override{"metric-bug", "metric-contradicts-loss", "the seeds' first cause"},
    Override{"no-clipping", "exploding-gradients", "the seeds' first cause"},
    Override{"lr-too-high", "exploding-gradients", "the seeds' second cause, after no-clipping"},
    Override{"saddle-point", "loss-plateau", "the suite holds no saddle, so that it would only learn against it"},
    Override{"lr-decayed-too-fast", "loss-plateau", "the production scenario weighs it beside saddle and convergence"},
    Override{"model-too-small", "loss-plateau",
             "a plateau alone says little of the size; the suite has many small models"},
    Override{"wrong-labels", "loss-stuck-from-start", "what is told apart by gradients that flow at a usual rate"},
    Override{"bad-initialization", "loss-stuck-from-start",
             "the seeds' first cause, behind labels when gradients flow"}};

bool overridden(std::string_view cause, std::string_view finding) {
  return std::any_of(kOverrides.begin(), kOverrides.end(),
                     [&](const Override& entry) { return entry.cause == cause && entry.finding == finding; });
}

const Observation* seen_in(const Outcome& outcome, std::string_view finding) {
  const auto at = std::find_if(outcome.findings.begin(), outcome.findings.end(),
                               [&](const Observation& seen) { return seen.finding == finding; });
  return at == outcome.findings.end() ? nullptr : &*at;
}

bool teaches(const Outcome& outcome) {
  const Subject& subject = *outcome.subject;
  return subject.decided && !subject.truth.healthy && !subject.truth.causes.empty();
}

using Weights = std::map<std::pair<std::string, std::string>, LearnedWeight>;

Weights by_pull(const std::vector<LearnedWeight>& weights) {
  Weights result;
  for (const LearnedWeight& weight : weights) result.emplace(std::pair(weight.cause, weight.finding), weight);
  return result;
}

/// What the causes' files state.
std::vector<LearnedWeight> stated_weights() {
  std::vector<LearnedWeight> weights;
  for (const auto& [stem, cause] : causes()) {
    for (const Pull& pull : cause.pulls) {
      weights.push_back({std::string(cause.id), std::string(pull.finding), pull.if_found, pull.if_absent, pull.if_found,
                         pull.if_absent, 0});
    }
  }
  return weights;
}

/// A pull that took part in weighing a cause: its place among the weights, and how far it counted.
struct Part {
  std::size_t weight = 0;
  bool found = true;
  double confidence = 1;
};

/// A cause as one run weighed it: what the pulls added, and what the prior and the clues did.
struct Candidate {
  bool right = false;
  double rest = 0;
  std::vector<Part> parts;
};

using Lesson = std::vector<Candidate>;

double score_of(const Candidate& candidate, const std::vector<LearnedWeight>& weights) {
  double score = candidate.rest;
  for (const Part& part : candidate.parts) {
    const LearnedWeight& weight = weights[part.weight];
    score += part.found ? part.confidence * weight.if_found : weight.if_absent;
  }
  return score;
}

Lesson lesson_of(const Outcome& outcome, const std::map<std::pair<std::string, std::string>, std::size_t>& places) {
  Lesson lesson;
  const auto& right = outcome.subject->truth.causes;
  for (const WeighedCause& cause : outcome.causes) {
    Candidate candidate;
    candidate.right = std::find(right.begin(), right.end(), cause.cause) != right.end();
    candidate.rest = std::log(cause.probability / (1 - cause.probability));
    const auto take = [&](const Reason& reason, double sign) {
      const auto place = places.find({cause.cause, reason.finding});
      if (reason.finding.empty() || place == places.end()) return;
      const Observation* seen = seen_in(outcome, reason.finding);
      candidate.parts.push_back({place->second, seen != nullptr, seen != nullptr ? seen->confidence : 1});
      candidate.rest -= sign * reason.weight;
    };
    for (const Reason& reason : cause.speaks_for) take(reason, 1);
    for (const Reason& reason : cause.speaks_against) take(reason, -1);
    lesson.push_back(std::move(candidate));
  }
  return lesson;
}

/// Adds the gradient of ln P(a right cause) to `found` and `absent`.
void add_gradient(const Lesson& lesson, const std::vector<LearnedWeight>& weights, std::vector<double>& found,
                  std::vector<double>& absent) {
  std::vector<double> odds;
  for (const Candidate& candidate : lesson) odds.push_back(score_of(candidate, weights));
  const double top = *std::max_element(odds.begin(), odds.end());
  double all = 0;
  double right = 0;
  for (std::size_t i = 0; i < lesson.size(); ++i) {
    odds[i] = std::exp(odds[i] - top);
    all += odds[i];
    right += lesson[i].right ? odds[i] : 0;
  }
  if (right <= 0) return;
  for (std::size_t i = 0; i < lesson.size(); ++i) {
    const double pull = (lesson[i].right ? odds[i] / right : 0) - odds[i] / all;
    for (const Part& part : lesson[i].parts) {
      (part.found ? found : absent)[part.weight] += pull * part.confidence;
    }
  }
}

/// On the side of zero that the expert stated, and never beyond what one finding may say.
double within_bounds(double weight, double stated) {
  const double least = 0.2 * std::abs(stated);
  if (stated == 0) return 0;
  return stated > 0 ? std::clamp(weight, least, std::max(kMost, stated))
                    : std::clamp(weight, std::min(-kMost, stated), -least);
}

/// The log-odds of a reported cause with other weights: what the report counted is taken off, the new put in.
double reweighed(const Outcome& outcome, const WeighedCause& cause, const Weights& weights) {
  double odds = std::log(cause.probability / (1 - cause.probability));
  const auto change = [&](const Reason& reason, double sign) {
    const auto learned = weights.find({cause.cause, reason.finding});
    if (reason.finding.empty() || learned == weights.end()) return;
    const Observation* seen = seen_in(outcome, reason.finding);
    odds += seen != nullptr ? learned->second.if_found * seen->confidence : learned->second.if_absent;
    odds -= sign * reason.weight;
  };
  for (const Reason& reason : cause.speaks_for) change(reason, 1);
  for (const Reason& reason : cause.speaks_against) change(reason, -1);
  return odds;
}

void count_causes(const Outcome& outcome, const Weights& weights, CauseScore& score) {
  std::vector<std::pair<double, std::string>> ranked;
  for (const WeighedCause& cause : outcome.causes) ranked.emplace_back(reweighed(outcome, cause, weights), cause.cause);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  ++score.runs;
  const auto& right = outcome.subject->truth.causes;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, ranked.size()); ++i) {
    if (std::find(right.begin(), right.end(), ranked[i].second) == right.end()) continue;
    score.first += i == 0;
    ++score.in_three;
    return;
  }
}

}  // namespace

std::vector<LearnedWeight> learn(const std::vector<const Outcome*>& outcomes, const LearnOptions& options) {
  std::vector<LearnedWeight> weights = stated_weights();
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (std::size_t i = 0; i < weights.size(); ++i) places.emplace(std::pair(weights[i].cause, weights[i].finding), i);
  std::vector<Lesson> lessons;
  for (const Outcome* outcome : outcomes) {
    if (!teaches(*outcome) || outcome->causes.empty()) continue;
    lessons.push_back(lesson_of(*outcome, places));
    for (LearnedWeight& weight : weights) {
      const auto& right = outcome->subject->truth.causes;
      weight.runs += std::find(right.begin(), right.end(), weight.cause) != right.end();
    }
  }
  const double rate = 1 / (options.expert + 0.1 * static_cast<double>(lessons.size()));
  for (int round = 0; round < options.rounds; ++round) {
    std::vector<double> found(weights.size());
    std::vector<double> absent(weights.size());
    for (const Lesson& lesson : lessons) add_gradient(lesson, weights, found, absent);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      LearnedWeight& weight = weights[i];
      if (overridden(weight.cause, weight.finding)) continue;
      found[i] -= options.expert * (weight.if_found - weight.stated_if_found);
      absent[i] -= options.expert * (weight.if_absent - weight.stated_if_absent);
      weight.if_found = within_bounds(weight.if_found + rate * found[i], weight.stated_if_found);
      weight.if_absent = within_bounds(weight.if_absent + rate * absent[i], weight.stated_if_absent);
    }
  }
  return weights;
}

CauseScore cross_validated_causes(const std::vector<const Outcome*>& outcomes, const LearnOptions& options,
                                  std::size_t folds) {
  CauseScore score;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<const Outcome*> others;
    std::vector<const Outcome*> here;
    for (const Outcome* outcome : outcomes) {
      (stable_hash(outcome->subject->family) % folds == fold ? here : others).push_back(outcome);
    }
    const Weights weights = by_pull(learn(others, options));
    for (const Outcome* outcome : here) {
      if (teaches(*outcome)) count_causes(*outcome, weights, score);
    }
  }
  return score;
}

CauseScore stated_causes(const std::vector<const Outcome*>& outcomes) {
  CauseScore score;
  const Weights weights = by_pull(stated_weights());
  for (const Outcome* outcome : outcomes) {
    if (teaches(*outcome)) count_causes(*outcome, weights, score);
  }
  return score;
}

std::string weights_source(const std::vector<LearnedWeight>& weights) {
  std::string text =
      "// Written by osler_score --learn; not to be edited by hand. Each row: cause, finding, what is added to the\n"
      "// log-odds of the cause when the finding is there and when its check found nothing, labelled runs with that "
      "cause,\n"
      "// and in the comment what the cause's file states.\n"
      "#include \"diagnosis/pull_weights.h\"\n\n"
      "namespace osler {\n\n"
      "std::span<const LearnedPull> learned_pulls() {\n"
      "  static constexpr LearnedPull kRows[] = {\n";
  for (const LearnedWeight& weight : weights) {
    const double change = std::max(std::abs(weight.if_found - weight.stated_if_found),
                                   std::abs(weight.if_absent - weight.stated_if_absent));
    if (change < kWorthWriting) continue;
    text +=
        fmt::format("      {{\"{}\", \"{}\", {:.1f}, {:.1f}, {}}},  // {:.1f}, {:.1f}\n", weight.cause, weight.finding,
                    weight.if_found, weight.if_absent, weight.runs, weight.stated_if_found, weight.stated_if_absent);
  }
  return text + "  };\n  return kRows;\n}\n\n}  // namespace osler\n";
}

}  // namespace osler::score
