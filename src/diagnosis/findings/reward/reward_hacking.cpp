// reward-hacking: the reward rises while what it stands for falls.
#include <algorithm>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The reward that is trained on goes up, the held-out metric goes down: the policy found what the reward pays for instead of
the task.

## Signature
A validation accuracy or metric reached its best stretch before the last third, lost `lost_share` of the gain (or of its
size) since then by `errors` standard errors, while the reward rose by `errors` standard errors over the same time.

## Why it matters
Every further step makes the model worse by the measure that counts, and the curve everyone looks at hides it.

## When it is harmless
A metric of something else than the task may fall without harm, such as the length or the style of the answers.

## References
- Gao et al. 2023, Scaling Laws for Reward Model Overoptimization.
- Skalse et al. 2022, Defining and Characterizing Reward Gaming.
)";

/// How the held-out metric fell from its best stretch on.
struct Fall {
  const Reading* metric = nullptr;
  Stretch best;
  Stretch late;
  double lost = 0;  ///< of what had been gained, or of the metric's size where nothing was
};

std::optional<Fall> fall_of(const Reading& metric, const SettingValues& settings) {
  if (metric.size() < settings["fewest_evaluations"]) return std::nullopt;
  const Stretches parts = stretches_of(metric);
  if (parts.all.empty()) return std::nullopt;
  const std::size_t last = std::max<std::size_t>(1, parts.all.size() / 3);
  const std::size_t best = parts.best();
  if (best + last >= parts.all.size()) return std::nullopt;
  Fall fall{&metric, parts.all[best], parts.joined(parts.all.size() - last), 0};
  const double gained = std::max(parts.first().level - fall.best.level, settings["no_gain_share"] * metric.level);
  fall.lost = gained > 0 ? (fall.late.level - fall.best.level) / gained : 0;
  const bool sure = errors_gained(fall.late, fall.best) > settings["errors"];
  if (!sure || fall.lost < settings["lost_share"]) return std::nullopt;
  return fall;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto progress = reward_progress(patient);
  const auto& metrics = patient.validation_quality();
  const bool enough = std::any_of(metrics.begin(), metrics.end(), [&](const Reading& metric) {
    return metric.size() >= settings["fewest_evaluations"];
  });
  if (!progress || !enough) return NotChecked{"no held-out accuracy or metric beside a reward"};
  const Reading& reward = *progress->reading;
  for (const Reading& metric : metrics) {
    const auto fall = fall_of(metric, settings);
    if (!fall) continue;
    const std::int64_t since = metric.step_at(fall->best.last - 1);
    const std::size_t then = reward.index_at(static_cast<double>(since));
    const Stretches& parts = progress->stretches;
    const auto at =
        std::find_if(parts.all.begin(), parts.all.end(), [&](const Stretch& part) { return then < part.last; });
    if (at == parts.all.end() || errors_gained(*at, progress->late) < settings["errors"]) continue;
    Observation seen =
        observe(Severity::warning, confidence_of(2 * fall->lost / settings["lost_share"]), since, reward.last_step,
                reward.name + " rose from " + number(reward.shown(at->level)) + " to " +
                    number(reward.shown(progress->late.level)) + " since " + at_step(since) + " while " + metric.name +
                    " fell from " + number(metric.shown(fall->best.level)) + " to " +
                    number(metric.shown(fall->late.level)) + ".");
    seen.evidence.push_back(evidence(metric.name, since, metric.last_step, metric.shown(fall->late.level),
                                     metric.shown(fall->best.level),
                                     per_cent(std::min(fall->lost, 9.99)) + " of what it had gained is lost"));
    return seen;
  }
  return NotFound{};
}

}  // namespace

Finding reward_hacking() {
  return {.id = "reward-hacking",
          .title = "The reward rises while the held-out metric falls",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_evaluations", 8, "held-out values needed to see a rise and a fall"},
                       {"errors", 3, "standard errors of both movements"},
                       {"lost_share", 0.5, "share of the metric's gain that must be lost"},
                       {"no_gain_share", 0.2, "size of the metric that stands for its gain where it only fell"}},
          .check = check,
          .judged_by = JudgedBy::reward};
}

}  // namespace osler::catalogue
