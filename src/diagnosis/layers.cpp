// Collecting the per-layer series and what their names tell.
#include "diagnosis/layers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

#include "run/series_names.h"
#include "signal/robust.h"

namespace osler {
namespace {

constexpr std::size_t kLayerPoints = 128;
constexpr std::size_t kNamed = 3;

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Text order, but a run of digits counts as the number it spells.
bool before_by_number(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto number = [](std::string_view text, std::size_t& at) {
        while (at < text.size() && text[at] == '0') ++at;
        const std::size_t start = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        return text.substr(start, at - start);
      };
      const std::string_view left = number(a, i);
      const std::string_view right = number(b, j);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
      continue;
    }
    if (a[i] != b[j]) return a[i] < b[j];
    ++i;
    ++j;
  }
  return a.size() - i < b.size() - j;
}

template <std::size_t N>
bool any_word(std::string_view name, const std::array<std::string_view, N>& list) {
  const std::vector<std::string> words = words_of_layer(name);
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return std::find(list.begin(), list.end(), word) != list.end(); });
}

}  // namespace

const Series* Layer::find(std::initializer_list<std::string_view> statistics) const {
  for (const std::string_view statistic : statistics) {
    const auto found = series.find(statistic);
    if (found != series.end()) return found->second;
  }
  return nullptr;
}

std::vector<Layer> layers_in(const Patient& patient, Role role) {
  std::unordered_map<const Series*, const Cast*> casts;
  for (const Cast& cast : patient.roles().in(role)) casts.emplace(cast.series, &cast);
  std::vector<Layer> layers;
  if (casts.empty()) return layers;
  std::unordered_map<std::string, std::size_t> known;
  // The roles are sorted by usefulness; the run itself keeps the order of appearance.
  for (const Series& series : patient.run().all_series()) {
    const auto cast = casts.find(&series);
    if (cast == casts.end() || series.summary().empty()) continue;
    const RoleGuess& guess = cast->second->guess;
    const std::string& name = guess.layer.empty() ? series.name() : guess.layer;
    const auto [at, fresh] = known.emplace(name, layers.size());
    if (fresh) layers.push_back({name, {}});
    layers[at->second].series.emplace(guess.statistic.empty() ? "norm" : guess.statistic, &series);
  }
  const auto by_text = [](const Layer& a, const Layer& b) { return a.name < b.name; };
  if (std::is_sorted(layers.begin(), layers.end(), by_text)) {
    std::stable_sort(layers.begin(), layers.end(),
                     [](const Layer& a, const Layer& b) { return before_by_number(a.name, b.name); });
  }
  return layers;
}

std::vector<std::string> words_of_layer(std::string_view layer) {
  std::vector<std::string> words(1);
  for (const char c : layer) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      words.back().push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool is_vector(std::string_view layer) {
  static constexpr std::array<std::string_view, 13> kVectors = {
      "bias", "biases",    "beta",      "gamma",      "bn", "ln",     "norm",
      "gn",   "layernorm", "batchnorm", "layerscale", "ls", "rmsnorm"};
  return any_word(layer, kVectors);
}

bool is_embedding(std::string_view layer) {
  static constexpr std::array<std::string_view, 12> kTables = {"embed", "embedding", "embeddings", "emb",
                                                               "embs",  "wte",       "wpe",        "lookup",
                                                               "table", "expert",    "experts",    "tokens"};
  return any_word(layer, kTables);
}

bool is_embedding(const Patient& patient, std::string_view layer) {
  return is_embedding(layer) ||
         patient.run().find(series_name::completed(series_name::kParameterTableOf, layer)) != nullptr;
}

std::string weight_beside(std::string_view layer) {
  constexpr std::string_view kBias = "bias";
  if (!layer.ends_with(kBias)) return {};
  return std::string(layer.substr(0, layer.size() - kBias.size())) + "weight";
}

signal::Curve layer_curve(const Series& series) {
  return signal::curve_of(series.summary(), kLayerPoints);
}

double level_now(const signal::Curve& curve) {
  constexpr std::size_t kFewest = 3;
  const std::size_t tail = std::min(curve.size(), std::max(kFewest, curve.size() / 10));
  return signal::median(std::span(curve.value).last(tail));
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  if (names.size() > kNamed) text += " and " + std::to_string(names.size() - kNamed) + " more";
  return text;
}

}  // namespace osler
