// The names of roles, and which series of a run plays which.
#include "osler/run/role.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "run/agent_role.h"
#include "run/flat_layers.h"
#include "run/lone_series.h"
#include "run/name_words.h"
#include "run/split_company.h"

namespace osler {
namespace {

using words::has;

constexpr std::array kRoleNames = {
    std::pair{Role::train_loss, std::string_view("train-loss")},
    std::pair{Role::validation_loss, std::string_view("validation-loss")},
    std::pair{Role::train_accuracy, std::string_view("train-accuracy")},
    std::pair{Role::validation_accuracy, std::string_view("validation-accuracy")},
    std::pair{Role::train_metric, std::string_view("train-metric")},
    std::pair{Role::validation_metric, std::string_view("validation-metric")},
    std::pair{Role::learning_rate, std::string_view("learning-rate")},
    std::pair{Role::gradient_norm, std::string_view("gradient-norm")},
    std::pair{Role::clip_threshold, std::string_view("clip-threshold")},
    std::pair{Role::clipped_share, std::string_view("clipped-share")},
    std::pair{Role::loss_scale, std::string_view("loss-scale")},
    std::pair{Role::epoch, std::string_view("epoch")},
    std::pair{Role::step_time, std::string_view("step-time")},
    std::pair{Role::throughput, std::string_view("throughput")},
    std::pair{Role::utilization, std::string_view("utilization")},
    std::pair{Role::tokens_seen, std::string_view("tokens-seen")},
    std::pair{Role::reward, std::string_view("reward")},
    std::pair{Role::evaluation_reward, std::string_view("evaluation-reward")},
    std::pair{Role::reward_deviation, std::string_view("reward-deviation")},
    std::pair{Role::no_variance_share, std::string_view("no-variance-share")},
    std::pair{Role::reward_margin, std::string_view("reward-margin")},
    std::pair{Role::preference_reward, std::string_view("preference-reward")},
    std::pair{Role::episode_length, std::string_view("episode-length")},
    std::pair{Role::exploration_rate, std::string_view("exploration-rate")},
    std::pair{Role::policy_entropy, std::string_view("policy-entropy")},
    std::pair{Role::action_deviation, std::string_view("action-deviation")},
    std::pair{Role::policy_kl, std::string_view("policy-kl")},
    std::pair{Role::reference_kl, std::string_view("reference-kl")},
    std::pair{Role::latent_kl, std::string_view("latent-kl")},
    std::pair{Role::clip_fraction, std::string_view("clip-fraction")},
    std::pair{Role::explained_variance, std::string_view("explained-variance")},
    std::pair{Role::policy_loss, std::string_view("policy-loss")},
    std::pair{Role::value_loss, std::string_view("value-loss")},
    std::pair{Role::q_value, std::string_view("q-value")},
    std::pair{Role::generator_loss, std::string_view("generator-loss")},
    std::pair{Role::discriminator_loss, std::string_view("discriminator-loss")},
    std::pair{Role::completion_length, std::string_view("completion-length")},
    std::pair{Role::truncated_share, std::string_view("truncated-share")},
    std::pair{Role::layer_gradient, std::string_view("layer-gradient")},
    std::pair{Role::layer_weight, std::string_view("layer-weight")},
    std::pair{Role::layer_update, std::string_view("layer-update")},
    std::pair{Role::layer_activation, std::string_view("layer-activation")},
    std::pair{Role::other, std::string_view("other")},
};

/// Beside OpenAI's "rollout/return_history", of the latest episodes, "rollout/return" is the mean of all so far.
void prefer_latest_returns(std::vector<Cast>& rewards) {
  const auto is_latest = [](const Cast& cast) {
    return words_of_name(cast.series->name()).adjacent("return", "history");
  };
  std::stable_partition(rewards.begin(), rewards.end(), is_latest);
}

/// Orders candidates of one role: whole before part, plain before smoothed, validation before test, long before short.
int rank(const Cast& cast) {
  const NameWords w = words_of_name(cast.series->name());
  int points = 0;
  if (cast.guess.component) points += 8;
  if (cast.guess.adversarial) points += 16;
  if (w.any(words::kTest)) points += 4;
  if (cast.guess.running_mean) points += 2;
  if (w.any(words::kSmoothed) && w.any("total")) points -= 2;
  // The result of an evaluation goes before the running means within it.
  const bool validation = cast.guess.role == Role::validation_loss || cast.guess.role == Role::validation_accuracy ||
                          cast.guess.role == Role::validation_metric;
  if (validation && cast.series->name().ends_with(" (epoch)")) points -= 1;
  if (w.any("cumulative")) points += 1;  // may be a sum since the start
  // "lm loss PPL" beside "lm loss value": the exponential of a loss is on another scale than the loss of training.
  if (is_loss_role(cast.guess.role) && (w.any("ppl") || w.any("perplexity"))) points += 32;
  return points;
}

void sort_by_rank(std::vector<Cast>& casts) {
  std::vector<std::pair<int, Cast>> ranked;
  ranked.reserve(casts.size());
  for (Cast& cast : casts) {
    const int place = rank(cast);
    ranked.emplace_back(place, std::move(cast));
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return a.second.series->summary().points() > b.second.series->summary().points();
  });
  casts.clear();
  for (auto& [place, cast] : ranked) casts.push_back(std::move(cast));
}

/// What the name says of a series whose role the user told: it is the whole, and judged by itself.
RoleGuess as_told(RoleGuess guess, Role role) {
  guess.component = guess.adversarial = false;
  if (guess.role != role) guess.negated = false;
  if (role == Role::reward || role == Role::evaluation_reward || role == Role::train_accuracy ||
      role == Role::validation_accuracy) {
    guess.higher_is_better = true;
  }
  guess.role = role;
  return guess;
}

void promote_weak_losses(std::map<Role, std::vector<Cast>>& casts, Role loss, Role metric) {
  const auto is_weak = [](const Cast& cast) {
    const NameWords w = words_of_name(cast.series->name());
    return w.any(words::kWeakLoss) && !w.any(words::kHigherMetric) && !w.any(words::kLowerMetric);
  };
  auto& metrics = casts[metric];
  if (!casts[loss].empty()) return;
  for (const Cast& cast : metrics) {
    if (is_weak(cast)) casts[loss].push_back(cast);
  }
  std::erase_if(metrics, is_weak);
}

/// The words of a name without those that tell the split.
std::vector<std::string> beside_split(const Series& series) {
  std::vector<std::string> left = words_of_name(series.name()).all;
  std::erase_if(left, [](const std::string& word) { return has(words::kValidation, word) || has(words::kTest, word); });
  return left;
}

/// "f1" beside "val_f1" is measured on training data, as Keras and others write it: what is alone is validation's.
void split_metrics(std::map<Role, std::vector<Cast>>& casts) {
  auto& metrics = casts[Role::validation_metric];
  std::set<std::vector<std::string>> named;
  for (const Cast& cast : metrics) {
    if (measured_on_validation(words_of_name(cast.series->name()))) named.insert(beside_split(*cast.series));
  }
  const auto of_training = [&](const Cast& cast) {
    return !measured_on_validation(words_of_name(cast.series->name())) && named.contains(beside_split(*cast.series));
  };
  for (Cast cast : metrics) {
    if (!of_training(cast)) continue;
    cast.guess.role = Role::train_metric;
    casts[Role::train_metric].push_back(std::move(cast));
  }
  std::erase_if(metrics, of_training);
}

/// A plain "score" in a log without a loss, or beside the chance of a random action or the length of an episode, is the
/// reward of a game: "Episode 100  Average Score: 13.2". So is the share of games won by such an agent.
void promote_scores(std::map<Role, std::vector<Cast>>& casts) {
  const auto plain_score = [](const Cast& cast) {
    const NameWords w = words_of_name(cast.series->name());
    return w.any("score") && std::all_of(w.all.begin(), w.all.end(), [](const std::string& word) {
             return word == "score" || word == "episode" || has(words::kCollection, word) ||
                    has(words::kSmoothed, word);
           });
  };
  const bool explores = !casts[Role::exploration_rate].empty() || !casts[Role::episode_length].empty();
  const bool has_loss = !casts[Role::train_loss].empty() || !casts[Role::validation_loss].empty();
  if (!casts[Role::reward].empty() || (has_loss && !explores)) return;
  auto& metrics = casts[Role::validation_metric];
  for (Cast cast : metrics) {
    if (!plain_score(cast)) continue;
    cast.guess.role = Role::reward;
    casts[Role::reward].push_back(cast);
  }
  std::erase_if(metrics, plain_score);
  if (!casts[Role::reward].empty() || !casts[Role::evaluation_reward].empty() || !explores) return;
  for (const Role role : {Role::other, Role::train_metric, Role::validation_metric}) {
    auto& list = casts[role];
    const auto is_wins = [](const Cast& cast) {
      const NameWords w = words_of_name(cast.series->name());
      return (w.adjacent("win", "rate") || w.any("winrate")) && w.all.size() <= 3;
    };
    for (Cast cast : list) {
      if (!is_wins(cast)) continue;
      cast.guess.role = Role::reward;
      cast.guess.higher_is_better = true;
      cast.guess.component = false;
      casts[Role::reward].push_back(cast);
    }
    std::erase_if(list, is_wins);
  }
}

/// "Correct = 71.65%" is an accuracy; a count of right answers is not.
void promote_shares_of_right(std::map<Role, std::vector<Cast>>& casts) {
  constexpr double kAll = 100;  // per cent
  auto& others = casts[Role::other];
  const auto is_share = [](const Cast& cast) {
    const NameWords w = words_of_name(cast.series->name());
    const bool named = w.any("correct") && std::all_of(w.all.begin(), w.all.end(), [](const std::string& word) {
                         return word == "correct" || word == "percent" || word == "rate" || has(words::kTrain, word) ||
                                has(words::kValidation, word) || has(words::kTest, word);
                       });
    if (!named) return false;
    const auto total = cast.series->summary().total();
    const std::vector<Point> recent = cast.series->summary().recent();
    const auto parted = [](const Point& point) { return point.value != std::floor(point.value); };
    return total && total->count > 0 && total->min >= 0 && total->max <= kAll &&
           std::any_of(recent.begin(), recent.end(), parted);
  };
  for (Cast cast : others) {
    if (!is_share(cast)) continue;
    const bool validation = measured_on_validation(words_of_name(cast.series->name()));
    cast.guess.role = validation ? Role::validation_accuracy : Role::train_accuracy;
    cast.guess.measure = Measure::accuracy;
    cast.guess.higher_is_better = true;
    cast.guess.component = false;
    casts[cast.guess.role].push_back(std::move(cast));
  }
  std::erase_if(others, is_share);
}

/// "objective" does not say which way is better. One that begins below zero and has risen is maximised, like a
/// likelihood: what is minimised starts high.
void settle_objectives(std::vector<Cast>& losses) {
  for (Cast& cast : losses) {
    const NameWords w = words_of_name(cast.series->name());
    const auto says_loss = [](const std::string& word) { return word != "objective" && has(words::kLoss, word); };
    if (!w.any("objective") || w.any(words::kNegative) || std::any_of(w.all.begin(), w.all.end(), says_loss)) continue;
    const auto total = cast.series->summary().total();
    if (total && total->count > 1 && total->first < 0 && total->last > total->first) cast.guess.higher_is_better = true;
  }
}

/// "time" that only ever rises, by about as much from row to row, is the time since the start and not that of a step.
void drop_elapsed_times(std::map<Role, std::vector<Cast>>& casts) {
  constexpr std::uint64_t kFewest = 5;
  constexpr double kAtLeast = 0.5;  // of what as many steps as long as the first would add up to
  auto& times = casts[Role::step_time];
  const auto is_elapsed = [](const Cast& cast) {
    const auto total = cast.series->summary().total();
    if (!total || total->count < kFewest || !(total->first > 0)) return false;
    const double rows = static_cast<double>(total->count);
    double last = 0;
    for (const Bucket& bucket : cast.series->summary().buckets()) {
      if (!(bucket.min > last) || bucket.first > bucket.last) return false;
      last = bucket.max;
    }
    return total->last >= kAtLeast * rows * total->first;
  };
  for (const Cast& cast : times) {
    if (is_elapsed(cast)) casts[Role::other].push_back({cast.series, {}});
  }
  std::erase_if(times, is_elapsed);
}

/// Monitor files of the gym family call the episode's reward "r" beside its length "l" and the time "t".
void cast_monitor_file(const Run& run, std::map<Role, std::vector<Cast>>& casts) {
  const Series* reward = run.find("r");
  const Series* length = run.find("l");
  if (reward == nullptr || length == nullptr || run.find("t") == nullptr) return;
  for (auto& [role, list] : casts) {
    std::erase_if(list, [&](const Cast& cast) { return cast.series == reward || cast.series == length; });
  }
  RoleGuess guess;
  guess.role = Role::episode_length;
  casts[Role::episode_length].push_back({length, guess});
  guess.role = Role::reward;
  guess.higher_is_better = true;
  casts[Role::reward].push_back({reward, guess});
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

bool is_loss_role(Role role) {
  return role == Role::train_loss || role == Role::validation_loss || role == Role::policy_loss ||
         role == Role::value_loss || role == Role::generator_loss || role == Role::discriminator_loss;
}

Result<RoleMap> RoleMap::infer(const Run& run, const std::vector<RoleOverride>& overrides) {
  RoleMap map;
  std::vector<Cast> told;
  for (const Series& series : run.all_series()) {
    RoleGuess guess = guess_role(series.name());
    const auto word = std::find_if(overrides.begin(), overrides.end(),
                                   [&](const RoleOverride& o) { return o.series == series.name(); });
    if (word != overrides.end()) {
      told.push_back({&series, as_told(std::move(guess), word->role)});
    } else if (!series.summary().empty()) {  // a name without a number, as distributions have, plays no role
      const Role role = guess.role;
      map.casts_[role].push_back({&series, std::move(guess)});
    }
  }
  cast_monitor_file(run, map.casts_);
  settle_by_company(map.casts_);
  drop_elapsed_times(map.casts_);
  cast_flat_layers(map.casts_);
  split_metrics(map.casts_);
  settle_bare_splits(map.casts_);
  settle_unsplit_accuracies(map.casts_);
  settle_objectives(map.casts_[Role::train_loss]);
  settle_objectives(map.casts_[Role::validation_loss]);
  for (Cast& cast : told) map.casts_[cast.guess.role].push_back(std::move(cast));
  promote_weak_losses(map.casts_, Role::train_loss, Role::train_metric);
  promote_weak_losses(map.casts_, Role::validation_loss, Role::validation_metric);
  promote_scores(map.casts_);
  promote_shares_of_right(map.casts_);
  if (overrides.empty()) cast_lone_series(map.casts_);

  for (auto& [role, casts] : map.casts_) sort_by_rank(casts);
  prefer_latest_returns(map.casts_[Role::reward]);
  for (const RoleOverride& wanted : overrides) {
    const Series* series = run.find(wanted.series);
    if (series == nullptr) {
      return Error{ErrorCode::invalid_argument, "no series of that name in the run",
                   std::string(to_string(wanted.role)) + "=" + wanted.series};
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
