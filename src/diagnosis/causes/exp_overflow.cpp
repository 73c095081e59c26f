// exp-overflow: an exponential of a large logit.
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
exp(89) is beyond float32, exp(12) beyond float16, exp(710) beyond double. A hand-written softmax, a log-variance that
is exponentiated, a temperature that has shrunk: the result is Inf, and Inf / Inf is NaN.

## How it shows
NaN or Inf after logits or weights have grown for a while; in the first steps when the outputs start out large.

## What else looks like it
A logarithm of zero (the other end of the same range), overflow in half precision, a gradient that ran away.

## References
- Blanchard, Higham, Higham 2021, Accurately Computing the Log-Sum-Exp and Softmax Functions.
- Wortsman et al. 2023, Small-Scale Proxies for Large-Scale Transformer Training Instabilities: growing logits.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  weigh_break(patient, -0.5, 0.5, found);
  if (loss_without_logarithm(patient)) found.push_back({-1.0, "the loss takes no exponential"});
  if (break_recovered(verdicts)) found.push_back({-0.4, "the loss became finite again by itself"});
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  return {switch_to("Subtract the largest logit before the exponential (log-sum-exp), or use the library's softmax.",
                    "guarded_math", "on"),
          advice("Bound what is exponentiated: clamp logits to +-50 and log-variances to +-10."),
          compute_loss_from_logits(), replay_break(verdicts), divide_learning_rate(patient, 3)};
}

}  // namespace

Cause exp_overflow() {
  return {"exp-overflow",
          "An exponential overflows",
          kDoc,
          -3.2,
          {{"gradient-nonfinite", 0.1, 0, "an infinite exponential has no finite gradient"},
           {"logit-growth", 1.5, 0, "logits grow towards the overflow"},
           {"loss-nonfinite-at-start", 2.2, 0, "large first outputs overflow an exponential"},
           {"loss-nonfinite-later", 1.4, 0, "logits grow until their exponential overflows"},
           {"weight-norm-exploding", 0.8, 0, "growing weights make growing logits"},
           {"loss-scale-collapsing", 0.7, 0, "exponentials are the first to leave half precision"},
           {"initial-loss-wrong", 0.4, 0, "large first outputs show in the first loss"},
           {"exploding-gradients", -0.4, -0.1, "the gradient ran away first"}},
          "nan-replay",
          "Replay the step that broke under NaN tracing: it names the operation and its inputs.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
