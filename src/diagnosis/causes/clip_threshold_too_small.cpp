// clip-threshold-too-small: clipping shortens every step.
#include "diagnosis/clipping.h"
#include "diagnosis/configured.h"
#include "diagnosis/evidence/loss_bounds.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "signal/robust.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Clipping is meant for the rare leap. With a threshold far below the usual norm every step is cut to the same length:
the optimizer follows the direction only, the effective learning rate is set by the threshold, and the size of the
gradient no longer says when to slow down.

## How it shows
Pre-clip norms above the threshold on more than 80 % of the steps; slow, steady progress; with the norm logged after
clipping, a flat line at the threshold.

## What else looks like it
A learning rate that is too high or a poor initialisation, which make the norms large in the first place. Tasks with
naturally large gradients (reinforcement and meta-learning) simply need a larger threshold.

## References
- Pascanu, Mikolov, Bengio 2013, On the Difficulty of Training Recurrent Neural Networks.
- Zhang et al. 2020, Why Gradient Clipping Accelerates Training.
- Seetharaman et al. 2020, AutoClip: clip at a percentile of the norms seen so far.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  // Thresholds that working set-ups have lie between 0.1 and 10 (Pascanu et al. 2013; 1 is usual).
  constexpr double kTiny = 0.05;
  if (const auto limit = clip_limit(patient); limit && *limit > 0 && *limit <= kTiny) {
    found.push_back({3.5, "gradients are clipped at " + number(*limit) + "; 0.1 to 10 is usual"});
  }
  if (const auto above = stays_above_chance(patient)) found.push_back({0.8, *above});
  const auto clipping = clipping_of(patient);
  if (clipping && clipping->median > 3 * clipping->limit) {
    found.push_back({0.8, "the median norm of " + number(clipping->median) + " is " +
                              times(clipping->median / clipping->limit) + " the threshold of " +
                              number(clipping->limit)});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts& verdicts) {
  if (verdicts.found("clipping-always") != nullptr) return std::nullopt;
  if (clip_limit(patient) == 0.0) return "the configuration does not clip";
  const auto clipping = clipping_of(patient);
  constexpr double kSeldom = 0.1;
  if (!clipping || clipping->share > kSeldom) return std::nullopt;
  if (!clipping->counted_by.empty()) return "only " + per_cent(clipping->share) + " of the steps were clipped";
  return "only " + per_cent(clipping->share) + " of the norms reach the threshold of " + number(clipping->limit);
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  const auto clipping = clipping_of(patient);
  if (clipping && !clipping->after && clipping->median > clipping->limit) {
    const double common = signal::quantile(patient.gradient_norm()->curve.value, 0.9);
    list.push_back(change("Raise the threshold from " + number(clipping->limit) + " to " + number(common) +
                              ": nine norms in ten lie below it, the median is " + number(clipping->median) + ".",
                          "clip_norm", number(clipping->limit), number(common)));
  } else {
    list.push_back(advice("Log the norm before clipping and raise the threshold until nine of ten steps pass."));
  }
  list.push_back(divide_learning_rate(patient, 3));
  list.push_back(advice("Better scaled first weights make smaller first gradients; check them too."));
  return list;
}

}  // namespace

Cause clip_threshold_too_small() {
  return {"clip-threshold-too-small",
          "The clipping threshold is too small",
          kDoc,
          -2.4,
          {{"clipping-always", 4.3, -2.5, "almost every step is clipped"},
           {"loss-too-slow", 0.8, 0, "steps cut to a fixed length make slow progress"},
           {"updates-too-small", 1.1, 0, "clipped gradients make small updates"},
           {"loss-stuck-from-start", 0.6, 0, "steps cut this short may not show"},
           {"loss-stuck-after-drop", 0.1, 0, "steps of a fixed length cannot settle"},
           {"underfitting", 0.4, 0, "training may not have got far enough"},
           {"clipping-never", -3.0, 0, "clipping is never active"},
           {"loss-diverging", -1.5, 0, "clipped steps are bounded"},
           {"vanishing-gradients", -2.5, 0, "norms this small are not clipped"}},
          "",
          "Count the clipped steps at ten times the threshold: progress should be faster and the loss stay calm.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
