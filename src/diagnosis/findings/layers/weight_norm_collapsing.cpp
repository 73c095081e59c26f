// weight-norm-collapsing: the weights of a layer shrink towards zero.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "diagnosis/configured.h"
#include "diagnosis/evidence/solved.h"
#include "diagnosis/layers.h"
#include "diagnosis/measuring.h"
#include "diagnosis/observe.h"
#include "diagnosis/weight_norms.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The norm of a layer's weights falls to a small fraction of what it was.

## Signature
A layer that began at no less than `counts` of the usual size of the run's layers has shrunk below `left` of its initial
norm (critical: below `nothing_left`), and either still shrinks significantly or has nothing left.

Where the log has no norms, the configuration tells: each step takes the rate times the decay from every weight. When
that is `per_step` of it or more, little but the last gradients is left, and it is a warning unless the training set is
solved all the same.

## Why it matters
A layer without weights passes nothing on. Weight decay that outweighs the gradient, or a layer that gets no gradient at
all under decay, ends there.

## When it is harmless
Weights before a normalisation layer may shrink several times without any effect, since their scale cancels. Pruning
removes weights on purpose. Biases may pass through zero and are left out.

## References
- Zhang et al. 2019, Three Mechanisms of Weight Decay Regularization.
- van Laarhoven 2017, L2 Regularization versus Batch and Weight Normalization.
)";

/// The configured decay alone takes so much of every weight in each step that none can grow.
std::optional<Observation> decays_at_once(const Patient& patient, const SettingValues& settings) {
  const auto decay = weight_decay(patient);
  const auto rate = highest_rate(patient);
  const Reading* loss = patient.training();
  if (!decay || !rate || loss == nullptr || loss->size() < settings["fewest_points"] || solved(patient)) return {};
  const double taken = *rate * *decay;
  if (taken < settings["per_step"]) return {};
  Observation seen =
      observe(Severity::warning, confidence_of(taken / settings["per_step"] + 0.5), loss->first_step, loss->last_step,
              "A weight decay of " + number(*decay) + " at a rate of " + number(*rate) + " takes " +
                  per_cent(std::min(1.0, taken)) + " of every weight in each step.");
  seen.evidence.push_back(evidence(loss->name, loss->first_step, loss->last_step, taken, settings["per_step"],
                                   "usual set-ups take 0.000001 to 0.0001"));
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const WeightNorms norms = weight_norms(patient, settings["fewest_points"]);
  if (norms.layers.empty()) {
    if (auto seen = decays_at_once(patient, settings)) return std::move(*seen);
    return NotChecked{"no weight norm of a layer with at least " + number(settings["fewest_points"]) + " values"};
  }
  std::vector<const WeightNorm*> shrunk;
  for (const WeightNorm& norm : norms.layers) {
    if (!(norm.early > 0) || norm.early < settings["counts"] * norms.usual) continue;
    // A bias may come through zero on its way to the other side; where weights are lost, their layer tells.
    if (!weight_beside(norm.layer).empty()) continue;
    const double left = norm.late / norm.early;
    const bool shrinks = left < settings["left"] && norm.trend.falls(settings["p_value"]);
    if (shrinks || left < settings["nothing_left"]) shrunk.push_back(&norm);
  }
  if (shrunk.empty()) return NotFound{};

  const auto left_of = [](const WeightNorm* norm) { return norm->late / norm->early; };
  std::stable_sort(shrunk.begin(), shrunk.end(),
                   [&](const WeightNorm* a, const WeightNorm* b) { return left_of(a) < left_of(b); });
  const WeightNorm& worst = *shrunk.front();
  const double left = left_of(&worst);
  Observation seen =
      observe(left < settings["nothing_left"] ? Severity::critical : Severity::warning,
              confidence_of(settings["left"] / std::max(left, 1e-12)), worst.first_step, worst.last_step,
              "The weights of " + worst.layer + " shrank from " + number(worst.early) + " to " + number(worst.late) +
                  (shrunk.size() > 1 ? "; " + std::to_string(shrunk.size()) + " layers shrink like that." : "."));
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < shrunk.size(); ++i) {
    seen.layers.push_back(shrunk[i]->layer);
    if (i >= kShown) continue;
    seen.evidence.push_back(evidence(shrunk[i]->series, shrunk[i]->first_step, shrunk[i]->last_step, shrunk[i]->late,
                                     settings["left"] * shrunk[i]->early,
                                     per_cent(left_of(shrunk[i])) + " of its initial norm is left"));
  }
  return seen;
}

}  // namespace

Finding weight_norm_collapsing() {
  return {"weight-norm-collapsing",
          "The weights of a layer shrink towards zero",
          {Need::layer},
          kDoc,
          {{"fewest_points", 8, "logged norms needed to see a decline"},
           {"counts", 0.1, "share of the usual initial size below which a layer is too small to judge"},
           {"left", 0.03, "share of the initial norm; weight decay beside normalisation leaves more than a tenth"},
           {"per_step", 0.02, "part of each weight that decay takes in a step, after fifty of which a third is left"},
           {"nothing_left", 0.001, "share of the initial norm that is as good as nothing"},
           {"p_value", 0.01, "significance of the decline"}},
          check};
}

}  // namespace osler::catalogue
