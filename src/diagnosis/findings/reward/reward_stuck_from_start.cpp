// reward-stuck-from-start: the agent earns what a random policy earns, from the first episode to the last.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"
#include "signal/noise.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The agent acts and the learner updates, but the reward stays where the first, random policy had it.

## Signature
From the first stretch of the run to its last third the reward changed by less than `gain_share` of its scale (its size,
or twice the scatter of single episodes), or by less than `errors` standard errors, and no stretch between them was
better by more than twice that. What swings by four times that, and by `swing` scatters, moves. A reward that is the same number in every episode is stuck for certain.

## Why it matters
Nothing is reinforced: the reward is too sparse to be met by chance, the signal is drowned by its scale or by the entropy
bonus, or the environment does not pass the action on. More steps of the same do not help.

## When it is harmless
While epsilon is still high a value-based agent acts at random on purpose, and the first part of a hard exploration
problem is flat in every successful run. An agent that was good from its first step has nothing to gain. Who plays
against copies of itself wins as often as it loses: its rating tells, and while that rises nothing is said. Of a language
model that is tuned, fewer than `few_updates` steps show no trend.

## References
- Henderson et al. 2018, Deep Reinforcement Learning that Matters.
- Andrychowicz et al. 2021, What Matters in On-Policy Reinforcement Learning?
)";

bool still_explores(const Patient& patient, double epsilon) {
  const auto exploration = figure(patient, Role::exploration_rate, 2);
  return exploration && exploration->end > epsilon;
}

/// Rewards at every so many thousand steps are means of what was earned between: episodes do not end on the dot.
bool read_on_the_dot(const Reading& reward, double least) {
  const auto& steps = reward.curve.step;
  const double interval = steps[1] - steps[0];
  if (interval < least) return false;
  for (std::size_t i = 2; i < steps.size(); ++i) {
    if (steps[i] - steps[i - 1] != interval) return false;
  }
  return true;
}

/// What is learned and forgotten in turns may end where it began, and has moved all the same.
bool swings(const Reading& reward, double small, double scatters) {
  constexpr std::size_t kShort = 24;  // stretches short enough not to average swings away
  const Stretches parts = stretches_of(reward, kShort);
  double worst = parts.first().level;
  double rise = 0;  // from a stretch to a later one
  for (std::size_t i = 0; i < parts.all.size(); ++i) {
    worst = std::max(worst, parts.all[i].level);
    const bool first_luck = i < parts.all.size() / 5;
    if (!first_luck) rise = std::max(rise, worst - parts.all[i].level);
  }
  return rise > 4 * small && rise > scatters * parts.scatter;
}

/// A reward for every step, and episodes that reach their limit from the first to the last: there is nothing to gain.
bool survives_to_the_end(const Patient& patient, const SettingValues& settings) {
  const auto length = figure(patient, Role::episode_length, static_cast<std::size_t>(settings["fewest_points"]));
  const auto progress = reward_progress(patient);
  if (!length || !progress) return false;
  const double paid = -progress->late.level / late_level(*length);
  const double spread = signal::mad_scale(length->curve.value);
  return std::abs(paid - 1) < settings["each_step"] && spread < settings["each_step"] * length->level &&
         late_level(*length) > settings["survived"];
}

