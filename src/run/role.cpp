// Guessing what a series means from its name: split into words, look each up, decide by precedence.
#include "osler/run/role.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "run/role_words.h"

namespace osler {
namespace {

using words::has;

constexpr std::array<std::pair<Role, std::string_view>, 19> kRoleNames = {{
    {Role::train_loss, "train-loss"},
    {Role::validation_loss, "validation-loss"},
    {Role::train_accuracy, "train-accuracy"},
    {Role::validation_accuracy, "validation-accuracy"},
    {Role::train_metric, "train-metric"},
    {Role::validation_metric, "validation-metric"},
    {Role::learning_rate, "learning-rate"},
    {Role::gradient_norm, "gradient-norm"},
    {Role::clip_threshold, "clip-threshold"},
    {Role::loss_scale, "loss-scale"},
    {Role::epoch, "epoch"},
    {Role::step_time, "step-time"},
    {Role::throughput, "throughput"},
    {Role::reward, "reward"},
    {Role::layer_gradient, "layer-gradient"},
    {Role::layer_weight, "layer-weight"},
    {Role::layer_update, "layer-update"},
    {Role::layer_activation, "layer-activation"},
    {Role::other, "other"},
}};

/// The words of a name, lower-case: split at anything but letters and digits, and where camel case rises.
std::vector<std::string> split_words(std::string_view name) {
  std::vector<std::string> found;
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) found.push_back(std::exchange(word, {}));
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    if (std::isalnum(c) == 0) {
      flush();
      continue;
    }
    const bool rises = i > 0 && std::isupper(c) != 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    // "mAP" and "mIoU" are single words in spite of their case.
    if (rises && word != "m" && word != "mio" && word != "io") flush();
    word.push_back(static_cast<char>(std::tolower(c)));
  }
  flush();
  return found;
}

bool is_kind_word(std::string_view word) {
  return has(words::kLoss, word) || has(words::kWeakLoss, word) || has(words::kAccuracy, word) ||
         has(words::kHigherMetric, word) || has(words::kLowerMetric, word);
}

/// Splits words such as "valloss", "trainacc", "vacc" and "maploss" that were written together.
std::vector<std::string> split_compounds(std::vector<std::string> found) {
  static constexpr std::array<std::string_view, 10> kPrefixes = {"train", "training", "tr",   "validation", "valid",
                                                                 "val",   "eval",     "test", "dev",        "v"};
  std::vector<std::string> split;
  for (std::string& word : found) {
    bool done = false;
    if (!is_kind_word(word)) {
      for (const std::string_view prefix : kPrefixes) {
        if (word.size() <= prefix.size() || word.compare(0, prefix.size(), prefix) != 0) continue;
        const std::string rest = word.substr(prefix.size());
        if (!is_kind_word(rest) || rest.size() < 2) continue;
        split.emplace_back(prefix == "v" ? "val" : prefix);
        split.push_back(rest);
        done = true;
        break;
      }
    }
    if (!done && word == "trl") {
      split.insert(split.end(), {"train", "loss"});
      done = true;
    }
    if (!done && word == "tel") {
      split.insert(split.end(), {"test", "loss"});
      done = true;
    }
    if (!done) split.push_back(std::move(word));
  }
  return split;
}

struct Words {
  std::vector<std::string> all;

  template <std::size_t N>
  [[nodiscard]] bool any(const std::array<std::string_view, N>& list) const {
    return std::any_of(all.begin(), all.end(), [&](const std::string& word) { return has(list, word); });
  }
  [[nodiscard]] bool any(std::string_view word) const { return std::find(all.begin(), all.end(), word) != all.end(); }
  [[nodiscard]] bool adjacent(std::string_view first, std::string_view second) const {
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if (all[i] == first && all[i + 1] == second) return true;
    }
    return false;
  }
};

