// The arithmetic of causes, kept in words that a report can show.
#include "diagnosis/weigh.h"

#include <algorithm>
#include <cmath>

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

void heaviest_first(std::vector<Reason>& reasons) {
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.weight > b.weight; });
}

}  // namespace

Weighing weigh(const Patient& patient, const Findings& findings) {
  Weighing weighing;
  for (const auto& [stem, cause] : causes()) {
    WeighedCause weighed;
    weighed.cause = cause.id;
    double log_odds = cause.prior;
    bool explains_something = false;
    for (const Pull& pull : cause.pulls) {
      log_odds += apply(pull, findings, weighed);
      const Observation* seen = findings.found(pull.finding);
      explains_something |= seen != nullptr && pull.if_found > 0;
    }
    if (!explains_something) continue;
    if (cause.impossible != nullptr) {
      if (auto why = cause.impossible(patient, findings)) {
        weighing.ruled_out.push_back({std::string(cause.id), std::move(*why)});
        continue;
      }
    }
    if (cause.clues != nullptr) {
      for (Clue& clue : cause.clues(patient, findings)) {
        log_odds += clue.weight;
        auto& reasons = clue.weight > 0 ? weighed.speaks_for : weighed.speaks_against;
        reasons.push_back({"", std::abs(clue.weight), std::move(clue.text)});
      }
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
