// reference-penalty-too-weak: nothing holds a tuned language model to what it was.
#include "diagnosis/configured.h"
#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Tuning by rewards moves a language model away from the text it was trained on. A penalty on its divergence from the
reference holds it; where that is zero or small, whatever the reward happens to pay for is exaggerated without end.

## How it shows
A divergence from the reference that grows without a bound, answers that grow to the longest length, a reward that rises
while held-out scores fall, entropy that explodes.

## What else looks like it
A grader that pays for the wrong thing (it does so at any penalty), a learning rate that is too high (single updates go
far), a template without an end token.

## References
- Stiennon et al. 2020, Learning to summarize from human feedback: over-optimisation.
- Gao et al. 2023, Scaling Laws for Reward Model Overoptimization.
)";

std::optional<double> coefficient(const Patient& patient) {
  return configured_number(patient, {"kl_coef", "kl_loss_coef", "init_kl_coef", "beta", "kl_penalty_coef"});
}

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  const auto penalty = coefficient(patient);
  if (penalty && *penalty == 0) found.push_back({1.2, "the penalty on leaving the reference is 0"});
  if (penalty && *penalty >= 0.05)
    found.push_back({-1.0, "the penalty on leaving the reference is " + number(*penalty)});
  if (const auto distance = figure(patient, Role::reference_kl, 5)) {
    constexpr double kFar = 20;  // summed over an answer; 10 is much in the literature on over-optimisation
    if (late_level(*distance) > kFar) {
      found.push_back({1.4, distance->name + " has reached " + number(late_level(*distance))});
    }
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  if (!tunes_language_model(patient)) return "no language model is tuned here";
  return std::nullopt;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Remedy> list;
  const auto penalty = coefficient(patient);
  const double to = penalty && *penalty > 0 ? 3 * *penalty : 0.04;
  const std::string from = penalty ? number(*penalty) : "";
  list.push_back(change("Raise the penalty on leaving the reference" +
                            (penalty ? ": " + from + " -> " : std::string(" to ")) + number(to) + ".",
                        "beta", from, number(to)));
  list.push_back(return_to_checkpoint(verdicts));
  list.push_back(advice("Stop at the best held-out score: the reward goes on rising after it."));
  list.push_back(divide_learning_rate(patient, 3));
  return list;
}

}  // namespace

Cause reference_penalty_too_weak() {
  return {"reference-penalty-too-weak",
          "Nothing holds the model to its reference",
          kDoc,
          -2.0,
          {{"completions-truncated", 2.0, 0, "answers grow to whatever length is allowed"},
           {"reward-hacking", 2.8, -0.5, "the reward is raised at the cost of everything else"},
           {"policy-entropy-explosion", 1.4, 0, "the model loses the text it was trained on"},
           {"reward-collapse", 1.5, 0, "far from the reference nothing leads back"},
           {"kl-blow-up", 0.6, 0, "nothing slows the policy down"}},
          "",
          "Compare answers of the reference and of the tuned model side by side: strange text confirms it.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
