// Role: what a series means, guessed from the names seen in the wild, or told by the user.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"
#include "osler/run/run.h"

namespace osler {

/// What a series means to the diagnosis. The names (kebab-case) are part of the report contract.
enum class Role {
  train_loss,  ///< may be an objective that is maximised (an ELBO): `higher_is_better` tells
  validation_loss,
  train_accuracy,
  validation_accuracy,
  train_metric,  ///< another figure of merit on training data (perplexity, BLEU, IoU, ...)
  validation_metric,
  learning_rate,
  gradient_norm,
  clip_threshold,
  clipped_share,  ///< whether a step's gradient was clipped (0 or 1), or the share of steps so far, of 1 or in per cent
  loss_scale,
  epoch,
  step_time,
  throughput,
  utilization,         ///< share of the hardware's arithmetic in use (MFU), or TFLOP/s
  tokens_seen,         ///< tokens trained on so far
  reward,              ///< reward or return of current episodes, as the policy that learns earns it
  evaluation_reward,   ///< reward or return of evaluation episodes
  reward_deviation,    ///< spread of the reward among episodes or within groups of completions
  no_variance_share,   ///< share of groups of completions that all earn the same reward
  reward_margin,       ///< preference tuning: reward of the chosen less that of the rejected answer
  preference_reward,   ///< preference tuning: implicit reward of the chosen or of the rejected answer
  episode_length,      ///< steps per episode
  exploration_rate,    ///< epsilon: chance of a random action
  policy_entropy,      ///< entropy of the policy; `negated` when the log holds minus the entropy
  action_deviation,    ///< standard deviation of the actions of a Gaussian policy
  policy_kl,           ///< KL divergence between the policy before and after an update
  reference_kl,        ///< KL divergence between a language model and its reference
  latent_kl,           ///< KL divergence between a latent code and its prior (VAE)
  clip_fraction,       ///< share of the samples whose ratio PPO clipped
  explained_variance,  ///< share of the returns' variance that the value function explains
  policy_loss,         ///< loss of the actor
  value_loss,          ///< loss of the critic, of Q functions included
  q_value,             ///< value that the critic gives states or actions
  generator_loss,
  discriminator_loss,
  completion_length,  ///< tokens per generated answer
  truncated_share,    ///< share of the generated answers that were cut off at the longest length
  layer_gradient,     ///< a statistic of one layer's gradient
  layer_weight,
  layer_update,
  layer_activation,
  other,  ///< recorded, but nothing the diagnosis reads
};

/// Which figure a loss, an accuracy or a metric is, as far as its name tells: the level of pure chance depends on it.
enum class Measure {
  unknown,
  cross_entropy,
  binary_cross_entropy,
  log_likelihood,  ///< an ELBO or a log-likelihood, maximised
  bits,            ///< bits per byte or character
  perplexity,
  squared_error,
  root_squared_error,
  absolute_error,
  relative_error,  ///< mean absolute percentage error
  hinge,
  accuracy,
  top_accuracy,  ///< the right class is among the k most probable ones
  error_rate,
  balanced_accuracy,
  auc,
  average_precision,  ///< mAP and its kin
  precision,
  recall,
  f1,
  iou,
  dice,
  mcc,  ///< Matthews' or Cohen's agreement beyond chance
  r2,
  correlation,
  bleu,
  rouge,
  exact_match,
  word_error_rate,
  success_rate,
  hit_rate,  ///< share of queries answered within the first k
  ranking,   ///< NDCG, MRR
  psnr,
  ssim,
  fid,
  score,  ///< a score that does not say of what; higher is better
};

[[nodiscard]] std::string_view to_string(Role role);
/// The role called `name`, as users and JSON write it.
[[nodiscard]] std::optional<Role> role_from(std::string_view name);
/// The kebab-case name of a measure.
[[nodiscard]] std::string_view to_string(Measure measure);
/// Whether the role is that of a loss: plain, or of one of several networks that play against or beside each other.
[[nodiscard]] bool is_loss_role(Role role);

/// What the name of a series tells.
struct RoleGuess {
  Role role = Role::other;
  bool higher_is_better = false;
  bool component = false;     ///< one of several losses that add up (box, cls, dfl), not the total
  bool adversarial = false;   ///< generator, discriminator, actor or critic: its level says little by itself
  bool running_mean = false;  ///< the name says that the values are smoothed already
  bool negated = false;       ///< the values are minus what the role says (`entropy_loss`)
  Measure measure = Measure::unknown;
  std::string layer;      ///< for layer roles: the layer's own name
  std::string statistic;  ///< for layer roles: "norm", "std", "mean", "max", "zero-share", ...
};

/// The role that the name of a series suggests.
[[nodiscard]] RoleGuess guess_role(std::string_view series_name);

/// A user's word on roles: `--role train-loss=NAME`.
struct RoleOverride {
  Role role = Role::other;
  std::string series;
};

/// A series with the role it plays.
struct Cast {
  const Series* series = nullptr;
  RoleGuess guess;
};

/// Which series play which role in one run; the best candidate of each role comes first. Points into the run.
class RoleMap {
 public:
  /// Casts every series of `run`. Fails when an override names a series that does not exist.
  [[nodiscard]] static Result<RoleMap> infer(const Run& run, const std::vector<RoleOverride>& overrides = {});

  /// The series in a role, best candidate first; empty when there is none.
  [[nodiscard]] const std::vector<Cast>& in(Role role) const;
  /// The best candidate, or nullptr.
  [[nodiscard]] const Series* first(Role role) const;
  [[nodiscard]] const std::map<Role, std::vector<Cast>>& all() const { return casts_; }

 private:
  std::map<Role, std::vector<Cast>> casts_;
};

}  // namespace osler
