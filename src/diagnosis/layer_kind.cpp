// Telling kinds of layers by their names.
#include "diagnosis/layer_kind.h"

#include <algorithm>
#include <array>

#include "diagnosis/layers.h"

namespace osler {
namespace {

using namespace std::string_view_literals;

template <std::size_t N>
bool among(std::string_view word, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

template <std::size_t N>
bool any_among(const std::vector<std::string>& words, const std::array<std::string_view, N>& list) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return among(word, list); });
}

/// "lora_A" or "lora.down": what stands directly behind the word, or two words behind it.
bool follows_adapter(const std::vector<std::string>& words, std::initializer_list<std::string_view> endings) {
  const auto adapter = std::find_if(words.begin(), words.end(),
                                    [](const std::string& word) { return word == "lora" || word == "dora"; });
  return std::any_of(adapter, words.end(), [&](const std::string& word) {
    return std::find(endings.begin(), endings.end(), word) != endings.end();
  });
}

}  // namespace

std::string_view to_string(LayerKind kind) {
  switch (kind) {
    case LayerKind::weight:
      return "weight";
    case LayerKind::embedding:
      return "embedding";
    case LayerKind::adapter_in:
    case LayerKind::adapter_out:
      return "adapter";
    case LayerKind::bias:
      return "bias";
    case LayerKind::normalisation:
      return "normalisation";
    case LayerKind::scalar:
      return "scalar";
  }
  return "weight";
}

LayerKind kind_of_layer(std::string_view layer) {
  static constexpr std::array kScalars = {"temperature"sv, "tau"sv,   "alpha"sv,  "scale"sv,  "gate"sv,
                                          "gates"sv,       "token"sv, "scalar"sv, "rezero"sv, "lambda"sv};
  const std::vector<std::string> words = words_of_layer(layer);
  const bool weight = !words.empty() && words.back() == "weight";
  if (any_among(words, std::array{"bias"sv, "biases"sv, "beta"sv})) return LayerKind::bias;
  if (is_vector(layer)) return LayerKind::normalisation;
  if (follows_adapter(words, {"a", "down"})) return LayerKind::adapter_in;
  if (follows_adapter(words, {"b", "up"})) return LayerKind::adapter_out;
  if (is_embedding(layer)) return LayerKind::embedding;
  if (!weight && !words.empty() && among(words.back(), kScalars)) return LayerKind::scalar;
  return LayerKind::weight;
}

bool is_small(LayerKind kind) {
  return kind == LayerKind::bias || kind == LayerKind::normalisation || kind == LayerKind::scalar;
}

std::string network_of_layer(std::string_view layer) {
  static constexpr std::array kNetworks = {
      "actor"sv, "critic"sv, "policy"sv, "value"sv, "generator"sv, "discriminator"sv,
      "netg"sv,  "netd"sv,   "qf"sv,     "vf"sv,    "pi"sv,        "disc"sv};
  const std::vector<std::string> words = words_of_layer(layer);
  for (std::size_t i = 0; i < words.size(); ++i) {
    // Attention has a "value", too: a network is named first, or as "value_net".
    const bool is_net = i + 1 < words.size() && (words[i + 1] == "net" || words[i + 1] == "network");
    if ((i == 0 || is_net) && among(words[i], kNetworks)) return words[i];
  }
  return {};
}

}  // namespace osler
