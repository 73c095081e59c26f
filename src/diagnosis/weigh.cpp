// Causes compete: a noisy-OR network over sets of causes, kept in words that a report can show.
#include "diagnosis/weigh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "diagnosis/experiments.h"
#include "run/series_names.h"

namespace osler {
namespace {

constexpr double kLeastProbability = 0.01;  // what is less likely than this is noise to the reader
constexpr double kLeak = 0.03;          // chance that a finding comes about without any cause of the catalogue, at most
constexpr double kMostLikely = 0.95;    // no cause brings a finding about every time
constexpr double kUnknown = 0.1;        // weight of what no cause of the catalogue explains: something did happen
constexpr std::size_t kCompeting = 16;  // the causes worth enumerating, of the fifty
constexpr double kAlone = -2;           // log-odds: a run seldom has a certain cause before anything is seen
// The network takes its findings for independent, which they are not, and so is too sure. A logistic line through what
// it said of trainings with planted faults, and of public logs (eight times as heavy), brings it back.
constexpr double kSurenessShift = -0.7;
constexpr double kSurenessSlope = 0.8;

std::string absent_text(const Pull& pull) {
  const Finding* finding = find_finding(pull.finding);
  return "not seen: " + std::string(finding == nullptr ? pull.finding : finding->title);
}

/// Causes that a replay of the broken step under the tracer can tell apart.
constexpr std::array kTraced = {"log-of-zero",   "division-by-zero", "sqrt-at-zero", "exp-overflow",
                                "fp16-overflow", "exploding-signal", "corrupt-data", "in-place-modification"};

/// What the tracer, when it replayed a broken step, says of a cause: that it is the one, or that another one is.
std::optional<Clue> traced(const Patient& patient, std::string_view cause) {
  if (std::find(kTraced.begin(), kTraced.end(), cause) == kTraced.end()) return std::nullopt;
  const auto seen = [&](std::string_view id) {
    return patient.run().find(series_name::completed(series_name::kOriginOf, id)) != nullptr;
  };
  constexpr double kFound = 6;
  constexpr double kRanAway = 2.5;  // values that grew until they overflowed: steps that are too long do that as well
  constexpr double kAnother = -4;
  if (seen(cause)) {
    return Clue{cause == "exploding-signal" ? kRanAway : kFound,
                "the broken step was replayed under the tracer, which found it"};
  }
  if (std::none_of(kTraced.begin(), kTraced.end(), seen) && !seen("outside-domain")) return std::nullopt;
  return Clue{kAnother, "the broken step was replayed under the tracer, which found something else"};
}

/// How often a cause that the network calls so probable is the one.
double as_often_as_right(double probability) {
  const double odds = probability / (1 - probability);
  if (!std::isfinite(odds)) return probability;
  return 1 / (1 + std::exp(-kSurenessShift) * std::pow(odds, -kSurenessSlope));
}

void heaviest_first(std::vector<Reason>& reasons) {
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.weight > b.weight; });
}

/// A cause that explains something of what was found.
struct Candidate {
  WeighedCause cause;
  double log_odds = 0;                              // prior, clues, absent findings and what speaks against it
  std::map<std::string, double, std::less<>> lift;  // by finding: log of how much likelier the cause makes it
  [[nodiscard]] double alone() const {
    double sum = log_odds;
    for (const auto& [finding, weight] : lift) sum += weight;
    return sum;
  }
};

void add_reason(WeighedCause& cause, std::string_view finding, double weight, std::string text) {
  if (weight == 0) return;
  auto& reasons = weight > 0 ? cause.speaks_for : cause.speaks_against;
  reasons.push_back({std::string(finding), std::abs(weight), std::move(text)});
}

void apply(const Pull& pull, const Verdicts& verdicts, Candidate& candidate) {
  if (const Observation* seen = verdicts.found(pull.finding)) {
    const double weight = pull.if_found * seen->confidence;
    add_reason(candidate.cause, pull.finding, weight, std::string(pull.why));
    if (weight > 0) {
      candidate.lift.emplace(pull.finding, weight);
    } else {
      candidate.log_odds += weight;
    }
  } else if (verdicts.absent(pull.finding)) {
    add_reason(candidate.cause, pull.finding, pull.if_absent, absent_text(pull));
    candidate.log_odds += pull.if_absent;
  }
}

