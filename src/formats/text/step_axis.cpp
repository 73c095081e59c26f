// Offsets for epochs, lanes for processes, and the memory of where the log stands.
#include "formats/text/step_axis.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace osler::text {
namespace {

constexpr std::size_t kMostCounters = 256;
constexpr std::size_t kMostEpochs = 1024;  // remembered per counter
constexpr std::size_t kMostLanes = 4;
constexpr int kRowsPerEpoch = 3;    // lines of one shape in one epoch that make the lines the axis
constexpr int kBarAdvances = 8;     // steps in a row that make a bar the axis
constexpr int kStandingEpochs = 2;  // epochs that begin with the counter where it was: it counts within each
constexpr int kFallConfirmed = 3;   // lines after a fall that make it a restart and not a second process

/// Saturates, since a damaged line may hold any number.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return a > 0 ? INT64_MAX / 4 : INT64_MIN / 4;
  return std::clamp<std::int64_t>(result, INT64_MIN / 4, INT64_MAX / 4);
}

std::uint64_t distance(std::int64_t a, std::int64_t b) {
  return a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
               : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
}

}  // namespace

bool StepAxis::counts_evaluation(const Counters& counters) const {
  if (!counters.evaluation || !counters.step) return false;
  // A bare "[10/157]" of an evaluation line counts batches of the evaluation; so does a counter with another end.
  if (counters.kind != CounterKind::named) return true;
  // "step:200/20000 val_loss:2.1" counts towards the same end as training does.
  if (counters.total && counters.total == train_total_ && *counters.total > 1) return false;
  // Nor can a model be evaluated at a step that training has left behind.
  if (has_training_steps_ && *counters.step < current_) return true;
  return counters.total && train_total_ && *counters.total != *train_total_;
}

Place StepAxis::place(const Counters& counters) {
  if (counters.step && !counts_evaluation(counters)) {
    if (counters_.size() >= kMostCounters && !counters_.contains(counters.name)) counters_.clear();
    Counter& counter = counters_[counters.name];
    const std::int64_t step = absolute(counter, counters);
    bool fell = false;
    const std::uint8_t lane = lane_of(counter, step, fell);
    if (!counters.evaluation && counters.total) train_total_ = counters.total;
    // A bar that only flickers now and then is no axis for the lines around it.
    if (counters.kind != CounterKind::bar || counter.advances >= kBarAdvances) {
      if (lane == 0) {
        // Until now an epoch may have stood in for the step.
        if (!has_steps_) current_ = step;
        advance(step, fell);
      }
      has_steps_ = true;
      has_training_steps_ |= !counters.evaluation;
    }
    return {step, Grain::step, true, lane};
  }
  if (counters.epoch) {
    Place place = place_by_epoch(counters);
    // Within one evaluation: not to be mixed with its result.
    if (counters.step && counters.total) place.grain = Grain::step;
    return place;
  }
  return {current_, counters.step ? Grain::step : Grain::none, false, 0};
}

Place StepAxis::place_by_epoch(const Counters& counters) {
  const bool back = epoch_ && *counters.epoch < static_cast<double>(*epoch_);
  if (!counters.fractional_epoch) epoch_ = static_cast<std::int64_t>(*counters.epoch);
  const Grain grain = counters.fractional_epoch ? Grain::step : Grain::epoch;
  if (counted_shape_ == counters.shape) {
    advance(current_ + 1, false);
    return {current_, grain, true, 0};
  }
  if (has_steps_ || counters.step) return {current_, grain, false, 0};
  if (counters.fractional_epoch) {
    if (!counters.evaluation) advance(++rows_, false);
    return {current_, grain, !counters.evaluation, 0};
  }
  const bool again = repeated_shape_ == counters.shape && repeated_epoch_ == epoch_;
  repeats_ = again ? repeats_ + 1 : 1;
  repeated_shape_ = counters.shape;
  repeated_epoch_ = epoch_;
  if (repeats_ >= kRowsPerEpoch && counters.shape != 0) {
    counted_shape_ = counters.shape;
    has_steps_ = true;
    advance(current_ + 1, false);
  } else {
    advance(*epoch_, back);
  }
  return {current_, grain, true, 0};
}

void StepAxis::heading(const Counters& counters) {
  if (counters.epoch && !counters.fractional_epoch) {
    const auto epoch = static_cast<std::int64_t>(*counters.epoch);
    if (!has_steps_) advance(epoch, epoch_ && epoch < *epoch_);
    epoch_ = epoch;
  } else if (counters.step && counters.kind == CounterKind::named && !counts_evaluation(counters)) {
    place(counters);
  }
}

void StepAxis::begin_part() {
  if (has_steps_ || epoch_) return;
  ++generation_;
  current_ = 0;
}

void StepAxis::move_to(std::int64_t step) {
  // Numbers that only looked like steps may have come before.
  if (!moved_) current_ = std::min(current_, step);
  moved_ = has_steps_ = true;
  advance(step, false);
}

