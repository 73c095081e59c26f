// clip-threshold-too-small: clipping shortens every step.
#include <algorithm>

#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "signal/robust.h"

namespace osler::catalogue {
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

std::vector<Clue> clues(const Patient& patient, const Findings&) {
  std::vector<Clue> found;
  const auto limit = clip_limit(patient);
  const auto usual = usual_norm(patient);
  if (limit && usual && *limit > 0 && *usual > 3 * *limit) {
    found.push_back({0.8, "the median norm of " + number(*usual) + " is " + times(*usual / *limit) +
                              " the threshold of " + number(*limit)});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Findings& findings) {
  if (findings.found("clipping-always") != nullptr) return std::nullopt;
  const auto limit = clip_limit(patient);
  if (!limit) return std::nullopt;
  if (*limit == 0) return "the configuration does not clip";
  const Reading* norm = patient.gradient_norm();
  if (norm == nullptr || norm->curve.empty()) return std::nullopt;
  const double most = signal::quantile(norm->curve.high, 0.9);
  if (most >= *limit) return std::nullopt;
  return "nine tenths of the norms lie below " + number(most) + ", under the threshold of " + number(*limit);
}

std::vector<Remedy> remedies(const Patient& patient, const Findings&) {
  std::vector<Remedy> list;
  const auto limit = clip_limit(patient);
  const Reading* norm = patient.gradient_norm();
  const double common = norm == nullptr || norm->curve.empty() ? 0 : signal::quantile(norm->curve.value, 0.9);
  if (common > 0 && (!limit || common > 1.1 * *limit)) {
    list.push_back(change("Raise the threshold to " + number(common) + ": nine norms in ten lie below it.", "clip_norm",
                          limit ? number(*limit) : "", number(common)));
  } else {
    list.push_back(advice("Log the norm before clipping and set the threshold where nine of ten steps pass."));
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
          -2.0,
          {{"clipping-always", 3.8, -2.5, "almost every step is clipped"},
           {"loss-too-slow", 1.0, 0, "steps cut to a fixed length make slow progress"},
           {"updates-too-small", 1.2, 0, "clipped gradients make small updates"},
           {"loss-stuck-from-start", 0.4, 0, "steps cut this short may not show"},
           {"loss-stuck-after-drop", 0.4, 0, "steps of a fixed length cannot settle"},
           {"underfitting", 0.2, 0, "training may not have got far enough"},
           {"clipping-never", -3.0, 0, "clipping is never active"},
           {"loss-diverging", -1.5, 0, "clipped steps are bounded"},
           {"vanishing-gradients", -2.5, 0, "norms this small are not clipped"}},
          "",
          "Count the clipped steps at ten times the threshold: progress should be faster and the loss stay calm.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue
