// Joining and thinning what waits.
#include "recorder/waiting.h"

#include <array>
#include <cmath>
#include <iterator>
#include <unordered_map>

namespace osler::recording {
namespace {

template <typename T>
void move_behind(std::vector<T>& to, std::vector<T>&& from) {
  if (to.empty()) {
    to.swap(from);
  } else {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  }
}

/// Leaves only the items whose flag is set.
template <typename T>
std::size_t keep_flagged(std::vector<T>& items, const std::vector<bool>& keep) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!keep[i]) continue;
    if (kept != i) items[kept] = std::move(items[i]);
    ++kept;
  }
  const std::size_t gone = items.size() - kept;
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(kept), items.end());
  return gone;
}

}  // namespace

void Waiting::append(Waiting later) {
  move_behind(new_names, std::move(later.new_names));
  move_behind(config, std::move(later.config));
  if (later.layers) layers = std::move(later.layers);
  move_behind(histograms, std::move(later.histograms));
  move_behind(events, std::move(later.events));
  move_behind(marks, std::move(later.marks));
  move_behind(reports, std::move(later.reports));
}

std::size_t thin_events(std::vector<Event>& events) {
  constexpr std::size_t kGroup = 4;
  struct Group {
    std::array<std::size_t, kGroup> at{};
    std::size_t size = 0;
  };
  std::unordered_map<SeriesId, Group> groups;
  std::vector<bool> keep(events.size(), true);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!std::isfinite(events[i].value)) continue;
    Group& group = groups[events[i].series];
    group.at[group.size++] = i;
    if (group.size < kGroup) continue;
    std::size_t low = group.at[0];
    std::size_t high = group.at[kGroup - 1];
    for (const std::size_t at : group.at) {
      if (events[at].value < events[low].value) low = at;
      if (events[at].value > events[high].value) high = at;
    }
    for (const std::size_t at : group.at) keep[at] = at == low || at == high;
    group.size = 0;
  }
  return keep_flagged(events, keep);
}

std::size_t thin_histograms(std::vector<Histogram>& histograms) {
  std::unordered_map<SeriesId, std::size_t> seen;
  std::vector<bool> keep(histograms.size(), true);
  for (std::size_t i = histograms.size(); i-- > 0;) keep[i] = seen[histograms[i].series]++ % 2 == 0;
  return keep_flagged(histograms, keep);
}

}  // namespace osler::recording