std::int64_t StepAxis::absolute(Counter& counter, const Counters& counters) {
  const std::int64_t raw = *counters.step;
  std::optional<std::int64_t> epoch;
  if (counters.epoch && !counters.fractional_epoch) epoch = static_cast<std::int64_t>(*counters.epoch);
  if (epoch) epoch_ = epoch;
  if (!epoch) epoch = epoch_;
  const bool drawn = counters.kind == CounterKind::bar || counters.kind == CounterKind::epoch_bar;
  if (!epoch && drawn) {
    // A bar that is full and starts anew begins another epoch, though nobody says so.
    const bool full = counter.last && counter.total && *counter.last >= *counter.total - 1;
    const bool anew = full && counters.total == counter.total && raw <= *counter.last && *counter.last > 1;
    epoch = counter.epoch.value_or(0) + (anew ? 1 : 0);
    counter.unsaid = true;
  } else if (epoch && counter.last && (!counter.epoch || counter.unsaid)) {
    // The first epoch with a number: everything before it belongs to the epoch before.
    const std::int64_t before = counter.epoch.value_or(0) - counter.first_epoch.value_or(0);
    const Epoch last = counter.epoch ? counter.epochs[*counter.epoch] : Epoch{0, *counter.last};
    counter.epoch = *epoch - 1;
    counter.first_epoch = *epoch - 1 - before;
    counter.epochs = {{*epoch - 1, last}};
    counter.unsaid = false;
  }
  const std::int64_t offset = epoch ? offset_of(counter, counters, *epoch) : 0;
  counter.advances = counter.last && raw > *counter.last ? counter.advances + 1
                     : raw == counter.last               ? counter.advances
                                                         : 0;
  if (epoch) counter.epoch = epoch;
  if (counter.last && raw > *counter.last) counter.gap = raw - *counter.last;
  counter.last = raw;
  counter.total = counters.total;
  return sum(offset, raw);
}

std::int64_t StepAxis::offset_of(Counter& counter, const Counters& counters, std::int64_t epoch) {
  const std::int64_t raw = *counters.step;
  if (!counter.first_epoch || epoch < *counter.first_epoch) counter.first_epoch = epoch;
  const bool later = counter.epoch && epoch > *counter.epoch && counter.last;
  const bool full = later && counter.total && *counter.last >= *counter.total;
  // One line per epoch, always at the same batch: "epoch:3 iter:0/18".
  counter.standing = later && raw == *counter.last ? counter.standing + 1 : raw == counter.last ? counter.standing : 0;
  const bool surely = raw <= 1 || counters.batches || counter.standing >= kStandingEpochs;
  const bool stands = counters.total && raw < *counters.total && surely;
  // "Epoch: 2, Steps: 264", the same in every epoch: how many there are in one, no place in the run.
  const bool length = !counters.total && counters.kind == CounterKind::named && raw > 1;
  counter.starts_again |= later && (raw < *counter.last || (raw == *counter.last && (full || stands || length)));
  auto known = counter.epochs.find(epoch);
  if (known == counter.epochs.end()) {
    if (counter.epochs.size() >= kMostEpochs) counter.epochs.erase(counter.epochs.begin());
    Epoch fresh;
    const auto after = counter.epochs.lower_bound(epoch);
    if (after != counter.epochs.begin()) {
      const Epoch& before = std::prev(after)->second;
      // An epoch that is counted from 0 ends one stride behind its last count.
      const std::int64_t length = sum(before.longest, raw <= 0 ? counter.gap : 0);
      fresh.offset = counter.starts_again ? sum(before.offset, length) : before.offset;
    }
    known = counter.epochs.emplace(epoch, fresh).first;
  }
  known->second.longest = std::max(known->second.longest, raw);
  if (counters.total && counter.starts_again) {
    const std::int64_t epochs = std::min<std::int64_t>(epoch - *counter.first_epoch, 1'000'000);
    return epochs * std::clamp<std::int64_t>(*counters.total, 0, 1LL << 40);
  }
  return known->second.offset;
}

std::uint8_t StepAxis::lane_of(Counter& counter, std::int64_t step, bool& fell) {
  std::vector<Lane>& lanes = counter.lanes;
  const auto expected = [](const Lane& lane) { return sum(lane.last, lane.stride); };
  const auto follow = [&](Lane& lane) {
    if (step > lane.last) lane.stride = std::max<std::int64_t>(step - lane.last, 1);
    lane.last = step;
  };
  if (lanes.empty()) lanes.push_back({step, 1});
  if (counter.before_fall) {
    const bool goes_on_there = step >= counter.before_fall->last &&
                               distance(step, expected(*counter.before_fall)) < distance(step, expected(lanes.front()));
    if (goes_on_there && lanes.size() < kMostLanes) {
      // The lower step was another process: the front lane is the one that went on.
      lanes.insert(lanes.begin(), *counter.before_fall);
      counter.before_fall.reset();
    } else if (++counter.since_fall >= kFallConfirmed) {
      counter.before_fall.reset();
    }
  }
  std::size_t best = lanes.size();
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (step < lanes[i].last) continue;
    if (best == lanes.size() || distance(step, expected(lanes[i])) < distance(step, expected(lanes[best]))) best = i;
  }
  if (best == lanes.size()) {
    counter.before_fall = lanes.front();
    counter.since_fall = 0;
    const std::int64_t stride = lanes.front().stride;
    lanes.assign(1, Lane{step, stride});
    fell = true;
    return 0;
  }
  follow(lanes[best]);
  return static_cast<std::uint8_t>(best);
}

void StepAxis::advance(std::int64_t step, bool fell) {
  // A counter that is merely slower than another one does not take the log back; one that fell does.
  if (fell) ++generation_;
  if (fell || step >= current_) current_ = step;
}

}  // namespace osler::text
