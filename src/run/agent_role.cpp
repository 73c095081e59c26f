// What names mean where agents act, networks compete or answers are rewarded.
#include "run/agent_role.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

namespace osler {
namespace {

using namespace std::string_view_literals;
using words::has;

bool is_derived(const NameWords& w) {
  return w.any("best") || w.any("min") || w.any("max") || w.any("std") || w.any("stdev") || w.any("stddev") ||
         w.any("var") || w.any("count") || w.any("num") || w.any("coef") || w.any("coeff") || w.any("weight") ||
         w.any("target") || w.any("threshold") || w.any("beta") || w.any("penalty");
}

RoleGuess with_role(RoleGuess guess, Role role) {
  guess.role = role;
  guess.higher_is_better = role == Role::reward || role == Role::evaluation_reward || role == Role::reward_margin ||
                           role == Role::explained_variance;
  guess.measure = Measure::unknown;
  return guess;
}

/// Sums and means over all that came before say little of the present. The "return_history" of OpenAI's baselines is
/// the mean of the latest hundred episodes; what sums the history is the "return" beside it.
bool sums_history(const NameWords& w) {
  if (w.adjacent("return", "history")) return false;
  static constexpr std::array kHistory = {"accumulated"sv, "lifetime"sv, "alltime"sv, "history"sv, "far"sv, "cum"sv};
  return w.any(kHistory) || (w.any("total") && w.any("sum")) || (w.any("running") && w.any("sum")) || w.any("best") ||
         w.any("target") || w.any("threshold") || w.any("highest");
}

/// A word that means a loss; "objective/rlhf_reward" is no loss, but how TRL files what its agent is after.
bool speaks_of_loss(const NameWords& w) {
  return std::any_of(w.all.begin(), w.all.end(),
                     [](const std::string& word) { return word != "objective" && has(words::kLoss, word); });
}

/// Whether a reward was measured on data held out. "reward_valid_json" pays for valid answers: behind the reward the
/// word says what is rewarded.
bool rewarded_on_validation(const NameWords& w) {
  const auto reward =
      std::find_if(w.all.begin(), w.all.end(), [](const std::string& word) { return has(words::kReward, word); });
  const auto of_split = [](const std::string& word) {
    return has(words::kValidation, word) || has(words::kTest, word);
  };
  const auto split = std::find_if(w.all.begin(), w.all.end(), of_split);
  const bool says_what = split != w.all.end() && *split == "valid" && reward < split && split + 1 != w.all.end();
  return split != w.all.end() && !says_what;
}

std::optional<RoleGuess> guess_reward(std::string_view name, const NameWords& w, const RoleGuess& plain) {
  const bool episode = w.any("ep") || w.any("episode");
  // verl: critic/score/mean, TRL: objective/scores
  const bool score = (w.any("score") && w.any("critic")) || (w.any("scores") && w.any("objective"));
  if (!w.any(words::kReward) && !(episode && w.any("ret")) && !score) return std::nullopt;
  RoleGuess guess = with_role(plain, Role::other);
  if (speaks_of_loss(w)) return std::nullopt;
  if (w.any("non") && w.any("score")) return guess;  // TRL's objective/non_score_reward: the penalty for divergence
  if (w.any(words::kAccuracy) && (w.any("accuracies") || w.any("chosen"))) return std::nullopt;
  if (w.any("margin") || w.any("margins")) return with_role(guess, Role::reward_margin);
  if (w.any("chosen") || w.any("rejected") || w.any("reject")) return with_role(guess, Role::preference_reward);
  const bool spread = w.any("std") || w.any("stdev") || w.any("stddev");
  if (spread && (w.any("frac") || w.any("zero"))) return with_role(guess, Role::no_variance_share);
  const bool validation = rewarded_on_validation(w);
  if (spread && !validation) return with_role(guess, Role::reward_deviation);
  if (sums_history(w) || w.any(words::kDerived) || is_statistic(name)) return guess;
  const bool whole = score || (w.any("critic") && w.any("rewards"));  // verl files the reward under its critic
  const auto counts = [](const std::string& word) { return std::isdigit(static_cast<unsigned char>(word[0])) != 0; };
  const bool of_some = w.any("mean") && std::any_of(w.all.begin(), w.all.end(), counts);  // "mean 100 episode reward"
  guess.component = !whole && !of_some && (plain.component || w.any(words::kAccuracy));
  return with_role(guess, validation ? Role::evaluation_reward : Role::reward);
}

/// "kl", "approx_kl", "kl_divergence"; what kind it is may be settled later, by the company it keeps.
std::optional<RoleGuess> guess_divergence(const NameWords& w, const RoleGuess& plain) {
  static constexpr std::array kReference = {"ref"sv, "reference"sv, "sft"sv, "objective"sv};
  static constexpr std::array kLatent = {"latent"sv, "prior"sv, "posterior"sv, "vae"sv};
  const bool named = w.any("kl") || w.any("kld") || w.any("kldiv") || w.any("meankl");
  if (!named || is_derived(w) || w.any("coeff") || w.any("early")) return std::nullopt;
  RoleGuess guess = with_role(plain, Role::policy_kl);
  guess.adversarial = false;
  guess.component = w.any("old");
  if (w.any(kReference)) return with_role(guess, Role::reference_kl);
  if (w.any(kLatent) || w.any("kld")) return with_role(guess, Role::latent_kl);
  if (w.any("loss")) return std::nullopt;
  return guess;
}

std::optional<RoleGuess> guess_policy_state(std::string_view name, const NameWords& w, const RoleGuess& plain) {
  RoleGuess guess = plain;
  guess.component = guess.adversarial = false;
  const bool clip = w.any("clip") || w.any("clipped");
  const bool share = w.any("frac") || w.any("fraction") || w.any("ratio");
  if (w.any(words::kCompletion) && share && (clip || w.any("truncated"))) {
    return with_role(guess, Role::truncated_share);
  }
  if (clip && share && !w.any("low") && !w.any("high")) {
    guess.component = w.any("vf") || w.any("value");
    return with_role(guess, Role::clip_fraction);
  }
  if ((w.any("explained") && (w.any("variance") || w.any("var"))) || w.adjacent("ev", "tdlam")) {
    return with_role(guess, Role::explained_variance);
  }
  const bool crossed = w.adjacent("cross", "entropy") || w.any("binary") || w.any("categorical");
  const bool first_baselines = w.all.size() == 2 && w.adjacent("loss", "ent");  // PPO1 of OpenAI's baselines
  if ((w.any("entropy") || w.any("entropyloss") || w.adjacent("ent", "loss") || first_baselines) && !crossed &&
      !is_derived(w) && !w.any("bonus")) {
    // verl's actor/entropy_loss and the loss_ent of PPO1 are the entropy itself.
    guess.negated = w.any("loss") && !w.any("actor") && !first_baselines;
    return with_role(guess, Role::policy_entropy);
  }
  const bool spread = w.any("std") || w.any("stdev") || w.any("stddev");
  const bool of_actions =
      name.find('#') == name.npos && (w.any("noise") || w.any("action") || w.any("actions") || w.any("policy"));
  if ((spread && of_actions && !w.any(words::kReward)) || name == "train/std") {
    return with_role(guess, Role::action_deviation);
  }
  return guess_divergence(w, plain);
}

std::optional<RoleGuess> guess_episode(const NameWords& w, const RoleGuess& plain) {
  const bool length = w.any("len") || w.any("length") || w.any("lengths");
  if (length && (w.any("min") || w.any("max") || w.any("std") || measured_on_validation(w))) return std::nullopt;
  RoleGuess guess = with_role(plain, Role::other);
  guess.component = false;
  if (length && w.any(words::kCompletion)) {
    guess.component = w.any("terminated") || w.any("prompt");
    return with_role(guess, Role::completion_length);
  }
  if (length && (w.any("ep") || w.any("episode") || w.any("episodic") || w.any("episodes"))) {
    return with_role(guess, Role::episode_length);
  }
  const bool alone = w.all.size() <= 2;
  // ML-Agents' Policy/Epsilon is PPO's clip range.
  if (w.adjacent("exploration", "rate") || w.any("exploring") ||
      (alone && (w.any("epsilon") || w.any("eps")) && !w.any("policy"))) {
    return with_role(guess, Role::exploration_rate);
  }
  return std::nullopt;
}

/// "Q1Vals", "qf1_values", "mean_q", "Extrinsic Value Estimate"
bool is_q_value(const NameWords& w) {
  static constexpr std::array kQ = {"q"sv, "q1"sv, "q2"sv, "qf1"sv, "qf2"sv, "qf"sv};
  static constexpr std::array kValues = {"vals"sv, "val"sv, "value"sv, "values"sv, "estimate"sv, "estimates"sv};
  static constexpr std::array kTogether = {"qvals"sv, "vvals"sv, "qvalue"sv, "qvalues"sv, "q1vals"sv, "q2vals"sv};
  if (w.any("loss") || is_derived(w)) return false;
  if (w.any(kTogether) || (w.any("value") && (w.any("estimate") || w.any("estimates")))) return true;
  if (w.any("values") && w.any("critic")) return true;
  return w.any(kQ) && (w.any(kValues) || w.any("mean") || w.any("avg") || w.any("average") || w.all.size() == 1);
}

/// pix2pix and its descendants: G_GAN, G_L1, D_real, D_A; but D(x) is what the discriminator says, no loss.
bool is_part_of_game(std::string_view name, const NameWords& w, Role plain) {
  if (plain != Role::other && plain != Role::train_metric && plain != Role::train_loss) return false;
  if (w.all.empty() || w.all.size() > 2 || (w.all[0] != "g" && w.all[0] != "d") || w.any(words::kAccuracy))
    return false;
  return name.find('(') == std::string_view::npos && !w.any("x") && !w.any("gz") && !w.any("z");
}

std::optional<RoleGuess> guess_player(std::string_view name, const NameWords& w, const RoleGuess& plain) {
  static constexpr std::array kCycles = {"cycle"sv, "idt"sv, "identity"sv};
  RoleGuess guess = plain;
  guess.adversarial = true;
  if (is_part_of_game(name, w, plain.role)) {
    guess.component = w.all.size() > 1 && !w.any(words::kLoss);
    return with_role(guess, w.all[0] == "g" ? Role::generator_loss : Role::discriminator_loss);
  }
  if (w.all.size() == 2 && has(kCycles, w.all[0]) && (w.all[1] == "a" || w.all[1] == "b")) {
    guess.component = true;
    return with_role(guess, Role::generator_loss);
  }
  if (w.all.size() == 2 && w.all[0] == "err" && (w.all[1] == "d" || w.all[1] == "g")) {  // PyTorch's DCGAN
    guess.component = false;
    return with_role(guess, w.all[1] == "g" ? Role::generator_loss : Role::discriminator_loss);
  }
  if (plain.role != Role::train_loss || !w.any(words::kLoss)) return std::nullopt;
  if (w.adjacent("loss", "value") && name.find('/') == std::string_view::npos) {  // "Loss value: 0.3"
    guess.adversarial = guess.component = false;
    return guess;
  }
  // What is more than the player's own name beside "loss" makes it a part: "D_loss_real", "loss_G_feat".
  const auto more = [&](const auto& players) {
    return std::any_of(w.all.begin(), w.all.end(), [&](const std::string& word) {
      return !has(players, word) && !has(words::kLoss, word) && !has(words::kCollection, word) &&
             !has(words::kTrain, word) && !has(words::kSmoothed, word) && word != "gradient" && word != "function";
    });
  };
  const auto player = [&](const auto& players, Role role) {
    guess.component = more(players);
    return with_role(guess, role);
  };
  if (w.any(words::kDiscriminator)) return player(words::kDiscriminator, Role::discriminator_loss);
  if (w.any(words::kGenerator)) return player(words::kGenerator, Role::generator_loss);
  if (w.any(words::kCritic)) return player(words::kCritic, Role::value_loss);
  if (w.any(words::kActor)) return player(words::kActor, Role::policy_loss);
  if (w.adjacent("loss", "pol")) {  // PPO1: loss_pol_surr, loss_pol_entpen
    guess.component = w.any("entpen");
    return with_role(guess, Role::policy_loss);
  }
  return std::nullopt;
}

void move(std::map<Role, std::vector<Cast>>& casts, Role from, Role to, const auto& which) {
  auto& source = casts[from];
  for (const Cast& cast : source) {
    if (!which(cast)) continue;
    Cast moved = cast;
    moved.guess.role = to;
    moved.guess.negated = false;
    casts[to].push_back(std::move(moved));
  }
  std::erase_if(source, which);
}

bool plays(const std::map<Role, std::vector<Cast>>& casts, std::initializer_list<Role> roles) {
  return std::any_of(roles.begin(), roles.end(), [&](Role role) {
    const auto found = casts.find(role);
    return found != casts.end() && !found->second.empty();
  });
}

/// Whether any series holds what a divergence is weighed with: "beta", "kl_weight", "beta_kl".
bool weighs_divergence(const std::map<Role, std::vector<Cast>>& casts) {
  static constexpr std::array kWeights = {"weight"sv, "coef"sv, "coeff"sv, "factor"sv, "beta"sv, "anneal"sv};
  const auto weighs = [](const Cast& cast) {
    const NameWords w = words_of_name(cast.series->name());
    const bool alone = w.any("beta") && w.all.size() <= 2;
    return alone || ((w.any("kl") || w.any("kld")) && w.any(kWeights));
  };
  return std::any_of(casts.begin(), casts.end(),
                     [&](const auto& entry) { return std::any_of(entry.second.begin(), entry.second.end(), weighs); });
}

/// Whether any series speaks of a reconstruction or of a bound on the likelihood: an autoencoder.
bool reconstructs(const std::map<Role, std::vector<Cast>>& casts) {
  static constexpr std::array kSigns = {"elbo"sv, "recon"sv, "reconstruction"sv, "rec"sv, "vae"sv, "nelbo"sv, "kld"sv};
  for (const auto& [role, list] : casts) {
    for (const Cast& cast : list) {
      if (words_of_name(cast.series->name()).any(kSigns)) return true;
    }
  }
  return false;
}

bool is_plain_kl(const Cast& cast) {
  const NameWords w = words_of_name(cast.series->name());
  return w.any("kl") && !w.any("approx") && !w.any("ppo") && !w.any("policy") && !w.any("old");
}

/// "v_loss" is a value network's, but beside "t_loss" it is that of the validation.
void settle_short_splits(std::map<Role, std::vector<Cast>>& casts) {
  const auto has = [](std::string_view word) {
    return [word](const Cast& cast) { return words_of_name(cast.series->name()).any(word); };
  };
  const auto& losses = casts[Role::train_loss];
  if (plays(casts, {Role::reward, Role::evaluation_reward, Role::policy_loss}) ||
      std::none_of(losses.begin(), losses.end(), has("t"))) {
    return;
  }
  for (Cast& cast : casts[Role::value_loss]) {
    if (has("v")(cast)) cast.guess.component = cast.guess.adversarial = false;
  }
  move(casts, Role::value_loss, Role::validation_loss, has("v"));
}

/// A reward model tells pairs of answers apart: beside its accuracy and its margin, "mean_reward" is what it gives on
/// the average, and nothing that it is after.
void settle_reward_model(std::map<Role, std::vector<Cast>>& casts) {
  const auto is_margin = [](const Cast& cast) {
    const NameWords w = words_of_name(cast.series->name());
    return w.any("margin") && w.all.size() <= 2;
  };
  const auto& others = casts[Role::other];
  if (!plays(casts, {Role::train_accuracy}) || !plays(casts, {Role::train_loss}) ||
      std::none_of(others.begin(), others.end(), is_margin)) {
    return;
  }
  move(casts, Role::other, Role::reward_margin, is_margin);
  move(casts, Role::reward, Role::preference_reward, [](const Cast&) { return true; });
}

/// "D_img" and "D_real" beside a "D_loss" are what the discriminator answers; alone they are its losses.
void settle_answers(std::map<Role, std::vector<Cast>>& casts) {
  const auto names_loss = [](const Cast& cast) { return words_of_name(cast.series->name()).any(words::kLoss); };
  const auto answers = [&](const Cast& cast) { return !names_loss(cast); };
  const auto& judged = casts[Role::discriminator_loss];
  if (std::none_of(judged.begin(), judged.end(), names_loss)) return;
  move(casts, Role::discriminator_loss, Role::other, answers);
}

/// "discriminator,Generator": columns of these bare names beside each other are the losses of the two.
void settle_bare_players(std::map<Role, std::vector<Cast>>& casts) {
  const auto is_bare = [](const auto& players) {
    return [&players](const Cast& cast) {
      const NameWords w = words_of_name(cast.series->name());
      return w.any(players) && std::all_of(w.all.begin(), w.all.end(), [&](const std::string& word) {
               return has(players, word) || has(words::kTrain, word) || has(words::kCollection, word);
             });
    };
  };
  const auto& others = casts[Role::other];
  const auto generates = is_bare(words::kGenerator);
  const auto judges = is_bare(words::kDiscriminator);
  if (plays(casts, {Role::generator_loss, Role::discriminator_loss}) ||
      std::none_of(others.begin(), others.end(), generates) || std::none_of(others.begin(), others.end(), judges)) {
    return;
  }
  const auto cast_as = [&](const auto& which, Role role) {
    move(casts, Role::other, role, which);
    for (Cast& cast : casts[role]) {
      cast.guess.adversarial = true;
      cast.guess.component = false;
    }
  };
  cast_as(generates, Role::generator_loss);
  cast_as(judges, Role::discriminator_loss);
}

/// A penalty on the weights is no loss of the task; but "reg_loss" beside the loss of classes is that of a regression.
void settle_penalties(std::map<Role, std::vector<Cast>>& casts, Role loss, Role metric) {
  static constexpr std::array kPenalties = {"regularization"sv, "regularisation"sv, "regularizer"sv, "regulariser"sv,
                                            "penalty"sv,        "decay"sv,          "wd"sv};
  static constexpr std::array kTasks = {"cls"sv, "class"sv, "classification"sv, "box"sv, "obj"sv, "conf"sv, "rpn"sv};
  auto& losses = casts[loss];
  const bool regresses = std::any_of(losses.begin(), losses.end(),
                                     [](const Cast& cast) { return words_of_name(cast.series->name()).any(kTasks); });
  const auto is_penalty = [&](const Cast& cast) {
    const NameWords w = words_of_name(cast.series->name());
    return w.any(kPenalties) || (w.any("reg") && !regresses);
  };
  const auto is_weak = [](const Cast& cast) { return words_of_name(cast.series->name()).any(words::kWeakLoss); };
  const auto& metrics = casts[metric];
  const bool task =
      !std::all_of(losses.begin(), losses.end(), is_penalty) || std::any_of(metrics.begin(), metrics.end(), is_weak);
  if (task) move(casts, loss, Role::other, is_penalty);
}

/// Beside a reward, "steps" that go up and down are the lengths of episodes.
void settle_lengths(std::map<Role, std::vector<Cast>>& casts) {
  if (!plays(casts, {Role::reward, Role::evaluation_reward}) || plays(casts, {Role::episode_length})) return;
  const auto is_length = [](const Cast& cast) {
    const NameWords w = words_of_name(cast.series->name());
    const bool named = (w.any("steps") || w.any("timesteps") || w.any("frames")) &&
                       std::all_of(w.all.begin(), w.all.end(), [](const std::string& word) {
                         return word == "steps" || word == "timesteps" || word == "frames" || word == "episode" ||
                                word == "per" || word == "ep";
                       });
    if (!named) return false;
    const std::vector<Bucket> buckets = cast.series->summary().buckets();
    double highest = -std::numeric_limits<double>::infinity();
    return std::any_of(buckets.begin(), buckets.end(), [&](const Bucket& bucket) {
      const bool falls = bucket.min < highest;
      highest = std::max(highest, bucket.max);
      return falls;
    });
  };
  move(casts, Role::other, Role::episode_length, is_length);
}

}  // namespace

std::optional<RoleGuess> guess_agent_role(std::string_view name, const NameWords& w, const RoleGuess& plain) {
  if (auto guess = guess_reward(name, w, plain)) return guess;
  if (auto guess = guess_policy_state(name, w, plain)) return guess;
  if (auto guess = guess_episode(w, plain)) return guess;
  if (is_q_value(w)) {
    RoleGuess guess = with_role(plain, Role::q_value);
    guess.component = guess.adversarial = false;
    return guess;
  }
  return guess_player(name, w, plain);
}

void settle_by_company(std::map<Role, std::vector<Cast>>& casts) {
  settle_short_splits(casts);
  settle_reward_model(casts);
  settle_answers(casts);
  settle_bare_players(casts);
  settle_penalties(casts, Role::train_loss, Role::train_metric);
  settle_penalties(casts, Role::validation_loss, Role::validation_metric);
  settle_lengths(casts);
  const bool tuned = plays(casts, {Role::completion_length, Role::truncated_share, Role::no_variance_share});
  const bool acts = plays(casts, {Role::reward, Role::evaluation_reward, Role::episode_length, Role::policy_loss,
                                  Role::value_loss, Role::clip_fraction, Role::explained_variance});
  const auto all = [](const Cast&) { return true; };
  // "eps" beside a reference model are episodes per second.
  if (tuned || plays(casts, {Role::reference_kl})) move(casts, Role::exploration_rate, Role::other, all);
  if (tuned) {
    move(casts, Role::policy_kl, Role::reference_kl, is_plain_kl);
    move(casts, Role::train_loss, Role::reference_kl, is_plain_kl);
  } else if (acts) {
    move(casts, Role::train_loss, Role::policy_kl, is_plain_kl);
  } else if (reconstructs(casts) || weighs_divergence(casts)) {
    move(casts, Role::policy_kl, Role::latent_kl, is_plain_kl);
    move(casts, Role::train_loss, Role::latent_kl, is_plain_kl);
  } else {
    move(casts, Role::policy_kl, Role::other, all);
  }
  if (!acts && !tuned) {
    for (Cast& cast : casts[Role::policy_entropy]) cast.guess.component = cast.guess.adversarial = true;
    const auto is_loss = [](const Cast& cast) { return cast.guess.negated; };
    move(casts, Role::policy_entropy, Role::train_loss, is_loss);
    move(casts, Role::policy_entropy, Role::other, all);
  }
  const auto tunes_temperature = [](const Cast& cast) {
    const NameWords w = words_of_name(cast.series->name());
    return w.any("alpha") || w.any("temperature");
  };
  // What tunes the temperature of SAC is no objective of the training.
  if (plays(casts, {Role::policy_loss, Role::value_loss})) {
    move(casts, Role::train_loss, Role::other, tunes_temperature);
  }
  // A bare "Throughput" beside a reward is what the world of the agent lets through, not how fast it is trained.
  const auto of_the_world = [](const Cast& cast) {
    const std::string& name = cast.series->name();
    return name.find_first_of("/_ ") == std::string::npos && words_of_name(name).any("throughput");
  };
  if (!tuned && plays(casts, {Role::reward, Role::evaluation_reward})) {
    move(casts, Role::throughput, Role::other, of_the_world);
  }
  // A critic beside a generator is the discriminator of a Wasserstein GAN.
  if (!plays(casts, {Role::reward, Role::evaluation_reward, Role::policy_loss}) &&
      plays(casts, {Role::generator_loss})) {
    move(casts, Role::value_loss, Role::discriminator_loss, all);
  }
}

}  // namespace osler
