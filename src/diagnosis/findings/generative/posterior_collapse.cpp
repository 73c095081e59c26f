// posterior-collapse: the code of an autoencoder carries nothing any more.
#include <algorithm>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
In a variational autoencoder the divergence between the posterior of the code and its prior has gone to zero: the code is
the same noise for every input, and the decoder does without it.

## Signature
Over the last third the divergence is below `left` of the highest level it had and below `nothing`, or exactly zero all
along, and does not grow again.

## Why it matters
The model has become a decoder of averages. Samples and reconstructions no longer depend on the input, and the
reconstruction loss stays where an average has it.

## When it is harmless
Early in training, or while the weight of the divergence is still large on purpose. A weighted divergence may be small
from its first value on: only what had been there can be lost.

## References
- Bowman et al. 2016, Generating Sentences from a Continuous Space: annealing the divergence.
- Lucas et al. 2019, Don't Blame the ELBO! A Linear VAE Perspective on Posterior Collapse.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto divergence = figure(patient, Role::latent_kl, static_cast<std::size_t>(settings["fewest_points"]));
  if (!divergence) {
    return NotChecked{"no divergence of a code with at least " + number(settings["fewest_points"]) + " values"};
  }
  const std::size_t n = divergence->size();
  const auto values = std::span<const double>(divergence->curve.value);
  const double late = late_level(*divergence);
  const double before = signal::median(values.subspan(n / 3, std::max<std::size_t>(1, n / 3)));
  const bool never = divergence->top <= 0;
  const bool lost = divergence->top > 0 && late < settings["left"] * divergence->top && late < settings["nothing"];
  if (!(never || lost) || late > settings["grows"] * before) return NotFound{};
  // The last time that it was more than this.
  std::size_t since = n - 1;
  const double limit = never ? 0 : settings["left"] * divergence->top;
  while (since > 0 && divergence->smoothed[since - 1] <= limit) --since;
  Observation seen = observe(
      Severity::warning, confidence_of(never ? 3 : settings["left"] * divergence->top / std::max(late, limit / 4)),
      divergence->step_at(since), divergence->last_step,
      divergence->name +
          (never ? " is zero throughout" : " fell from " + number(divergence->top) + " to " + number(late)) +
          ": the code tells the decoder nothing.");
  seen.evidence.push_back(evidence(divergence->name, divergence->step_at(since), divergence->last_step, late, limit,
                                   "the median of the last third"));
  return seen;
}

}  // namespace

Finding posterior_collapse() {
  return {.id = "posterior-collapse",
          .title = "The code of the autoencoder carries nothing",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 10, "values of the divergence needed"},
                       {"left", 0.02, "share of its highest level that is nothing"},
                       {"nothing", 0.1, "nats below which no unit of a code is in use"},
                       {"grows", 1.5, "growth from the middle to the last third of a code that comes into use"}},
          .check = check};
}

}  // namespace osler::catalogue
