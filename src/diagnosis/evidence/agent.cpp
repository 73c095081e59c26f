// Reading rewards and the figures beside them.
#include "diagnosis/evidence/agent.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "signal/robust.h"
#include "signal/trend.h"

namespace osler {
namespace {

constexpr double kEpisodes = 2;          // scatters of single episodes that are much for a reward near zero
constexpr double kImprovedErrors = 3;    // standard errors of a clear gain
constexpr double kImprovedShare = 0.15;  // and its least size against the scale

constexpr double kNearTop = 0.75;       // share of the largest possible reward that leaves little to gain
constexpr std::size_t kVeryFirst = 50;  // a fiftieth of the run

}  // namespace

bool RewardProgress::improved() const {
  return sure > kImprovedErrors && gain > kImprovedShare * scale;
}

bool RewardProgress::still_improves() const {
  const Stretch& middle = stretches.all[stretches.all.size() / 2];
  return errors_gained(middle, late) > kImprovedErrors && middle.level - late.level > kImprovedShare * scale / 2;
}

bool RewardProgress::near_top() const {
  const auto& values = reading->curve.value;  // negated rewards
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *low >= -1 && *high <= 0 && late.level < -kNearTop;
}

std::optional<RewardProgress> reward_progress(const Patient& patient) {
  if (!patient.reinforcement() || patient.training() == nullptr) return std::nullopt;
  RewardProgress progress;
  progress.reading = patient.training();
  progress.stretches = stretches_of(*progress.reading);
  if (progress.stretches.all.empty()) return std::nullopt;
  const Stretches& parts = progress.stretches;
  progress.late = parts.joined(parts.all.size() - std::max<std::size_t>(1, parts.all.size() / 3));
  // A reward that rises within the first stretch is measured from its very first points. They are few, and as unsure as
  // that: without it, bad luck at the start would pass for a gain.
  Stretch begin = parts.first();
  if (progress.reading->start > begin.level) {
    begin.level = progress.reading->start;
    begin.error = std::max(begin.error, parts.scatter / 2);
  }
  progress.gain = begin.level - progress.late.level;
  progress.sure = errors_gained(begin, progress.late);
  progress.scale = std::max(progress.reading->level, kEpisodes * parts.scatter);
  return progress;
}

std::optional<FirstEpisodes> settled_against(const Reading& reward) {
  constexpr std::size_t kFewest = 20;
  constexpr double kAlike = 0.2;  // scatter of the last third, as a share of that of the first
  const std::size_t third = reward.size() / 3;
  if (third < kFewest) return std::nullopt;
  const auto values = std::span<const double>(reward.curve.value);  // negated rewards
  const auto early = values.first(third);
  const auto late = values.last(third);
  if (signal::mad_scale(late) >= kAlike * signal::mad_scale(early)) return std::nullopt;
  const double level = signal::median(late);
  const auto better = std::count_if(early.begin(), early.end(), [&](double value) { return value < level; });
  const auto equal = std::count(early.begin(), early.end(), level);
  const auto share = [&](auto count) { return static_cast<double>(count) / static_cast<double>(third); };
  return FirstEpisodes{share(better), share(equal)};
}

std::string moving_target(const Patient& patient) {
  constexpr double kRatingGained = 0.02;  // share of a rating, 24 of 1,200
  constexpr double kSignificance = 0.01;
  for (const Series& series : patient.run().all_series()) {
    const auto total = series.summary().total();
    if (!total || total->count < 2 || !(total->last > total->first)) continue;
    std::string name = series.name();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    if (name.find("lesson") != std::string::npos || name.find("curriculum") != std::string::npos) {
      return "the task gets harder from lesson to lesson";
    }
    const bool rating = name == "elo" || name.ends_with("/elo") || name.ends_with(" elo") || name.ends_with("_elo");
    if (!rating) continue;
    const Reading elo = read_series(series, false);
    const signal::Trend trend = signal::trend_of(elo.curve.step, elo.curve.value);
    if (trend.rises(kSignificance) && trend.change > kRatingGained * elo.level) {
      return "agents play against each other, and their rating rises";
    }
  }
  return {};
}

bool tunes_language_model(const Patient& patient) {
  const auto played = [&](Role role) { return !patient.roles().in(role).empty(); };
  return played(Role::completion_length) || played(Role::truncated_share) || played(Role::no_variance_share) ||
         played(Role::reference_kl);
}

std::optional<Reading> figure(const Patient& patient, Role role, std::size_t fewest) {
  for (const Cast& cast : patient.roles().in(role)) {
    const auto total = cast.series->summary().total();
    if (!total || total->count < fewest) continue;
    Reading reading = read_series(*cast.series, cast.guess.negated);
    // `negated` of a reading says that it should rise; here it says that the log holds the opposite sign.
    reading.negated = false;
    return reading;
  }
  return std::nullopt;
}

double late_level(const Reading& reading) {
  return signal::median(std::span(reading.curve.value).last(std::max<std::size_t>(1, reading.size() / 3)));
}

double early_level(const Reading& reading) {
  std::vector<double> learning;
  std::copy_if(reading.curve.value.begin(), reading.curve.value.end(), std::back_inserter(learning),
               [](double value) { return value != 0; });
  if (learning.empty()) return 0;
  return signal::median(std::span<const double>(learning).first(
      std::clamp<std::size_t>(learning.size() / kVeryFirst, 1, learning.size())));
}

}  // namespace osler
