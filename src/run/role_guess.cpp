// Guessing what a series means from its name: split into words, look each up, decide by precedence.
#include <algorithm>
#include <array>
#include <cctype>

#include "osler/run/role.h"
#include "run/agent_role.h"
#include "run/name_words.h"
#include "run/role_measure.h"

namespace osler {
namespace {

using words::has;

bool is_learning_rate(const NameWords& w) {
  if (w.adjacent("learning", "rate") || w.any("lr") || w.any("learningrate")) return true;
  if (w.all.size() == 1 && w.all[0] == "rate") return true;
  return std::any_of(w.all.begin(), w.all.end(), [](const std::string& word) {
    return word.size() > 2 && word.compare(0, 2, "lr") == 0 &&
           std::all_of(word.begin() + 2, word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  });
}

bool has_gradient(const NameWords& w) {
  return w.any("grad") || w.any("gradient") || w.any("grads") || w.any("gradients");
}

bool is_gradient_norm(std::string_view name, const NameWords& w) {
  static constexpr std::array<std::string_view, 4> kWhole = {"gnorm_total", "norm", "gradnorms", "grnorm"};
  static constexpr std::array<std::string_view, 5> kBars = {"|g|", "||g||", "|grad|", "||grad||", "|dw|"};
  std::string lower;
  for (const char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (std::any_of(kBars.begin(), kBars.end(), [&](std::string_view bar) { return lower.ends_with(bar); })) return true;
  if (w.adjacent("g", "param") || w.any("gnorm") || w.any("gradnorm") || w.any("gradientnorm")) return true;
  if (w.adjacent("g", "norm") || w.adjacent("norm", "g")) return true;
  const bool gradient = has_gradient(w);
  if (gradient && (w.any("norm") || w.any("norms") || w.any("l2"))) return true;
  return w.all.size() == 1 && has(kWhole, w.all[0]);
}

/// Whether what follows the family speaks of all layers together: "total", "global_norm", "norm_before_clip".
bool is_whole_model(std::string_view layer) {
  static constexpr std::array<std::string_view, 23> kNotLayers = {
      "total",  "global", "all",  "norm", "norms", "mean",    "overall", "max",      "min",       "avg", "l2", "l1",
      "before", "after",  "clip", "pre",  "post",  "clipped", "grad",    "gradient", "unclipped", "inf", "rms"};
  const NameWords w = words_of_name(layer);
  return std::all_of(w.all.begin(), w.all.end(), [](const std::string& word) { return has(kNotLayers, word); });
}

/// What follows the family in "grad_norm/encoder.0.weight", or an empty view.
std::string_view layer_after(std::string_view name, std::size_t separator) {
  std::string_view layer = name.substr(separator + 1);
  if (const auto hash = layer.rfind('#'); hash != std::string_view::npos) layer = layer.substr(0, hash);
  return is_whole_model(layer) ? std::string_view{} : layer;
}

/// The letters of a folder, in lower case: "grad_2.0_norm" is "gradnorm".
std::string letters_of(std::string_view folder) {
  std::string letters;
  for (const char c : folder) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      letters.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    }
  }
  return letters;
}

Role role_of_family(const std::string& family) {
  if (has(words::kGradientFamily, family)) return Role::layer_gradient;
  if (has(words::kWeightFamily, family)) return Role::layer_weight;
  if (has(words::kUpdateFamily, family)) return Role::layer_update;
  if (has(words::kActivationFamily, family)) return Role::layer_activation;
  return Role::other;
}

/// Recognises per-layer series: "<family>/<layer>" with an optional "#statistic" behind it. Trainers file them under a
/// folder of their own ("train/grad_norm/fc1", "l2_norm/grad/fc1") or name the norm between ("grad/norm/fc1").
std::optional<RoleGuess> guess_layer(std::string_view name) {
  auto slash = name.find('/');
  if (slash == std::string_view::npos || slash == 0) return std::nullopt;
  RoleGuess guess;
  guess.role = role_of_family(letters_of(name.substr(0, slash)));
  const auto next = name.find('/', slash + 1);
  if (next != std::string_view::npos) {
    const std::string second = letters_of(name.substr(slash + 1, next - slash - 1));
    if (guess.role == Role::other && has(words::kLayerShelf, letters_of(name.substr(0, slash)))) {
      guess.role = role_of_family(second);
      slash = next;
    } else if (guess.role != Role::other && has(words::kNormFolder, second)) {
      slash = next;
    }
  }
  if (guess.role == Role::other) return std::nullopt;
  const std::string_view layer = layer_after(name, slash);
  if (layer.empty()) return std::nullopt;
  guess.layer = layer;
  const auto hash = name.rfind('#');
  guess.statistic = hash == std::string_view::npos ? "norm" : name.substr(hash + 1);
  return guess;
}

bool is_clip_threshold(const NameWords& w) {
  if (!w.any("clip") || !(w.any("norm") || w.any("threshold") || w.any("value") || w.any("max"))) return false;
  if (w.any("ratio") || w.any("frac") || w.any("fraction")) return false;
  // "grad_norm_after_clip" is a norm.
  return !(has_gradient(w) && (w.any("after") || w.any("before") || w.any("pre") || w.any("post")));
}

/// Whether steps were clipped: "clip_freq", "was_clipped", "grad_clip_ratio". PPO's clip fraction speaks of no
/// gradient, and cut-off answers speak of completions.
bool is_clipped_share(const NameWords& w) {
  static constexpr std::array<std::string_view, 4> kOften = {"freq", "frequency", "pct", "percent"};
  static constexpr std::array<std::string_view, 7> kPart = {"ratio", "frac",    "fraction", "share",
                                                            "rate",  "clipped", "is"};
  if (!(w.any("clip") || w.any("clipped") || w.any("clipping")) || w.any(words::kCompletion)) return false;
  if (w.any("norm") || w.any("before") || w.any("after") || w.any("coef") || w.any("ppo")) return false;
  if (w.any(kOften) || (has_gradient(w) && w.any(kPart))) return true;
  return w.any("clipped") && w.all.size() <= 2 && (w.all.size() == 1 || w.any("was") || w.any("is") || w.any("step"));
}

/// "samples/sec", "tok/s", "Tokens / Sec": what comes before the slash is done in a second.
bool ends_in_per_second(std::string_view name) {
  const std::size_t spaced = name.rfind("/ ");
  if (spaced != std::string_view::npos && spaced > 0) {
    return ends_in_per_second(std::string("x/").append(name.substr(spaced + 2)));
  }
  if (name.find("/sec/") != std::string_view::npos) return true;  // of each worker: "words/sec/thread"
  for (const std::string_view second : {"/s", "/sec", "/second", "/S", "/Sec"}) {
    if (name.ends_with(second)) return true;
  }
  return false;
}

bool is_throughput(std::string_view name, const NameWords& w) {
  if (ends_in_per_second(name) && w.all.size() > 1) return true;
  return w.any(words::kThroughput) || (w.any("per") && (w.any("second") || w.any("sec") || w.any("s"))) ||
         w.adjacent("it", "s") || w.adjacent("tok", "s") || w.adjacent("tokens", "s") || w.adjacent("samples", "s") ||
         w.adjacent("steps", "s") || w.adjacent("iter", "s");
}

/// Tokens so far; those of one batch, of a second or of a vocabulary are something else.
bool is_tokens_seen(const NameWords& w) {
  if (!w.any("tokens") || w.any("loss") || w.any(words::kCompletion)) return false;
  if (w.any("eos")) return false;
  return (w.any("seen") || w.any("num") || w.any("total") || w.any("consumed") || w.any("processed") ||
          w.all.size() == 1 || (w.all.size() == 2 && w.any(words::kTrain))) &&
         !w.any("per") && !w.any("batch") && !w.any("max");
}

bool is_epoch(const NameWords& w) {
  return (w.any("epoch") || w.any("epochs")) && std::all_of(w.all.begin(), w.all.end(), [](const std::string& word) {
           return word == "epoch" || word == "epochs" || word == "train" || word == "trainer" || word == "current";
         });
}

/// The time of a step; not that of the whole run, of an evaluation or of something done now and then.
bool is_step_time(const NameWords& w) {
  static constexpr std::array<std::string_view, 13> kElsewhere = {
      "eta",       "data",  "total", "wall", "eval",       "episodes", "iterations",
      "timesteps", "evals", "load",  "save", "checkpoint", "exploring"};
  // "elapsed time" is that of the run, "elapsed time per iteration" that of a step.
  const bool of_the_run = w.any("elapsed") && !w.any("per");
  return w.any(words::kDuration) && !w.any(words::kLoss) && !w.any(kElsewhere) && !of_the_run &&
         !measured_on_validation(w);
}

/// Roles that do not depend on the split (training or validation) the number was measured on.
std::optional<Role> guess_state(std::string_view name, const NameWords& w) {
  if (is_learning_rate(w)) return Role::learning_rate;
  if (is_clip_threshold(w)) return Role::clip_threshold;
  if (is_clipped_share(w)) return Role::clipped_share;
  if (w.adjacent("loss", "scale") || w.any("lossscale") || w.adjacent("grad", "scale") ||
      w.adjacent("scaler", "scale") || w.any("loss_scale")) {
    return Role::loss_scale;
  }
  if (is_gradient_norm(name, w)) return Role::gradient_norm;
  if (is_epoch(w)) return Role::epoch;
  if (w.any("mfu") || w.any("tflops") || w.any("tflop") || w.any("hfu")) return Role::utilization;
  if (is_throughput(name, w)) return Role::throughput;
  if (is_tokens_seen(w)) return Role::tokens_seen;
  if (is_step_time(w)) return Role::step_time;
  return std::nullopt;
}

bool is_count(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The "ratio" of "hit_ratio@10", which is a figure of merit.
bool is_hit_ratio(const NameWords& w, std::string_view word) {
  return word == "ratio" && (w.adjacent("hit", "ratio") || w.adjacent("hits", "ratio"));
}

/// "HR@10", "recall@20": shares of what was looked for among the first so many.
bool is_hit_rate(std::string_view name, const NameWords& w) {
  if (w.any("ratio") && is_hit_ratio(w, "ratio")) return true;
  const std::size_t at = name.rfind('@');
  if (at == std::string_view::npos || at + 1 == name.size() || !is_count(name.substr(at + 1))) return false;
  return w.any("hr") || w.any("recall") || w.any("r") || w.any("p");
}

/// Whether the name has a word beyond split, kind and manner of collection: one loss or metric among several.
bool is_component(std::string_view name, const NameWords& w) {
  const bool cut_off = name.find('@') != std::string_view::npos;  // "recall@20" is no part
  std::size_t kinds = 0;
  std::string_view last;
  for (const std::string& word : w.all) {
    if (has(words::kLoss, word) || has(words::kAccuracy, word)) {
      if (word != last) ++kinds;  // "Loss/total_loss" speaks of one loss
      last = word;
    } else if ((cut_off && is_count(word)) || is_hit_ratio(w, word)) {
      continue;
    } else if (!has(words::kTrain, word) && !has(words::kValidation, word) && !has(words::kTest, word) &&
               !has(words::kCollection, word) && !has(words::kSmoothed, word) && !has(words::kWeakLoss, word) &&
               !has(words::kHigherMetric, word) && !has(words::kLowerMetric, word) && !has(words::kReward, word) &&
               !has(words::kMaximised, word) && !has(words::kNegative, word) && !has(words::kManner, word)) {
      return true;
    }
  }
  // "dice_loss" is one of the losses that add up.
  return kinds > 1 || (kinds > 0 && w.any(words::kHigherMetric) && w.any(words::kLoss));
}

/// Words that mean an error where they stand alone; "update_l2" is a size, "rank_L1" a layer.
bool is_weak_loss(const NameWords& w) {
  if (!w.any(words::kWeakLoss)) return false;
  const bool by_norm = std::none_of(w.all.begin(), w.all.end(), [](const std::string& word) {
    return has(words::kWeakLoss, word) && word != "l1" && word != "l2";
  });
  return !by_norm || std::all_of(w.all.begin(), w.all.end(), [](const std::string& word) {
    return word == "l1" || word == "l2" || has(words::kTrain, word) || has(words::kValidation, word) ||
           has(words::kTest, word) || word == "error" || word == "distance" || word == "metrics" || word == "smooth";
  });
}

/// An ELBO or a log-likelihood as it stands; with a minus or "loss" in the name it is a loss like any other.
bool is_likelihood(const NameWords& w) {
  return w.any(words::kMaximised) || w.adjacent("log", "likelihood") || w.adjacent("evidence", "lower");
}

bool is_bits(const NameWords& w) {
  return w.adjacent("bits", "per") && (w.any("byte") || w.any("char") || w.any("character") || w.any("dim"));
}

/// The role and direction of a figure that is measured on training or validation data.
void cast_figure(std::string_view name, const NameWords& w, RoleGuess& guess) {
  const bool validation = measured_on_validation(w);
  const bool derived = w.any(words::kDerived) && !w.any("total");
  const Role loss = validation ? Role::validation_loss : Role::train_loss;
  const Role metric = validation ? Role::validation_metric : Role::train_metric;
  if (is_likelihood(w) && !derived) {
    guess.role = loss;
    guess.higher_is_better = !w.any(words::kNegative) && !w.any(words::kLoss) && !name.starts_with('-');
    guess.component = false;
    guess.measure = guess.higher_is_better ? Measure::log_likelihood : Measure::unknown;
  } else if (is_hit_rate(name, w)) {
    guess.role = w.any(words::kTrain) ? Role::train_metric : Role::validation_metric;
    guess.higher_is_better = true;
    guess.measure = Measure::hit_rate;
    if (w.all.size() == 2) guess.component = false;  // "HR@10"
  } else if (w.any(words::kAccuracy) && w.any(words::kDiscriminator)) {
    guess.role = Role::other;  // how well the judge of a game does says nothing of the classifier beside it
  } else if (w.any(words::kAccuracy)) {
    guess.role = validation ? Role::validation_accuracy : Role::train_accuracy;
    guess.higher_is_better = true;
  } else if ((w.any(words::kLoss) || w.adjacent("cross", "entropy")) && !derived) {
    guess.role = loss;
    guess.adversarial = w.any(words::kAdversarial) && !w.adjacent("cross", "entropy");
  } else if (is_weak_loss(w) || is_bits(w)) {
    guess.role = metric;
    guess.component = guess.component && !is_bits(w);
  } else if (w.any(words::kLowerMetric) || w.any(words::kHigherMetric)) {
    // BLEU, mAP, WER and the like are practically always measured on held-out data.
    guess.role = w.any(words::kTrain) || w.any("rollout") ? Role::train_metric : Role::validation_metric;
    guess.higher_is_better = w.any(words::kHigherMetric) && !w.any(words::kLowerMetric);
  } else if (w.all.size() == 2 && validation && name.find('@') != std::string_view::npos) {
    guess.role = Role::validation_metric;  // "val@20": the share of hits among the first 20
    guess.higher_is_better = true;
    guess.measure = Measure::hit_rate;
    guess.component = false;
  } else if (w.all.size() == 1 && (has(words::kTrain, w.all[0]) || validation) && w.all[0] != "eval") {
    guess.role = loss;  // "step 250: train 3.1, val 3.2"
  }
}

RoleGuess guess_figure(std::string_view name, const NameWords& w) {
  RoleGuess guess;
  guess.component = is_component(name, w);
  guess.running_mean = w.any(words::kSmoothed) && !w.adjacent("smooth", "l1");
  const bool of_episodes =
      w.any("cost") && (w.any("ep") || w.any("episode"));  // of constrained agents, not an objective
  // What a discriminator answers, filed beside the losses: "Loss/scores/fake".
  const bool answers = (w.any("scores") || w.any("signs")) && (w.any("fake") || w.any("real"));
  // Accumulated iterations stand in the logs of OpenPCDet as "Acc_iter".
  const bool counted = w.adjacent("acc", "iter");
  if (w.any("best") || of_episodes || answers || counted || is_statistic(name) ||
      (w.any(words::kDerived) && !w.any("total") && !w.any(words::kLoss) && !is_hit_rate(name, w)))
    return guess;
  guess.measure = measure_of(w);
  cast_figure(name, w, guess);
  const bool loss = guess.role == Role::train_loss || guess.role == Role::validation_loss;
  const bool figure_of_loss = guess.measure <= Measure::hinge || guess.measure == Measure::dice;
  if (guess.role == Role::other || (loss && !figure_of_loss)) guess.measure = Measure::unknown;
  return guess;
}

}  // namespace

RoleGuess guess_role(std::string_view series_name) {
  // A name this long is text that slipped into a log, not a name; looking at its start keeps this linear and quick.
  constexpr std::size_t kLongestName = 512;
  series_name = series_name.substr(0, kLongestName);
  if (auto layer = guess_layer(series_name); layer && !ends_in_per_second(series_name)) return *layer;
  const NameWords w = words_of_name(series_name);
  RoleGuess guess;
  if (const auto state = guess_state(series_name, w)) {
    guess.role = *state;
    guess.component = state == Role::gradient_norm && w.all.size() > 4;
    return guess;
  }
  guess = guess_figure(series_name, w);
  if (const auto agent = guess_agent_role(series_name, w, guess)) return *agent;
  return guess;
}

}  // namespace osler
