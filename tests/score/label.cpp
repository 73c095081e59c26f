// Reads labels.
#include "score/label.h"

#include <algorithm>
#include <cmath>

namespace osler::score {
namespace {

using Ids = std::vector<std::string>;

Ids strings(const nlohmann::json& record, const char* key) {
  return record.value(key, Ids{});
}

void append(Ids& ids, const Ids& more) {
  for (const std::string& id : more) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
}

/// Ends what all labels have in common: a healthy run has no ids, a sick one is listed under its main finding.
void settle(Subject& subject, bool healthy, Ids right, Ids causes) {
  simulate::Truth& truth = subject.truth;
  truth.healthy = healthy;
  subject.label = "healthy";
  if (healthy) return;
  truth.accept = with_equivalents(right);
  truth.causes = std::move(causes);
  if (truth.finding.empty() && !truth.accept.empty()) truth.finding = truth.accept.front();
  subject.label = truth.finding.empty() ? "sick" : truth.finding;
}

}  // namespace

Ids with_equivalents(const Ids& ids) {
  Ids all = ids;
  for (const std::string& id : ids) {
    if (id == "loss-stuck-from-start") append(all, {"reward-stuck-from-start", "predicts-one-class"});
    if (id == "loss-diverging")
      append(all, {"reward-collapse", "reward-worse-than-start", "loss-beyond-chance", "loss-negative-unbounded"});
    if (id == "initial-loss-wrong") append(all, {"loss-beyond-chance"});
  }
  return all;
}

std::optional<std::pair<std::int64_t, std::int64_t>> beginning(double since, const StepRange& steps) {
  constexpr double kTenth = 0.1;
  const auto first = static_cast<double>(steps.first);
  const auto last = static_cast<double>(steps.last);
  if (since == 0) since = first;  // from the start, in any unit
  if (since < first || since > last) return std::nullopt;
  const double slack = kTenth * (last - first);
  return std::pair{static_cast<std::int64_t>(std::floor(since - slack)),
                   static_cast<std::int64_t>(std::ceil(since + slack))};
}

void apply_public_label(const nlohmann::json& record, Subject& subject) {
  const bool second = record.contains("verdict");
  const std::string verdict = record.at(second ? "verdict" : "label").get<std::string>();
  subject.decided = verdict != "undecidable";
  // The second kind calls undecidable what its reader was not sure of; the first says so apart.
  subject.certain = second || record.value("confidence", "low") != "low";
  subject.domain = record.value("domain", "");
  // The label "nan" accepts both times without saying which; its logs all hold finite losses first, as its reasons say.
  if (verdict == "nan") subject.truth.finding = "loss-nonfinite-later";
  Ids right = strings(record, second ? "findings" : "accept");
  append(right, strings(record, second ? "also_ok" : "tolerate"));
  settle(subject, verdict == "healthy", right, strings(record, "causes"));
  if (!subject.decided) subject.label = "undecidable";
  subject.planted = subject.truth.causes;
}

void apply_population_label(const nlohmann::json& meta, Subject& subject) {
  const std::string verdict = meta.at("verdict").get<std::string>();
  subject.name = meta.at("id").get<std::string>();
  subject.family = meta.at("family").get<std::string>();
  subject.part = meta.at("split").get<std::string>();
  subject.domain = meta.value("task", "");
  subject.decided = verdict != "undecidable";
  Ids causes;
  for (const nlohmann::json& fault : meta.value("faults", nlohmann::json::array())) {
    append(subject.planted, {fault.at("id").get<std::string>()});
  }
  append(causes, subject.planted);
  for (const nlohmann::json& fault : meta.value("faults", nlohmann::json::array())) {
    append(causes, strings(fault, "also"));
  }
  subject.shows = meta.value("shows", true);
  // A run whose twin failed as well may have come nowhere without any harm to speak of: that is not healthy.
  constexpr double kNowhere = 0.98;
  if (verdict == "healthy" && meta.contains("clean") && meta.contains("untrained")) {
    const auto loss = [&](const char* when) {
      const nlohmann::json& figure = meta.at(when).at("loss");
      return figure.is_number() ? figure.get<double>() : 0.0;
    };
    if (loss("untrained") > 0 && loss("clean") > kNowhere * loss("untrained")) subject.decided = false;
  }
  settle(subject, verdict == "healthy", strings(meta, "expected_findings"), causes);
  if (!subject.decided) subject.label = "undecidable";
}

}  // namespace osler::score
