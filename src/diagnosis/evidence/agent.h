// What an agent earns: how a reward went, and the figures that its learner logs beside it.
#pragma once

#include <optional>
#include <string>

#include "diagnosis/evidence/stretches.h"
#include "diagnosis/patient.h"

namespace osler {

/// How the reward went over the run. Values are negated rewards, as in every reading that should rise.
struct RewardProgress {
  const Reading* reading = nullptr;
  Stretches stretches;
  Stretch late;      ///< the last third
  double gain = 0;   ///< how far the last third lies above the first stretch, in rewards
  double scale = 0;  ///< what counts as much here: the size of rewards, or the scatter of episodes
  double sure = 0;   ///< the gain in standard errors
  /// It ends clearly above where it began.
  [[nodiscard]] bool improved() const;
  /// It still rose clearly over the second half of the run.
  [[nodiscard]] bool still_improves() const;
  /// A reward between 0 and 1 that ends near 1: there is little left to gain.
  [[nodiscard]] bool near_top() const;
};
/// Nothing for a run without a reward, or with too few points.
[[nodiscard]] std::optional<RewardProgress> reward_progress(const Patient& patient);

/// How the first third of the episodes went beside the level that the last third settles on, in shares.
struct FirstEpisodes {
  double better = 0;
  double equal = 0;
};
/// Where the last third of the episodes all go the same way beside those of the first third, of a policy that still
/// tried this and that. Nothing elsewhere.
[[nodiscard]] std::optional<FirstEpisodes> settled_against(const Reading& reward);

/// Why the reward does not tell how well the agent does, in words; empty when it does. Who plays against copies of
/// itself wins as often as it loses, however well it plays, and where lessons get harder the same skill earns less.
[[nodiscard]] std::string moving_target(const Patient& patient);

/// A language model is tuned by rewards for its answers.
[[nodiscard]] bool tunes_language_model(const Patient& patient);

/// The first series in a role, as the log has it but with the sign that the role means; nothing below `fewest` points.
[[nodiscard]] std::optional<Reading> figure(const Patient& patient, Role role, std::size_t fewest);

/// The median of the last third of a reading.
[[nodiscard]] double late_level(const Reading& reading);
/// The median of the very first values, zeros before learning starts left out.
[[nodiscard]] double early_level(const Reading& reading);

}  // namespace osler