bool is_learning_rate(const Words& w) {
  if (w.adjacent("learning", "rate") || w.any("lr") || w.any("learningrate")) return true;
  if (w.all.size() == 1 && w.all[0] == "rate") return true;
  return std::any_of(w.all.begin(), w.all.end(), [](const std::string& word) {
    return word.size() > 2 && word.compare(0, 2, "lr") == 0 &&
           std::all_of(word.begin() + 2, word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  });
}

bool is_gradient_norm(const Words& w) {
  static constexpr std::array<std::string_view, 6> kWhole = {"gnorm",       "gradnorm", "gradientnorm",
                                                             "gnorm_total", "norm",     "gradnorms"};
  if (w.adjacent("g", "param") || w.any("gnorm") || w.any("gradnorm") || w.any("gradientnorm")) return true;
  const bool gradient = w.any("grad") || w.any("gradient") || w.any("grads") || w.any("gradients");
  if (gradient && (w.any("norm") || w.any("norms"))) return true;
  return w.all.size() == 1 && has(kWhole, w.all[0]);
}

/// What follows the family in "grad_norm/encoder.0.weight", or an empty view.
std::string_view layer_after(std::string_view name, std::size_t separator) {
  std::string_view layer = name.substr(separator + 1);
  if (const auto hash = layer.rfind('#'); hash != std::string_view::npos) layer = layer.substr(0, hash);
  static constexpr std::array<std::string_view, 9> kNotLayers = {"total",   "global", "all", "norm", "mean",
                                                                 "overall", "max",    "min", "avg"};
  std::string lower(layer);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return has(kNotLayers, lower) ? std::string_view{} : layer;
}

/// Recognises per-layer series: "<family>/<layer>" with an optional "#statistic" behind it.
std::optional<RoleGuess> guess_layer(std::string_view name) {
  const auto slash = name.find('/');
  if (slash == std::string_view::npos || slash == 0) return std::nullopt;
  std::string family;
  for (const char c : name.substr(0, slash)) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      family.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    }
  }
  RoleGuess guess;
  if (has(words::kGradientFamily, family)) guess.role = Role::layer_gradient;
  if (has(words::kWeightFamily, family)) guess.role = Role::layer_weight;
  if (has(words::kUpdateFamily, family)) guess.role = Role::layer_update;
  if (has(words::kActivationFamily, family)) guess.role = Role::layer_activation;
  if (guess.role == Role::other) return std::nullopt;
  const std::string_view layer = layer_after(name, slash);
  if (layer.empty()) return std::nullopt;
  guess.layer = layer;
  const auto hash = name.rfind('#');
  guess.statistic = hash == std::string_view::npos ? "norm" : name.substr(hash + 1);
  return guess;
}

/// Roles that do not depend on the split (training or validation) the number was measured on.
std::optional<Role> guess_state(const Words& w) {
  if (is_learning_rate(w)) return Role::learning_rate;
  if (w.any("clip") && (w.any("norm") || w.any("threshold") || w.any("value") || w.any("max"))) {
    return Role::clip_threshold;
  }
  if (w.adjacent("loss", "scale") || w.any("lossscale") || w.adjacent("grad", "scale") ||
      w.adjacent("scaler", "scale") || w.any("loss_scale")) {
    return Role::loss_scale;
  }
  if (is_gradient_norm(w)) return Role::gradient_norm;
  if (w.all.size() == 1 && (w.all[0] == "epoch" || w.all[0] == "epochs")) return Role::epoch;
  if (w.any(words::kThroughput) || (w.any("per") && (w.any("second") || w.any("sec") || w.any("s"))) ||
      w.adjacent("it", "s") || w.adjacent("tok", "s") || w.adjacent("tokens", "s") || w.adjacent("samples", "s")) {
    return Role::throughput;
  }
  // "elapsed time" is that of the run, "elapsed time per iteration" that of a step.
  const bool of_the_run = w.any("elapsed") && !w.any("per");
  if (w.any(words::kDuration) && !w.any(words::kLoss) && !w.any("eta") && !w.any("data") && !of_the_run &&
      !w.any("total") && !w.any("wall") && !w.any("eval")) {
    return Role::step_time;
  }
  return std::nullopt;
}

