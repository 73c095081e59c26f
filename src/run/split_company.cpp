// What names that say little of the split mean beside the others.
#include "run/split_company.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "run/name_words.h"

namespace osler {
namespace {

using words::has;

constexpr double kPerCent = 100;
constexpr double kSurelyPerCent = 20;  // a share in per cent gets this high; losses that do are no shares
constexpr double kComeDown = 0.95;     // of its first third: what ends lower is minimised
constexpr double kFromBelow = 0.1;     // of its range: a share of right answers begins near its lowest value

bool is_bare_split(const Cast& cast) {
  const NameWords w = words_of_name(cast.series->name());
  return w.all.size() == 1 && (has(words::kTrain, w.all[0]) || measured_on_validation(w));
}

bool names_loss(const Cast& cast) {
  return words_of_name(cast.series->name()).any(words::kLoss);
}

bool names_training(const Cast& cast) {
  return words_of_name(cast.series->name()).any(words::kTrain);
}

double mean_of(const std::vector<Bucket>& buckets, std::size_t begin, std::size_t end) {
  double sum = 0;
  double count = 0;
  for (std::size_t i = begin; i < end; ++i) {
    sum += buckets[i].mean * static_cast<double>(buckets[i].count);
    count += static_cast<double>(buckets[i].count);
  }
  return count > 0 ? sum / count : 0;
}

/// Values of a share, in parts of one or in per cent, that do not come down as a loss would.
bool is_rising_share(const Cast& cast) {
  const auto total = cast.series->summary().total();
  if (!total || total->count == 0 || total->min < 0 || total->max > kPerCent) return false;
  if (total->max > 1 && total->max < kSurelyPerCent) return false;
  const std::vector<Bucket> buckets = cast.series->summary().buckets();
  const std::size_t third = std::max<std::size_t>(buckets.size() / 3, 1);
  return mean_of(buckets, buckets.size() - third, buckets.size()) >= kComeDown * mean_of(buckets, 0, third);
}

/// An overfitted validation loss falls before it rises; a share of right answers begins at its lowest.
bool begins_lowest(const Cast& cast) {
  const auto total = cast.series->summary().total();
  return total && total->first <= total->min + kFromBelow * (total->max - total->min);
}

}  // namespace

void settle_bare_splits(std::map<Role, std::vector<Cast>>& casts) {
  auto& training = casts[Role::train_loss];
  auto& validation = casts[Role::validation_loss];
  if (std::none_of(training.begin(), training.end(), names_loss)) return;
  std::vector<Cast> bare;
  for (const auto* list : {&training, &validation}) {
    std::copy_if(list->begin(), list->end(), std::back_inserter(bare), is_bare_split);
  }
  if (bare.empty() || !std::all_of(bare.begin(), bare.end(), is_rising_share)) return;
  const bool trained = std::any_of(bare.begin(), bare.end(), names_training);
  if (!trained && !std::all_of(bare.begin(), bare.end(), begins_lowest)) return;
  for (Cast& cast : bare) {
    // Without training's, as for links of graphs, it may as well be the area under a curve.
    const Role of_validation = trained ? Role::validation_accuracy : Role::validation_metric;
    cast.guess.role = names_training(cast) ? Role::train_accuracy : of_validation;
    cast.guess.measure = trained ? Measure::accuracy : Measure::score;
    cast.guess.higher_is_better = true;
    cast.guess.component = false;
    casts[cast.guess.role].push_back(std::move(cast));
  }
  std::erase_if(training, is_bare_split);
  std::erase_if(validation, is_bare_split);
}

void settle_unsplit_accuracies(std::map<Role, std::vector<Cast>>& casts) {
  const auto& losses = casts[Role::train_loss];
  const bool split = !losses.empty() && std::all_of(losses.begin(), losses.end(), names_training);
  if (!split || casts[Role::validation_loss].empty() || !casts[Role::validation_accuracy].empty()) return;
  auto& accuracies = casts[Role::train_accuracy];
  const auto unsplit = [](const Cast& cast) { return !names_training(cast); };
  for (Cast cast : accuracies) {
    if (!unsplit(cast)) continue;
    cast.guess.role = Role::validation_accuracy;
    casts[Role::validation_accuracy].push_back(std::move(cast));
  }
  std::erase_if(accuracies, unsplit);
}

}  // namespace osler
