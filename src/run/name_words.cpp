// Splitting the names of series into words.
#include "run/name_words.h"

#include <array>
#include <cctype>
#include <utility>

#include "osler/run/foreign_names.h"

namespace osler {
namespace {

using words::has;

/// Split at anything but letters and digits, and where camel case rises.
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
         has(words::kHigherMetric, word) || has(words::kLowerMetric, word) || has(words::kReward, word);
}

struct Compound {
  std::string_view word;
  std::string_view first;
  std::string_view second;
};

// Words written together that no rule takes apart.
constexpr std::array kCompounds = {
    Compound{"trl", "train", "loss"},
    Compound{"tel", "test", "loss"},
    Compound{"ltrain", "train", "loss"},
    Compound{"lval", "val", "loss"},
    Compound{"lvalid", "valid", "loss"},
    Compound{"ltest", "test", "loss"},
    Compound{"errd", "d", "loss"},
    Compound{"errg", "g", "loss"},
    Compound{"lossd", "d", "loss"},
    Compound{"lossg", "g", "loss"},
    Compound{"dloss", "d", "loss"},
    Compound{"gloss", "g", "loss"},
    Compound{"clipfrac", "clip", "frac"},
    Compound{"approxkl", "approx", "kl"},
    Compound{"eplenmean", "episode", "length"},
    Compound{"eplen", "episode", "length"},
};

/// Splits words such as "valloss", "trainacc", "vacc" and "errD" that were written together.
void add_split(std::string word, std::vector<std::string>& split) {
  static constexpr std::array<std::string_view, 16> kPrefixes = {
      "train", "training", "trn", "tr",   "validation", "valid", "val", "va",
      "eval",  "evl",      "ev",  "test", "tst",        "te",    "dev", "v"};
  for (const Compound& compound : kCompounds) {
    if (word != compound.word) continue;
    split.emplace_back(compound.first);
    split.emplace_back(compound.second);
    return;
  }
  for (const std::string_view prefix : kPrefixes) {
    if (is_kind_word(word) || word.size() <= prefix.size() || !word.starts_with(prefix)) continue;
    const std::string rest = word.substr(prefix.size());
    if (!is_kind_word(rest) || rest.size() < 2) continue;
    split.emplace_back(prefix == "v" ? "val" : prefix);
    split.push_back(rest);
    return;
  }
  split.push_back(std::move(word));
}

/// Words that mean something else beside their neighbour: what is spent in "time cost", "batch_cost" and "cost time" is
/// time, and "dice_coef" is the Dice coefficient, no setting.
void settle_pairs(std::vector<std::string>& all) {
  static constexpr std::array<std::string_view, 4> kSpent = {"time", "batch", "reader", "data"};
  static constexpr std::array<std::string_view, 6> kOverlap = {"dice", "jaccard", "iou", "f1", "tversky", "matthews"};
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i + 1] == "cost" && has(kSpent, all[i])) all[i + 1] = "time";
    if (all[i] == "cost" && all[i + 1] == "time") all[i] = "time";
    if ((all[i + 1] == "coef" || all[i + 1] == "coeff") && has(kOverlap, all[i])) all[i + 1] = "coefficient";
  }
}

bool is_split_word(std::string_view word) {
  return has(words::kTrain, word) || has(words::kValidation, word) || has(words::kTest, word);
}

/// Short words that tell a split or a loss only beside their neighbour: "ev_loss" is the evaluation's, while an agent's
/// "ev" is the explained variance; "L_val" is a loss, while "l" alone is a length.
void settle_short_words(std::vector<std::string>& all) {
  const auto beside = [&](std::size_t i, const auto& is_kind) {
    return (i > 0 && is_kind(all[i - 1])) || (i + 1 < all.size() && is_kind(all[i + 1]));
  };
  const auto is_figure = [](std::string_view word) {
    return word == "l" || has(words::kLoss, word) || has(words::kAccuracy, word);
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((all[i] == "ev" || all[i] == "evl") && beside(i, is_figure)) all[i] = "eval";
    if (i + 1 < all.size() && all[i] == "hold" && all[i + 1] == "out") all[i] = "holdout";
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == "l" && all.size() == 2 && beside(i, is_split_word)) all[i] = "loss";
  }
}

}  // namespace

bool NameWords::adjacent(std::string_view first, std::string_view second) const {
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i] == first && all[i + 1] == second) return true;
  }
  return false;
}

NameWords words_of_name(std::string_view name) {
  NameWords w;
  for (std::string& word : split_words(in_english(name))) add_split(std::move(word), w.all);
  // "Actor_L" is the loss of the actor.
  static constexpr std::array<std::string_view, 6> kPlayers = {"actor",     "critic",        "policy",
                                                               "generator", "discriminator", "value"};
  const std::size_t n = w.all.size();
  if (n > 1 && w.all[n - 1] == "l" && has(kPlayers, w.all[n - 2])) w.all[n - 1] = "loss";
  settle_short_words(w.all);
  settle_pairs(w.all);
  return w;
}

bool is_statistic(std::string_view name) {
  const std::size_t hash = name.rfind('#');
  return hash != std::string_view::npos && hash + 1 < name.size() &&
         std::isalpha(static_cast<unsigned char>(name[hash + 1])) != 0;
}

bool measured_on_validation(const NameWords& w) {
  return w.any(words::kValidation) || w.any(words::kTest);
}

}  // namespace osler