/// Whether the name has a word beyond split, kind and manner of collection: one loss or metric among several.
bool is_component(const Words& w) {
  std::size_t kinds = 0;
  for (const std::string& word : w.all) {
    if (has(words::kLoss, word) || has(words::kAccuracy, word)) {
      ++kinds;
    } else if (!has(words::kTrain, word) && !has(words::kValidation, word) && !has(words::kTest, word) &&
               !has(words::kCollection, word) && !has(words::kSmoothed, word) && !has(words::kWeakLoss, word) &&
               !has(words::kHigherMetric, word) && !has(words::kLowerMetric, word) && !has(words::kReward, word)) {
      return true;
    }
  }
  return kinds > 1;
}

bool measured_on_validation(const Words& w) {
  return w.any(words::kValidation) || w.any(words::kTest);
}

RoleGuess guess_measure(const Words& w) {
  RoleGuess guess;
  guess.component = is_component(w);
  guess.running_mean = w.any(words::kSmoothed);
  const bool validation = measured_on_validation(w);
  const bool derived = w.any(words::kDerived) && !w.any("total");
  if (w.any("best") || (derived && !w.any(words::kLoss))) return guess;

  if (w.any(words::kReward) && !derived) {
    guess.role = Role::reward;
    guess.higher_is_better = true;
  } else if (w.any(words::kAccuracy)) {
    guess.role = validation ? Role::validation_accuracy : Role::train_accuracy;
    guess.higher_is_better = true;
  } else if ((w.any(words::kLoss) || w.adjacent("cross", "entropy")) && !derived) {
    guess.role = validation ? Role::validation_loss : Role::train_loss;
    guess.adversarial = w.any(words::kAdversarial) && !w.adjacent("cross", "entropy");
  } else if (w.any(words::kWeakLoss)) {
    guess.role = validation ? Role::validation_metric : Role::train_metric;
  } else if (w.any(words::kLowerMetric) || w.any(words::kHigherMetric)) {
    // BLEU, mAP, WER and the like are practically always measured on held-out data.
    guess.role = w.any(words::kTrain) ? Role::train_metric : Role::validation_metric;
    guess.higher_is_better = w.any(words::kHigherMetric) && !w.any(words::kLowerMetric);
  } else if (!w.all.empty() && (w.all[0] == "g" || w.all[0] == "d") && w.all.size() <= 2) {
    guess.role = Role::train_loss;  // pix2pix and its descendants: G_GAN, G_L1, D_real, D_fake
    guess.adversarial = guess.component = true;
  } else if (w.all.size() == 1 && (has(words::kTrain, w.all[0]) || validation) && w.all[0] != "eval") {
    guess.role = validation ? Role::validation_loss : Role::train_loss;  // "step 250: train 3.1, val 3.2"
  }
  return guess;
}

/// Orders candidates of one role: whole before part, plain before smoothed, validation before test, long before short.
int rank(const Cast& cast) {
  const Words w{split_compounds(split_words(cast.series->name()))};
  int points = 0;
  if (cast.guess.component) points += 8;
  if (cast.guess.adversarial) points += 16;
  if (w.any(words::kTest)) points += 4;
  if (cast.guess.running_mean) points += 2;
  if (w.any(words::kSmoothed) && w.any("total")) points -= 2;
  return points;
}

void promote_weak_losses(std::map<Role, std::vector<Cast>>& casts, Role loss, Role metric) {
  const auto is_weak = [](const Cast& cast) {
    const Words w{split_compounds(split_words(cast.series->name()))};
    return w.any(words::kWeakLoss) && !w.any(words::kHigherMetric) && !w.any(words::kLowerMetric);
  };
  auto& metrics = casts[metric];
  if (!casts[loss].empty()) return;
  for (const Cast& cast : metrics) {
    if (is_weak(cast)) casts[loss].push_back(cast);
  }
  std::erase_if(metrics, is_weak);
}

