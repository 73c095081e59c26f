// divergence-weight-too-large: an autoencoder is paid for saying nothing.
#include "diagnosis/configured.h"
#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A variational autoencoder pays for every nat that its code carries. Early on the decoder cannot use the code yet, so the
cheapest way is to carry nothing; with a strong decoder, or a large weight on the divergence, it stays the cheapest.

## How it shows
The divergence of the code falls to zero within the first epochs and stays there; the reconstruction loss is that of an
average.

## What else looks like it
A code that is not connected to the decoder (the divergence is zero from the first step on), a divergence that is logged
after its weight.

## References
- Bowman et al. 2016, Generating Sentences from a Continuous Space.
- Kingma et al. 2016, Improved Variational Inference with Inverse Autoregressive Flow: free bits.
)";

std::optional<double> weight_of(const Patient& patient) {
  return configured_number(patient, {"kl_weight", "beta", "kld_weight", "kl_coef", "kl_beta", "lambda_kl"});
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  if (const auto weight = weight_of(patient); weight && *weight > 0) {
    list.push_back(
        change("Divide the weight of the divergence by 10: " + number(*weight) + " -> " + number(*weight / 10) + ".",
               "kl_weight", number(*weight), number(*weight / 10)));
  }
  list.push_back(advice("Raise the weight of the divergence from 0 over the first third of the training."));
  list.push_back(advice("Leave the first nats free: penalise only what a unit of the code carries beyond 0.1."));
  list.push_back(advice("Weaken the decoder, so that it needs the code: drop some of its other inputs."));
  return list;
}

}  // namespace

Cause divergence_weight_too_large() {
  return {"divergence-weight-too-large",
          "The penalty on the code is too large",
          kDoc,
          -1.9,
          {{"posterior-collapse", 3.5, -0.5, "carrying nothing is the cheapest way to please the penalty"}},
          "",
          "Train the first epochs without the divergence: if the code carries something then, this is it.",
          nullptr,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
