// Finding the one series that can be an objective.
#include "run/lone_series.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "run/name_words.h"

namespace osler {
namespace {

constexpr std::uint64_t kFewestPoints = 5;  // what a judgement needs
constexpr std::size_t kMostLookedAt = 64;   // a log with more unknown names holds no lone curve

/// Whole numbers that never fall: a counter, however it is called.
bool counts(const std::vector<Bucket>& buckets) {
  const auto whole = [](double value) { return value == std::floor(value); };
  double last = buckets.front().min;
  return std::all_of(buckets.begin(), buckets.end(), [&](const Bucket& bucket) {
    const bool rises = bucket.min >= last && whole(bucket.first) && whole(bucket.last) && whole(bucket.max);
    last = bucket.max;
    return rises;
  });
}

using Place = std::vector<Bucket>::const_iterator;

double mean_of(Place begin, Place end) {
  double sum = 0;
  double count = 0;
  for (; begin != end; ++begin) {
    sum += begin->mean * static_cast<double>(begin->count);
    count += static_cast<double>(begin->count);
  }
  return count > 0 ? sum / count : 0;
}

/// Positive, and lower at the end than at the start: by its last value and by its last third.
bool has_come_down(const Bucket& total, const std::vector<Bucket>& buckets) {
  if (!(total.min > 0) || !(total.last < total.first)) return false;
  const auto third = static_cast<std::ptrdiff_t>(std::max<std::size_t>(buckets.size() / 3, 1));
  return mean_of(buckets.end() - third, buckets.end()) < mean_of(buckets.begin(), buckets.begin() + third);
}

/// Whether the series neither counts nor stands still.
bool moves(const Series& series) {
  const auto total = series.summary().total();
  if (!total || total->count == 0 || (total->min == total->max && total->nonfinite == 0)) return false;
  return !counts(series.summary().buckets());
}

/// Between 0 and 1, or in per cent, and higher at the end than at the start by its last third.
bool is_rising_share(const Series& series) {
  constexpr double kPerCent = 100;
  const auto total = series.summary().total();
  if (!total || total->count == 0 || total->min < 0 || total->max > kPerCent) return false;
  const std::vector<Bucket> buckets = series.summary().buckets();
  const auto third = static_cast<std::ptrdiff_t>(std::max<std::size_t>(buckets.size() / 3, 1));
  return total->last > total->first &&
         mean_of(buckets.end() - third, buckets.end()) > mean_of(buckets.begin(), buckets.begin() + third);
}

bool could_be_loss(const Series& series) {
  const NameWords w = words_of_name(series.name());
  if (w.any(words::kDerived) || w.any(words::kDuration) || is_statistic(series.name())) return false;
  return series.summary().points() >= kFewestPoints &&
         has_come_down(*series.summary().total(), series.summary().buckets());
}

}  // namespace

void cast_lone_series(std::map<Role, std::vector<Cast>>& casts) {
  const bool known = std::any_of(casts.begin(), casts.end(), [](const auto& entry) {
    return entry.first != Role::other && entry.first != Role::epoch && !entry.second.empty();
  });
  auto& unknown = casts[Role::other];
  if (known || unknown.size() > kMostLookedAt) return;
  const Series* lone = nullptr;
  for (const Cast& cast : unknown) {
    // Beside what rises, as shares of right answers do, the one that comes down is the loss.
    if (!moves(*cast.series) || is_rising_share(*cast.series)) continue;
    if (lone != nullptr) return;
    lone = cast.series;
  }
  if (lone == nullptr || !could_be_loss(*lone)) return;
  std::erase_if(unknown, [&](const Cast& cast) { return cast.series == lone; });
  RoleGuess guess;
  guess.role = Role::train_loss;
  casts[Role::train_loss].push_back({lone, std::move(guess)});
}

}  // namespace osler
