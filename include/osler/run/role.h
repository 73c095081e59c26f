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
  train_loss,
  validation_loss,
  train_accuracy,
  validation_accuracy,
  train_metric,  ///< another figure of merit on training data (perplexity, BLEU, IoU, ...)
  validation_metric,
  learning_rate,
  gradient_norm,
  clip_threshold,
  loss_scale,
  epoch,
  step_time,
  throughput,
  reward,
  layer_gradient,  ///< a statistic of one layer's gradient
  layer_weight,
  layer_update,
  layer_activation,
  other,  ///< recorded, but nothing the diagnosis reads
};

[[nodiscard]] std::string_view to_string(Role role);
/// The role called `name`, as users and JSON write it.
[[nodiscard]] std::optional<Role> role_from(std::string_view name);

/// What the name of a series tells.
struct RoleGuess {
  Role role = Role::other;
  bool higher_is_better = false;
  bool component = false;     ///< one of several losses that add up (box, cls, dfl), not the total
  bool adversarial = false;   ///< generator, discriminator, actor or critic: its level says little by itself
  bool running_mean = false;  ///< the name says that the values are smoothed already
  std::string layer;          ///< for layer roles: the layer's own name
  std::string statistic;      ///< for layer roles: "norm", "std", "mean", "max", "zero-share", ...
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