/// A score of nothing in particular, in a log without a loss or beside the chance of a random action, is what a game
/// brings: "Episode 100  Average Score: 13.2".
void promote_scores(const Run& run, std::map<Role, std::vector<Cast>>& casts) {
  const auto plain_score = [](const Cast& cast) {
    const Words w{split_compounds(split_words(cast.series->name()))};
    return w.any("score") && std::all_of(w.all.begin(), w.all.end(), [](const std::string& word) {
             return word == "score" || word == "episode" || has(words::kCollection, word) ||
                    has(words::kSmoothed, word);
           });
  };
  const bool explores = run.find("epsilon") != nullptr || run.find("Epsilon") != nullptr || run.find("eps") != nullptr;
  const bool has_loss = !casts[Role::train_loss].empty() || !casts[Role::validation_loss].empty();
  if (!casts[Role::reward].empty() || (has_loss && !explores)) return;
  auto& metrics = casts[Role::validation_metric];
  for (Cast cast : metrics) {
    if (!plain_score(cast)) continue;
    cast.guess.role = Role::reward;
    casts[Role::reward].push_back(cast);
  }
  std::erase_if(metrics, plain_score);
}

}  // namespace

std::string_view to_string(Role role) {
  for (const auto& [known, name] : kRoleNames) {
    if (known == role) return name;
  }
  return "other";
}

std::optional<Role> role_from(std::string_view name) {
  for (const auto& [role, known] : kRoleNames) {
    if (known == name) return role;
  }
  return std::nullopt;
}

RoleGuess guess_role(std::string_view series_name) {
  // A name this long is text that slipped into a log, not a name; looking at its start keeps this linear and quick.
  constexpr std::size_t kLongestName = 512;
  series_name = series_name.substr(0, kLongestName);
  if (auto layer = guess_layer(series_name)) return *layer;
  const Words w{split_compounds(split_words(series_name))};
  RoleGuess guess;
  if (const auto state = guess_state(w)) {
    guess.role = *state;
    guess.component = state == Role::gradient_norm && w.all.size() > 4;
    return guess;
  }
  return guess_measure(w);
}

Result<RoleMap> RoleMap::infer(const Run& run, const std::vector<RoleOverride>& overrides) {
  RoleMap map;
  for (const Series& series : run.all_series()) {
    RoleGuess guess = guess_role(series.name());
    const auto told = std::find_if(overrides.begin(), overrides.end(),
                                   [&](const RoleOverride& o) { return o.series == series.name(); });
    // A name without a number, as distributions have, plays no role.
    if (told == overrides.end() && series.summary().empty()) continue;
    if (told != overrides.end()) guess.role = told->role;
    const Role role = guess.role;
    map.casts_[role].push_back({&series, std::move(guess)});
  }
  // Monitor files of the gym family call the episode's reward "r" beside its length "l" and the time "t".
  if (const Series* reward = run.find("r"); reward != nullptr && run.find("l") != nullptr && run.find("t") != nullptr) {
    auto& others = map.casts_[Role::other];
    std::erase_if(others, [&](const Cast& cast) { return cast.series == reward; });
    RoleGuess guess;
    guess.role = Role::reward;
    guess.higher_is_better = true;
    map.casts_[Role::reward].push_back({reward, guess});
  }
  promote_weak_losses(map.casts_, Role::train_loss, Role::train_metric);
  promote_weak_losses(map.casts_, Role::validation_loss, Role::validation_metric);
  promote_scores(run, map.casts_);

  for (auto& [role, casts] : map.casts_) {
    std::stable_sort(casts.begin(), casts.end(), [](const Cast& a, const Cast& b) {
      const int left = rank(a);
      const int right = rank(b);
      if (left != right) return left < right;
      return a.series->summary().points() > b.series->summary().points();
    });
  }
  for (const RoleOverride& wanted : overrides) {
    const Series* series = run.find(wanted.series);
    if (series == nullptr) {
      return Error{ErrorCode::invalid_argument, "no series of that name in the run",
                   "--role " + std::string(to_string(wanted.role)) + "=" + wanted.series};
    }
    // What the user names comes first in its role.
    auto& casts = map.casts_[wanted.role];
    std::stable_partition(casts.begin(), casts.end(), [&](const Cast& cast) { return cast.series == series; });
  }
  std::erase_if(map.casts_, [](const auto& entry) { return entry.second.empty(); });
  return map;
}

const std::vector<Cast>& RoleMap::in(Role role) const {
  static const std::vector<Cast> none;
  const auto found = casts_.find(role);
  return found == casts_.end() ? none : found->second;
}

const Series* RoleMap::first(Role role) const {
  const auto& casts = in(role);
  return casts.empty() ? nullptr : casts.front().series;
}

}  // namespace osler