/// Where a log has the parts of a reward and no sum, any of them that rises shows that something is learned.
bool another_part_rises(const Patient& patient, const SettingValues& settings) {
  const std::vector<Cast>& rewards = patient.roles().in(Role::reward);
  if (rewards.size() < 2 || !rewards.front().guess.component) return false;
  return std::any_of(rewards.begin() + 1, rewards.end(), [&](const Cast& cast) {
    const auto total = cast.series->summary().total();
    if (!total || total->count < settings["fewest_points"]) return false;
    const Reading part = read_series(*cast.series, true);
    const signal::Trend trend = signal::trend_of(part.curve.step, part.curve.value);
    return trend.falls(settings["p_value"]) && -trend.change > settings["gain_share"] * part.level;
  });
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto progress = reward_progress(patient);
  if (!progress || progress->reading->size() < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " rewards"};
  }
  if (const std::string why = moving_target(patient); !why.empty()) return NotChecked{why};
  if (still_explores(patient, settings["epsilon"])) return NotChecked{"the agent still acts at random on purpose"};
  const Reading& reward = *progress->reading;
  const Stretches& parts = progress->stretches;
  const Stretch& best = parts.all[parts.best()];
  const bool constant = reward.top == reward.best;
  const double small = settings["gain_share"] * progress->scale;
  const double at_best = parts.first().level - best.level;
  // The best of a dozen stretches lies a few standard errors up by luck alone.
  const bool better_between =
      at_best > 2 * small && errors_gained(parts.first(), best) > settings["errors"] + settings["luck"];
  // Few first episodes say little of where it began; that it rose all along is seen without them.
  const signal::Trend trend = signal::trend_of(reward.curve.step, reward.curve.value);
  // Means over many episodes wander and look as if they rose; single ones do not, but say little each.
  const bool single = !constant && signal::autocorrelation(reward.curve.value, 1) < settings["single"] &&
                      !read_on_the_dot(reward, settings["on_the_dot"]);
  // The steps of a language model that is tuned are small, and its rewards those of a few questions.
  const auto steps = static_cast<double>(reward.last_step - reward.first_step);
  if (!constant && tunes_language_model(patient) && steps < settings["few_updates"]) {
    return NotChecked{"fewer than " + number(settings["few_updates"]) + " updates of a language model"};
  }
  if (single && reward.size() < settings["fewest_single"]) {
    return NotChecked{"fewer than " + number(settings["fewest_single"]) + " rewards of single episodes"};
  }
  const bool climbs = progress->gain > small && trend.falls(settings[single ? "p_value_of_single" : "p_value"]);
  // What has gained far more than chance explains has moved, though it is little; means over episodes look surer yet.
  const bool surely = progress->gain > settings["surely_share"] * small && progress->sure > settings["surely"];
  // A few bad episodes at the start make a gain that no later ones bear out.
  const bool borne_out = !single || trend.falls(settings["likely"]) || progress->sure > settings["surely"];
  const bool sank = progress->gain < -small && progress->sure < -settings["errors"];
  const auto first = settled_against(reward);
  // Where many of the first ones went as well, nothing says that this is high.
  const bool settled_high = first && first->better + first->equal < settings["settled_high"] && progress->gain > small;
  const bool moved =
      climbs || surely || sank || settled_high ||
      (borne_out && ((progress->gain > small && progress->sure > settings["errors"]) || progress->improved()));
  if (survives_to_the_end(patient, settings)) return NotFound{};
  if (another_part_rises(patient, settings)) return NotFound{};
  if (!constant && (moved || better_between || swings(reward, small, settings["swing"]) || progress->near_top())) {
    return NotFound{};
  }
  const double margin = constant ? 4 : small / std::max(std::abs(progress->gain), small / 4);
  // A few dozen episodes may be too early to give up.
  const bool early = !constant && single && reward.size() < settings["enough_single"];
  Observation seen =
      observe(early ? Severity::warning : Severity::critical, confidence_of(std::max(1.2, margin)), reward.first_step,
              reward.last_step,
              reward.name + " has not moved since the start: " + number(reward.shown(parts.first().level)) +
                  " in the first episodes, " + number(reward.shown(progress->late.level)) + " in the last third.");
  seen.evidence.push_back(evidence(reward.name, reward.first_step, reward.last_step, progress->gain, small,
                                   "it gained " + number(progress->gain) + ", " + number(std::abs(progress->sure)) +
                                       " standard errors; single values scatter by " + number(parts.scatter)));
  return seen;
}

}  // namespace

Finding reward_stuck_from_start() {
  return {
      .id = "reward-stuck-from-start",
      .title = "The reward has not moved since the start",
      .needs = {Need::curve},
      .doc = kDoc,
      .settings = {{"fewest_points", 12, "rewards needed to tell stillness from a slow start"},
                   {"gain_share", 0.12, "gain, as a share of the scale of rewards, that counts as movement"},
                   {"errors", 2.5, "standard errors of a gain that chance does not explain"},
                   {"likely", 0.05,
                    "significance of a trend that bears out what a few first episodes make look a gain"},
                   {"settled_high", 0.25,
                    "share of the first episodes that went as well as the last ones, which are all alike, or better"},
                   {"surely", 5, "standard errors of a gain that is movement though it is smaller"},
                   {"surely_share", 0.6, "share of the usual gain that it then takes"},
                   {"p_value", 0.0005, "significance of a trend over the whole run that shows movement by itself"},
                   {"fewest_single", 20, "the same of single episodes, which the luck of each moves"},
                   {"enough_single", 150, "such rewards from which on standstill is critical"},
                   {"few_updates", 60, "steps of a tuned language model below which rewards that vary say nothing"},
                   {"single", 0.5, "correlation of successive rewards below which they are single episodes"},
                   {"on_the_dot", 1000, "steps between rewards, always as many, from which on they are means"},
                   {"p_value_of_single", 0.005, "the same significance for single episodes, which do not wander"},
                   {"each_step", 0.02, "distance of the reward per step from 1, and scatter of lengths, of a survivor"},
                   {"survived", 100, "steps of an episode that no agent survives by chance"},
                   {"luck", 2, "standard errors more for the best of a dozen stretches"},
                   {"swing", 3, "scatters of single values by which stretches of a reward that moves differ"},
                   {"epsilon", 0.3, "chance of a random action above which it is too early to judge"}},
      .check = check,
      .judged_by = JudgedBy::reward};
}

}  // namespace osler::catalogue