/// The causes that at least one finding speaks for and that nothing excludes.
std::vector<Candidate> candidates(const Patient& patient, const Verdicts& verdicts, std::vector<RuledOut>& ruled_out) {
  std::vector<Candidate> list;
  const std::vector<Experiment> tried = experiments(patient.run());
  for (const auto& [stem, cause] : causes()) {
    Candidate candidate;
    candidate.cause.cause = cause.id;
    candidate.log_odds = cause.prior + kAlone;
    for (const Pull& pull : cause.pulls) apply(pull, verdicts, candidate);
    const std::optional<Clue> origin = traced(patient, cause.id);
    if (candidate.lift.empty() && !(origin && origin->weight > 0)) continue;
    if (cause.impossible != nullptr) {
      if (auto why = cause.impossible(patient, verdicts)) {
        ruled_out.push_back({std::string(cause.id), std::move(*why)});
        continue;
      }
    }
    std::vector<Clue> clues = cause.clues == nullptr ? std::vector<Clue>() : cause.clues(patient, verdicts);
    if (origin) clues.push_back(*origin);
    for (Clue& clue : experiment_clues(tried, cause.id)) clues.push_back(std::move(clue));
    for (Clue& clue : clues) {
      candidate.log_odds += clue.weight;
      add_reason(candidate.cause, "", clue.weight, std::move(clue.text));
    }
    candidate.cause.settle = {std::string(cause.settle_probe), std::string(cause.settle)};
    if (cause.remedies != nullptr) candidate.cause.remedies = cause.remedies(patient, verdicts);
    list.push_back(std::move(candidate));
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.alone() > b.alone(); });
  return list;
}

/// Sets of up to three causes, each with its weight: what its members have going for them, times the chance that
/// together they bring about what was found (Pearl's noisy-OR, as in Shwe et al. 1991, QMR-DT).
class Competition {
 public:
  explicit Competition(const std::vector<Candidate>& list) : list_(list), probability_(list.size(), 0) {
    for (const Candidate& candidate : list) {
      for (const auto& [finding, weight] : candidate.lift) chances_.try_emplace(finding, list.size(), 0.0);
    }
    for (auto& [finding, chances] : chances_) {
      double heaviest = 0;
      for (const Candidate& candidate : list) {
        const auto lift = candidate.lift.find(finding);
        if (lift != candidate.lift.end()) heaviest = std::max(heaviest, lift->second);
      }
      // What one cause makes more than thirty times as likely comes about less often by itself.
      const double leak = std::min(kLeak, kMostLikely * std::exp(-heaviest));
      leaks_.emplace(finding, leak);
      for (std::size_t i = 0; i < list.size(); ++i) {
        const auto lift = list[i].lift.find(finding);
        // Alone the cause makes the finding exp(weight) times as likely as the leak does.
        if (lift != list[i].lift.end())
          chances[i] = std::min(kMostLikely, leak * std::expm1(lift->second) / (1 - leak));
      }
    }
    for (std::size_t a = 0; a < std::min(list.size(), kCompeting); ++a) {
      weigh({a});
      for (std::size_t b = a + 1; b < std::min(list.size(), kCompeting); ++b) {
        weigh({a, b});
        for (std::size_t c = b + 1; c < std::min(list.size(), kCompeting); ++c) weigh({a, b, c});
      }
    }
  }

  /// The share of all explanations, "none of these" among them, in which the cause takes part.
  [[nodiscard]] double probability(std::size_t cause) const { return probability_[cause] / total_; }

 private:
  void weigh(const std::vector<std::size_t>& set) {
    double log_weight = 0;
    for (const std::size_t member : set) log_weight += list_[member].log_odds;
    for (const auto& [finding, chance] : chances_) {
      const double leak = leaks_.find(finding)->second;
      double missed = 1 - leak;
      for (const std::size_t member : set) missed *= 1 - chance[member];
      log_weight += std::log((1 - missed) / leak);
    }
    const double weight = std::exp(log_weight);
    total_ += weight;
    for (const std::size_t member : set) probability_[member] += weight;
  }

  const std::vector<Candidate>& list_;
  std::map<std::string, std::vector<double>, std::less<>> chances_;
  std::map<std::string, double, std::less<>> leaks_;
  std::vector<double> probability_;
  double total_ = kUnknown;
};

}  // namespace

Weighing weigh(const Patient& patient, const Verdicts& verdicts) {
  Weighing weighing;
  std::vector<Candidate> list = candidates(patient, verdicts, weighing.ruled_out);
  const Competition competition(list);
  for (std::size_t i = 0; i < list.size(); ++i) {
    WeighedCause& cause = list[i].cause;
    if (competition.probability(i) < kLeastProbability) continue;
    cause.probability = as_often_as_right(competition.probability(i));
    heaviest_first(cause.speaks_for);
    heaviest_first(cause.speaks_against);
    weighing.causes.push_back(std::move(cause));
  }
  std::stable_sort(weighing.causes.begin(), weighing.causes.end(),
                   [](const WeighedCause& a, const WeighedCause& b) { return a.probability > b.probability; });
  return weighing;
}

}  // namespace osler
