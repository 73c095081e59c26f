// Telling norms of layers from norms of the whole by what their names have in common.
#include "run/flat_layers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "run/name_words.h"

namespace osler {
namespace {

using namespace std::string_view_literals;
using words::has;

/// Words that leave the norm one of the whole, or of one network, task or machine among several.
bool says_nothing_of_layers(const std::string& word) {
  static constexpr std::array kWhole = {
      "grad"sv,  "grads"sv,  "gradient"sv, "gradients"sv, "gnorm"sv, "gradnorm"sv,  "gradientnorm"sv, "norm"sv,
      "norms"sv, "l2"sv,     "l1"sv,       "inf"sv,       "rms"sv,   "before"sv,    "after"sv,        "pre"sv,
      "post"sv,  "clip"sv,   "clipped"sv,  "clipping"sv,  "raw"sv,   "unclipped"sv, "optim"sv,        "optimizer"sv,
      "param"sv, "params"sv, "weight"sv,   "stats"sv,     "debug"sv, "log10"sv,     "ln"sv,           "value"sv};
  return has(kWhole, word) || has(words::kTrain, word) || has(words::kValidation, word) || has(words::kTest, word) ||
         (has(words::kCollection, word) && std::isdigit(static_cast<unsigned char>(word[0])) == 0) ||
         has(words::kSmoothed, word) || has(words::kDerived, word);
}

bool is_number(const std::string& word) {
  return std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The norm of another machine or task, or of one of several networks: "grad_norm_critic", but not the "q" of attention
/// within a longer name.
bool is_elsewhere(const NameWords& w) {
  static constexpr std::array kElsewhere = {"rank"sv, "worker"sv, "gpu"sv, "device"sv, "host"sv, "replica"sv,
                                            "node"sv, "task"sv,   "env"sv, "agent"sv,  "seed"sv};
  const auto said = std::count_if(w.all.begin(), w.all.end(), [](const std::string& word) {
    return !is_number(word) && !says_nothing_of_layers(word);
  });
  const bool network =
      w.any(words::kGenerator) || w.any(words::kDiscriminator) || w.any(words::kActor) || w.any(words::kCritic);
  const bool elsewhere = std::any_of(w.all.begin(), w.all.end(), [](const std::string& word) {
    return has(kElsewhere, std::string_view(word).substr(0, word.find_last_not_of("0123456789") + 1));  // "rank0"
  });
  return elsewhere || (network && said <= 1);
}

/// The layer that the name speaks of, as the name spells it; empty when it speaks of none.
std::string layer_in(const std::string& name, bool numbers_count) {
  const NameWords w = words_of_name(name);
  if (is_elsewhere(w)) return {};
  const bool named = std::any_of(w.all.begin(), w.all.end(), [&](const std::string& word) {
    return is_number(word) ? numbers_count : !says_nothing_of_layers(word);
  });
  if (!named) return {};
  std::string lower;
  for (const char c : name) lower.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  static constexpr std::array kNorm = {"gradient_norm"sv, "gradient-norm"sv, "gradient norm"sv, "gradientnorm"sv,
                                       "grad_norm"sv,     "grad-norm"sv,     "grad norm"sv,     "grad.norm"sv,
                                       "gradnorm"sv,      "gnorm"sv};
  std::string layer = name;
  for (const std::string_view norm : kNorm) {
    const auto at = lower.find(norm);
    if (at == std::string::npos) continue;
    layer.erase(at, norm.size());
    break;
  }
  const auto separates = [](char c) { return c == '_' || c == '.' || c == '-' || c == '/' || c == ' ' || c == ':'; };
  while (!layer.empty() && separates(layer.front())) layer.erase(layer.begin());
  while (!layer.empty() && separates(layer.back())) layer.pop_back();
  return layer;
}

/// "grad_norm/l2" by itself is a norm by its kind; beside "grad_norm/l3" it is that of a layer.
void cast_short_names(std::map<Role, std::vector<Cast>>& casts) {
  const auto numbered = [](const std::string& layer) {
    return layer.size() > 1 && (layer[0] == 'l' || layer[0] == 'L') && is_number(layer.substr(1));
  };
  const auto behind_slash = [](const std::string& name) { return name.substr(name.rfind('/') + 1); };
  const auto layers = casts.find(Role::layer_gradient);
  const auto norms = casts.find(Role::gradient_norm);
  if (layers == casts.end() || norms == casts.end()) return;
  if (std::none_of(layers->second.begin(), layers->second.end(),
                   [&](const Cast& cast) { return numbered(cast.guess.layer); })) {
    return;
  }
  const auto is_one = [&](const Cast& cast) {
    const std::string& name = cast.series->name();
    return name.find('/') != std::string::npos && numbered(behind_slash(name));
  };
  for (Cast cast : norms->second) {
    if (!is_one(cast)) continue;
    cast.guess = layers->second.front().guess;
    cast.guess.layer = behind_slash(cast.series->name());
    layers->second.push_back(std::move(cast));
  }
  std::erase_if(norms->second, is_one);
}

}  // namespace

void cast_flat_layers(std::map<Role, std::vector<Cast>>& casts) {
  cast_short_names(casts);
  constexpr std::size_t kFewest = 3;
  const auto found = casts.find(Role::gradient_norm);
  if (found == casts.end() || found->second.size() < kFewest) return;
  std::vector<Cast>& norms = found->second;
  // Columns of one name are told apart by a number: beside a plain "grad_norm", "grad_norm.1" is another of the kind.
  const bool plain = std::any_of(norms.begin(), norms.end(),
                                 [](const Cast& cast) { return layer_in(cast.series->name(), true).empty(); });
  std::vector<Cast> layers;
  for (const Cast& cast : norms) {
    const std::string layer = layer_in(cast.series->name(), !plain);
    if (layer.empty()) continue;
    Cast moved = cast;
    moved.guess = RoleGuess{};
    moved.guess.role = Role::layer_gradient;
    moved.guess.layer = layer;
    moved.guess.statistic = "norm";
    layers.push_back(std::move(moved));
  }
  if (layers.size() < kFewest) return;
  std::erase_if(norms, [&](const Cast& cast) {
    return std::any_of(layers.begin(), layers.end(), [&](const Cast& moved) { return moved.series == cast.series; });
  });
  auto& target = casts[Role::layer_gradient];
  target.insert(target.end(), layers.begin(), layers.end());
}

}  // namespace osler
