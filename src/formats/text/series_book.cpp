// Waiting names, open series, and the bound on both.
#include "formats/text/series_book.h"

#include <algorithm>

namespace osler::text {
namespace {

constexpr std::uint32_t kSettingSightings = 32;
constexpr std::uint32_t kDoubtfulSightings = 3;
constexpr std::uint32_t kLikelySightings = 2;
/// What is 0 this often beside a counter is measured and tells something; a setting would hardly be 0.
constexpr std::uint32_t kZeroSightings = 8;
/// A name that waits keeps this many points; more come only where a value stands still for long.
constexpr std::size_t kMostKept = 64;

std::string_view suffix(Grain grain) {
  switch (grain) {
    case Grain::epoch:
      return " (epoch)";
    case Grain::step:
      return " (step)";
    case Grain::none:
      break;
  }
  return " (other)";
}

}  // namespace

std::uint32_t SeriesBook::entry(std::string_view name, Grain grain) {
  key_.assign(name);
  key_ += static_cast<char>(grain);  // a control character, so no other name ends like this
  const auto [known, added] = numbers_.try_emplace(key_, static_cast<std::uint32_t>(entries_.size()));
  if (added) entries_.push_back({.name = std::string(name), .grain = grain, .merit = merit_of(name), .waiting = {}});
  return known->second;
}

void SeriesBook::add(std::uint32_t number, Sighting sighting, bool own, Trust trust, std::uint32_t generation,
                     EventSink& sink) {
  Entry& entry = entries_[number];
  const bool before = entry.seen > 0 && entry.generation == generation;
  if (!own && before && sighting.step <= entry.last_step) sighting.step = entry.last_step + 1;
  entry.last_step = sighting.step;
  entry.generation = generation;
  ++entry.seen;
  if (entry.open) {
    tell(entry, sighting, sink);
    return;
  }
  if (entry.seen == 1) entry.first_value = sighting.value;
  entry.changed |= sighting.value != entry.first_value;
  entry.trust = std::max(entry.trust, trust);
  if (entry.waiting.size() < kMostKept) entry.waiting.push_back(sighting);
  const std::uint32_t wanted = entry.trust == Trust::likely    ? kLikelySightings
                               : entry.trust == Trust::setting ? kSettingSightings
                                                               : kDoubtfulSightings;
  const bool zero = entry.trust == Trust::likely && entry.first_value == 0 && entry.seen >= kZeroSightings;
  if (entry.trust == Trust::certain || zero || (entry.changed && entry.seen >= wanted)) open(entry, sink);
}

void SeriesBook::open(Entry& entry, EventSink& sink) {
  if (open_ >= kMostNames) {
    full_ = true;
    entry.waiting.clear();
    return;
  }
  entry.open = true;
  ++open_;
  const Grain first = grains_.try_emplace(entry.name, entry.grain).first->second;
  entry.id = sink.series(first == entry.grain ? entry.name : entry.name + std::string(suffix(entry.grain)));
  for (const Sighting& one : entry.waiting) tell(entry, one, sink);
  entry.waiting = {};
}

void SeriesBook::tell(const Entry& entry, const Sighting& sighting, EventSink& sink) {
  const Event event{entry.id, sighting.step, sighting.wall_time, sighting.value};
  if (entry.merit == Merit::none) {
    sink.add(event);
  } else {
    gaps_.take(event, sighting.others, sink);
  }
}

void SeriesBook::tidy() {
  std::vector<std::uint32_t> moved(entries_.size());
  std::vector<Entry> kept;
  kept.reserve(open_);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    moved[i] = static_cast<std::uint32_t>(kept.size());
    if (entries_[i].open) kept.push_back(std::move(entries_[i]));
  }
  std::erase_if(numbers_, [&](const auto& named) {
    const std::uint32_t from = named.second;
    return moved[from] == kept.size() || (from + 1 < moved.size() && moved[from + 1] == moved[from]);
  });
  for (auto& [name, number] : numbers_) number = moved[number];
  entries_ = std::move(kept);
}

void SeriesBook::finish(EventSink& sink) {
  const bool nothing_else = open_ == 0;
  for (Entry& entry : entries_) {
    const bool zero = entry.first_value == 0 && entry.seen >= kDoubtfulSightings;
    if (!entry.open && entry.trust == Trust::likely && (entry.changed || zero || nothing_else)) open(entry, sink);
  }
  // A line of text names what it has: what was never more than NaN in it was computed.
  constexpr bool kEveryLine = true;
  gaps_.finish(kEveryLine, sink);
}

}  // namespace osler::text
