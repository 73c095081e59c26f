// Domain: what kind of training a run is, as far as its log tells.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace osler {

/// The field that a training belongs to: what its curves mean depends on it.
enum class Domain {
  unknown,
  classification,
  regression,
  language_model,     ///< pre-training and fine-tuning
  preference_tuning,  ///< a language model tuned by pairs of answers (DPO and its kin)
  reward_tuning,      ///< a language model tuned by rewards (PPO, GRPO)
  reinforcement,      ///< an agent in an environment
  adversarial,        ///< networks that play against each other
  detection,
  segmentation,
  sequence,     ///< translation, speech, summaries: judged by BLEU, ROUGE or word errors
  contrastive,  ///< representations learned by telling samples apart
  autoencoder,
};
/// "language-model".
[[nodiscard]] std::string_view to_string(Domain domain);
/// The domain of that name; nothing when there is none.
[[nodiscard]] std::optional<Domain> domain_from(std::string_view name);

/// A domain with the reason for it.
struct RecognisedDomain {
  Domain domain = Domain::unknown;
  double confidence = 0;  ///< 1: the user said so
  std::string why;
};

}  // namespace osler
