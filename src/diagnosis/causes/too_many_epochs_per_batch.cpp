// too-many-epochs-per-batch: the same experience is used until the policy is far from the one that made it.
#include <algorithm>
#include <cmath>

#include "diagnosis/configured.h"
#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
An on-policy learner goes over each batch of experience several times. With every pass the policy moves away from the one
that gathered it, and clipping the ratio bounds the gradient of single samples, not how far all of them together go.

## How it shows
A divergence far above 0.05 after the last pass, a clipped share above 0.3, rewards that swing or collapse.

## What else looks like it
A learning rate that is too high (the first pass already goes too far), a clip range that is too wide, batches that are too
small.

## References
- Schulman et al. 2017, Proximal Policy Optimization Algorithms.
- Andrychowicz et al. 2021, What Matters in On-Policy Reinforcement Learning?
)";

constexpr double kUsual = 10;  // the default of Stable-Baselines3; 3 to 10 elsewhere

std::optional<double> passes(const Patient& patient) {
  return configured_number(patient, {"n_epochs", "update_epochs", "num_sgd_iter", "ppo_epochs", "num_epoch",
                                     "noptepochs", "train_pi_iters", "num_learning_epochs", "num_ppo_epochs"});
}

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  const auto count = passes(patient);
  if (count && *count > kUsual) {
    found.push_back({1.4, "each batch is used " + number(*count) + " times, where 3 to 10 is usual"});
  }
  if (count && *count < 5) found.push_back({-1.0, "each batch is used only " + number(*count) + " times"});
  if (const auto clipped = figure(patient, Role::clip_fraction, 3); clipped && late_level(*clipped) > 0.3) {
    found.push_back({0.6, per_cent(late_level(*clipped)) + " of the samples end beyond the clip range"});
  }
  if (const auto limit = configured_number(patient, {"target_kl"}); limit && *limit > 0) {
    found.push_back({-0.8, "passes stop at a divergence of " + number(*limit)});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  if (passes(patient) == 1.0) return "each batch is used once";
  return std::nullopt;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  list.push_back(
      change("Stop the passes over a batch once the policy has moved by 0.02 (target_kl).", "target_kl", "", "0.02"));
  if (const auto count = passes(patient); count && *count > 1) {
    const double fewer = std::max(1.0, std::floor(*count / 2));
    list.push_back(change("Use each batch less often: " + number(*count) + " -> " + number(fewer) + " passes.",
                          "n_epochs", number(*count), number(fewer)));
  } else {
    list.push_back(advice("Halve the number of passes over each batch."));
  }
  if (const auto range =
          configured_number(patient, {"clip_range", "clip_coef", "cliprange", "clip_ratio", "clip_param"});
      range && *range > 0.2) {
    list.push_back(
        change("Narrow the clip range: " + number(*range) + " -> 0.2.", "clip_range", number(*range), "0.2"));
  }
  list.push_back(divide_learning_rate(patient, 3));
  return list;
}

}  // namespace

Cause too_many_epochs_per_batch() {
  return {"too-many-epochs-per-batch",
          "Each batch of experience is used too often",
          kDoc,
          -2.8,
          {{"kl-blow-up", 2.1, -0.8, "the policy ends far from the one that gathered the data"},
           {"reward-collapse", 0.9, 0, "one update that goes too far ruins the data of all later ones"},
           {"reward-oscillating", 0.9, 0, "the policy is fitted to one batch after the other"},
           {"policy-entropy-collapse", 0.7, 0, "many passes make what paid in one batch certain"},
           {"q-value-divergence", -1.0, 0, "replayed experience has no passes to count"}},
          "",
          "Log the divergence after each pass: if it grows with the passes, this is it; if the first is large, it is "
          "the rate.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
