// Holding doubtful NaN until their series goes on.
#include "formats/gaps.h"

#include <algorithm>
#include <cmath>

namespace osler {
namespace {

/// How long a gap may be, given the longest one that is known.
std::uint32_t patience(std::uint32_t longest) {
  return longest > (1U << 28) ? longest : 3 * longest + 3;
}

}  // namespace

Merit merit_of(std::string_view name) {
  return merit_of(guess_role(name).role);
}

Merit merit_of(Role role) {
  switch (role) {
    case Role::train_loss:
    case Role::validation_loss:
      return Merit::loss;
    case Role::train_accuracy:
    case Role::validation_accuracy:
    case Role::train_metric:
    case Role::validation_metric:
    case Role::reward:
    case Role::evaluation_reward:
      return Merit::other;
    default:
      return Merit::none;
  }
}

void GapFilter::take(const Event& event, bool others, EventSink& sink) {
  if (tracks_.size() <= event.series) tracks_.resize(event.series + 1);
  Track& track = tracks_[event.series];
  if (!std::isfinite(event.value)) {
    nan(track, event, others, sink);
  } else {
    value(track, event, others, sink);
  }
}

void GapFilter::value(Track& track, const Event& event, bool others, EventSink& sink) {
  if (track.run > 0) {
    const bool gap = track.values == 0 || !track.together || track.streak <= kIsolated || track.gaps > 0;
    if (gap) {
      ++track.gaps;
      track.longest = std::max(track.longest, track.run);
      track.lone |= track.run_lone;
      drop(track);
    } else {
      release(track, sink);
    }
    track.streak = 0;
  }
  if (track.passing) track.streak = 0;
  track.passing = false;
  ++track.streak;
  ++track.values;
  track.together |= others;
  sink.add(event);
}

void GapFilter::nan(Track& track, const Event& event, bool others, EventSink& sink) {
  const bool computed = !others && !(track.gaps > 0 && track.lone);
  const std::uint32_t longest = std::max(kLongestFirstGap, patience(track.longest));
  const bool outlasts = track.values > 0 && track.run >= longest;
  if (!track.passing && (computed || outlasts || held_ >= kMostHeldInAll)) {
    release(track, sink);
    track.passing = true;
  }
  if (track.passing) {
    sink.add(event);
    return;
  }
  ++track.run;
  track.run_lone |= !others;
  if (track.held.size() < kMostHeld) {
    track.held.push_back(event);
    ++held_;
  }
}

void GapFilter::finish(bool every_row, EventSink& sink) {
  for (Track& track : tracks_) {
    if (track.run == 0) continue;
    bool gap = true;
    if (track.values == 0) {
      gap = !every_row && std::isnan(track.held.front().value);  // nobody writes inf for what is never measured
    } else if (track.gaps > 0) {
      gap = track.run <= patience(track.longest);
    } else {
      gap = !track.together || (track.values == 1 && !every_row);
    }
    if (gap) {
      drop(track);
    } else {
      release(track, sink);
    }
  }
}

void GapFilter::release(Track& track, EventSink& sink) {
  for (const Event& event : track.held) sink.add(event);
  drop(track);
}

void GapFilter::drop(Track& track) {
  held_ -= track.held.size();
  track.held = {};
  track.run = 0;
  track.run_lone = false;
}

}  // namespace osler
