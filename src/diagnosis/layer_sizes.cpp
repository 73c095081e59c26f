// Measuring layers on a logarithmic scale, and finding those that no other is near.
#include "diagnosis/layer_sizes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "diagnosis/layers.h"
#include "diagnosis/wording.h"
#include "signal/robust.h"

namespace osler {
namespace {

/// The statistic of size that all layers share: a norm and a deviation per element are not of one scale.
std::string_view shared_statistic(const std::vector<Layer>& layers) {
  static constexpr std::array<std::string_view, 7> kSizes = {"norm", "l2", "rms", "std", "mean-abs", "abs-max", "max"};
  std::string_view best;
  std::size_t most = 0;
  for (const std::string_view statistic : kSizes) {
    const auto have = static_cast<std::size_t>(std::count_if(
        layers.begin(), layers.end(), [&](const Layer& layer) { return layer.find({statistic}) != nullptr; }));
    if (have <= most) continue;
    best = statistic;
    most = have;
  }
  return best;
}

/// Layers that are alike: of one kind, in one network.
struct Group {
  std::vector<const LayerSize*> layers;
  std::vector<const LayerSize*> judged;  ///< the others are there to be compared with
  double strictness = 1;                 ///< factor on the ratio
};

bool enough(std::size_t layers, const ApartRule& rule) {
  return static_cast<double>(layers) > rule.fewest;
}

/// The groups with enough members. Weights, tables and adapters of too small a group are compared with those of all
/// kinds of their network, to which they are less alike.
std::vector<Group> groups_of(const std::vector<LayerSize>& sizes, const ApartRule& rule) {
  constexpr double kLessAlike = 10;
  std::map<std::pair<std::string, LayerKind>, Group> by_kind;
  for (const LayerSize& size : sizes) by_kind[{network_of_layer(size.layer), size.kind}].layers.push_back(&size);
  std::vector<Group> groups;
  std::map<std::string, Group> by_network;
  for (auto& [key, group] : by_kind) {
    const auto& [network, kind] = key;
    const bool alone = !enough(group.layers.size(), rule);
    if (!is_small(kind)) {
      Group& all = by_network[network];
      all.layers.insert(all.layers.end(), group.layers.begin(), group.layers.end());
      if (alone) all.judged.insert(all.judged.end(), group.layers.begin(), group.layers.end());
      all.strictness = kLessAlike;
    }
    if (alone) continue;
    group.judged = group.layers;
    groups.push_back(std::move(group));
  }
  for (auto& [network, group] : by_network) {
    if (!group.judged.empty() && enough(group.layers.size(), rule)) groups.push_back(std::move(group));
  }
  return groups;
}

/// Since when the layer has been on the far side of the halfway point, on a logarithmic scale, to the others.
std::int64_t far_since(const LayerSize& size, double others) {
  const double halfway = std::sqrt(size.now) * std::sqrt(others);
  const bool above = size.now > others;
  std::size_t first = size.curve.size();
  while (first > 0 && (above ? size.curve.value[first - 1] > halfway : size.curve.value[first - 1] < halfway)) --first;
  return first == 0 || first == size.curve.size() ? size.first_step : std::llround(size.curve.step[first]);
}

/// Of a group sorted from the far side: how many lie beyond the widest gap on that side.
std::size_t beyond_gap(const std::vector<double>& distances, const ApartRule& rule) {
  const auto most = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::floor(rule.share * static_cast<double>(distances.size()))));
  std::size_t at = 0;
  double widest = 0;
  for (std::size_t i = 1; i <= std::min(most, distances.size() - 1); ++i) {
    const double gap = distances[i - 1] - distances[i];
    if (gap <= widest) continue;
    widest = gap;
    at = i;
  }
  return widest >= std::log(rule.gap) ? at : 0;
}

/// `sign` 1 looks for layers above the others, -1 for layers below.
void add_apart(Group& group, const ApartRule& rule, double sign, std::vector<ApartLayer>& found) {
  std::stable_sort(group.layers.begin(), group.layers.end(),
                   [sign](const LayerSize* a, const LayerSize* b) { return sign * a->now > sign * b->now; });
  std::vector<double> distances;
  for (const LayerSize* size : group.layers) distances.push_back(sign * std::log(size->now));
  const std::size_t apart = beyond_gap(distances, rule);
  if (apart == 0) return;
  const auto rest = std::span(distances).subspan(apart);
  const double middle = signal::median(rest);
  const double wanted = std::max(std::log(rule.ratio * group.strictness), rule.spreads * signal::mad_scale(rest));
  for (std::size_t i = 0; i < apart; ++i) {
    const LayerSize* size = group.layers[i];
    const bool judged = std::find(group.judged.begin(), group.judged.end(), size) != group.judged.end();
    if (!judged || distances[i] - middle < wanted) continue;
    const double others = std::exp(sign * middle);
    found.push_back({size, others, rest.size(), std::exp(distances[i] - middle), far_since(*size, others)});
  }
}

std::vector<ApartLayer> apart(const std::vector<LayerSize>& sizes, const ApartRule& rule, double sign) {
  std::vector<ApartLayer> found;
  for (Group& group : groups_of(sizes, rule)) add_apart(group, rule, sign, found);
  std::stable_sort(found.begin(), found.end(),
                   [](const ApartLayer& a, const ApartLayer& b) { return a.ratio > b.ratio; });
  return found;
}

}  // namespace

std::vector<LayerSize> gradient_sizes(const Patient& patient, double fewest) {
  const std::vector<Layer> layers = layers_in(patient, Role::layer_gradient);
  const std::string_view statistic = shared_statistic(layers);
  std::vector<LayerSize> sizes;
  for (const Layer& layer : layers) {
    const Series* series = layer.find({statistic});
    if (series == nullptr) continue;
    LayerSize size{layer.name, series->name(), kind_of_layer(layer.name), layer_curve(*series), 0, 0, 0, 0};
    const Bucket total = *series->summary().total();
    if (size.curve.points() < fewest || total.min < 0) continue;
    size.now = level_now(size.curve);
    size.before = signal::median(std::span(size.curve.value).first((size.curve.size() + 3) / 4));
    size.first_step = total.first_step;
    size.last_step = total.last_step;
    if (size.now > 0) sizes.push_back(std::move(size));
  }
  return sizes;
}

std::vector<ApartLayer> layers_above(const std::vector<LayerSize>& sizes, const ApartRule& rule) {
  return apart(sizes, rule, 1);
}

std::vector<ApartLayer> layers_below(const std::vector<LayerSize>& sizes, const ApartRule& rule) {
  return apart(sizes, rule, -1);
}

std::string why_incomparable(const std::vector<LayerSize>& sizes, const ApartRule& rule) {
  if (!groups_of(sizes, rule).empty()) return {};
  return "gradients of fewer than " + number(rule.fewest + 1) + " layers of one kind in the log";
}

}  // namespace osler
