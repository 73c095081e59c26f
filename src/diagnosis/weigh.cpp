// The arithmetic of causes, kept in words that a report can show.
#include "diagnosis/weigh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "diagnosis/experiments.h"
#include "diagnosis/pull_weights.h"

namespace osler {
namespace {

constexpr double kLeastProbability = 0.03;  // what is less likely than this is noise to the reader

std::string absent_text(const Pull& pull) {
  const Finding* finding = find_finding(pull.finding);
  return "not seen: " + std::string(finding == nullptr ? pull.finding : finding->title);
}

/// Adds one pull to a cause; returns its share of the log-odds.
double apply(const Pull& pull, const Findings& findings, WeighedCause& cause) {
  double weight = 0;
  std::string text(pull.why);
  if (const Observation* seen = findings.found(pull.finding)) {
    weight = pull.if_found * seen->confidence;
  } else if (findings.absent(pull.finding)) {
    weight = pull.if_absent;
    text = absent_text(pull);
  }
  if (weight != 0) {
    auto& reasons = weight > 0 ? cause.speaks_for : cause.speaks_against;
    reasons.push_back({std::string(pull.finding), std::abs(weight), std::move(text)});
  }
  return weight;
}

/// Causes that a replay of the broken step under the tracer can tell apart.
constexpr std::array kTraced = {"log-of-zero",   "division-by-zero", "sqrt-at-zero", "exp-overflow",
                                "fp16-overflow", "exploding-signal", "corrupt-data", "in-place-modification"};

/// What the tracer, when it replayed a broken step, says of a cause: that it is the one, or that another one is.
std::optional<Clue> traced(const Patient& patient, std::string_view cause) {
  if (std::find(kTraced.begin(), kTraced.end(), cause) == kTraced.end()) return std::nullopt;
  const auto seen = [&](std::string_view id) {
    return patient.run().find("osler/origin/" + std::string(id)) != nullptr;
  };
  constexpr double kFound = 6;
  constexpr double kRanAway = 2.5;  // values that grew until they overflowed: steps that are too long do that as well
  constexpr double kAnother = -4;
  if (seen(cause)) {
    return Clue{cause == "exploding-signal" ? kRanAway : kFound,
                "the broken step was replayed under the tracer, which found it"};
  }
  if (std::none_of(kTraced.begin(), kTraced.end(), seen)) return std::nullopt;
  return Clue{kAnother, "the broken step was replayed under the tracer, which found something else"};
}

void heaviest_first(std::vector<Reason>& reasons) {
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.weight > b.weight; });
}

}  // namespace

Weighing weigh(const Patient& patient, const Findings& findings) {
  Weighing weighing;
  const std::vector<Experiment> tried = experiments(patient.run());
  for (const auto& [stem, cause] : causes()) {
    WeighedCause weighed;
    weighed.cause = cause.id;
    double log_odds = cause.prior;
    bool explains_something = false;
    for (const Pull& stated : cause.pulls) {
      const Pull pull = weighted(cause.id, stated);
      log_odds += apply(pull, findings, weighed);
      const Observation* seen = findings.found(pull.finding);
      explains_something |= seen != nullptr && pull.if_found > 0;
    }
    const std::optional<Clue> origin = traced(patient, cause.id);
    explains_something |= origin && origin->weight > 0;
    if (!explains_something) continue;
    if (cause.impossible != nullptr) {
      if (auto why = cause.impossible(patient, findings)) {
        weighing.ruled_out.push_back({std::string(cause.id), std::move(*why)});
        continue;
      }
    }
    std::vector<Clue> clues = cause.clues == nullptr ? std::vector<Clue>() : cause.clues(patient, findings);
    if (origin) clues.push_back(*origin);
    for (Clue& clue : experiment_clues(tried, cause.id)) clues.push_back(std::move(clue));
    for (Clue& clue : clues) {
      log_odds += clue.weight;
      auto& reasons = clue.weight > 0 ? weighed.speaks_for : weighed.speaks_against;
      reasons.push_back({"", std::abs(clue.weight), std::move(clue.text)});
    }
    weighed.probability = 1 / (1 + std::exp(-log_odds));
    if (weighed.probability < kLeastProbability) continue;
    heaviest_first(weighed.speaks_for);
    heaviest_first(weighed.speaks_against);
    weighed.settle = {std::string(cause.settle_probe), std::string(cause.settle)};
    if (cause.remedies != nullptr) weighed.remedies = cause.remedies(patient, findings);
    weighing.causes.push_back(std::move(weighed));
  }
  std::stable_sort(weighing.causes.begin(), weighing.causes.end(),
                   [](const WeighedCause& a, const WeighedCause& b) { return a.probability > b.probability; });
  return weighing;
}

}  // namespace osler
