// discriminator-overpowers-generator: one network of a GAN has won, and the other learns nothing any more.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The discriminator tells real from generated samples without effort: its loss goes to zero, the generator's climbs.

## Signature
The discriminator's loss over the last third is below `won` of its first level and below `nothing`, while the generator's
rose by `climb` or more; or in `nearly_all` of the values the discriminator's is below `nothing` and the generator's above
`hopeless`, or in `long` of them, whatever came afterwards.

## Why it matters
A discriminator that is sure gives no gradient. The generator stops learning, or collapses to the few samples that still
fool it.

## When it is harmless
Wasserstein critics have no floor and their losses drift; they are not judged here. A discriminator may lead for a while.

## References
- Goodfellow et al. 2014, Generative Adversarial Nets: the saturating game.
- Arjovsky and Bottou 2017, Towards Principled Methods for Training Generative Adversarial Networks.
)";

/// In nearly every row the discriminator is sure and right, and the generator's loss says that it has no chance. At the
/// balance of a game of cross-entropies both guess: ln 2 each (Goodfellow et al. 2014).
std::optional<Observation> beyond_doubt(const Reading& generator, const Reading& discriminator,
                                        const SettingValues& settings) {
  const double sure = signal::quantile(discriminator.curve.value, settings["nearly_all"]);
  const double hopeless = signal::quantile(generator.curve.value, 1 - settings["nearly_all"]);
  if (sure > settings["nothing"] || hopeless < settings["hopeless"]) return std::nullopt;
  Observation seen = observe(Severity::warning, confidence_of(hopeless / settings["hopeless"] + 1),
                             discriminator.first_step, discriminator.last_step,
                             discriminator.name + " stays below " + number(sure) + " and " + generator.name +
                                 " above " + number(hopeless) + ": the discriminator has won from the start.");
  seen.evidence.push_back(evidence(generator.name, generator.first_step, generator.last_step, hopeless,
                                   settings["hopeless"], "at balance it is 0.69"));
  return seen;
}

/// The same for a long part of the run: what both did afterwards is no game any more, as when both guess.
std::optional<Observation> beyond_doubt_for_long(const Reading& generator, const Reading& discriminator,
                                                 const SettingValues& settings) {
  const std::size_t n = std::min(generator.size(), discriminator.size());
  if (generator.size() != discriminator.size() || n < settings["fewest_to_compare"]) return std::nullopt;
  std::vector<std::size_t> won;
  for (std::size_t i = 0; i < n; ++i) {
    if (discriminator.curve.value[i] < settings["nothing"] && generator.curve.value[i] > settings["hopeless"]) {
      won.push_back(i);
    }
  }
  const double share = static_cast<double>(won.size()) / static_cast<double>(n);
  if (won.size() < settings["fewest_to_compare"] || share < settings["long"]) return std::nullopt;
  Observation seen =
      observe(Severity::warning, confidence_of(share / settings["long"] + 0.5), discriminator.step_at(won.front()),
              discriminator.step_at(won.back()),
              discriminator.name + " lies below " + number(settings["nothing"]) + " and " + generator.name + " above " +
                  number(settings["hopeless"]) + " for " + per_cent(share) + " of the run: the discriminator has won.");
  seen.evidence.push_back(evidence(generator.name, generator.step_at(won.front()), generator.step_at(won.back()), share,
                                   settings["long"],
                                   std::to_string(won.size()) + " of " + std::to_string(n) + " values"));
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto fewest = static_cast<std::size_t>(settings["fewest_points"]);
  const auto generator = figure(patient, Role::generator_loss, fewest);
  const auto discriminator = figure(patient, Role::discriminator_loss, fewest);
  if (!generator || !discriminator) return NotChecked{"needs the losses of generator and discriminator"};
  const auto lowest = std::min_element(discriminator->curve.low.begin(), discriminator->curve.low.end());
  if (*lowest < 0) return NotChecked{"a critic's loss without a floor does not tell who leads"};
  if (auto seen = beyond_doubt(*generator, *discriminator, settings)) return std::move(*seen);
  if (auto seen = beyond_doubt_for_long(*generator, *discriminator, settings)) return std::move(*seen);
  if (generator->size() < settings["fewest_to_compare"] || discriminator->size() < settings["fewest_to_compare"]) {
    return NotFound{};
  }
  const double won = late_level(*discriminator) / std::max(early_level(*discriminator), 1e-12);
  const double climb = late_level(*generator) / std::max(early_level(*generator), 1e-12);
  if (won > settings["won"] || late_level(*discriminator) > settings["nothing"] || climb < settings["climb"]) {
    return NotFound{};
  }
  Observation seen =
      observe(Severity::warning, confidence_of(std::min(settings["won"] / won, climb / settings["climb"])),
              discriminator->first_step, discriminator->last_step,
              discriminator->name + " fell to " + number(late_level(*discriminator)) + " while " + generator->name +
                  " climbed to " + number(late_level(*generator)) + ": the discriminator has won.");
  seen.evidence.push_back(evidence(discriminator->name, discriminator->first_step, discriminator->last_step, won,
                                   settings["won"], per_cent(won) + " of its first level is left"));
  seen.evidence.push_back(evidence(generator->name, generator->first_step, generator->last_step, climb,
                                   settings["climb"], times(climb) + " its first level"));
  return seen;
}

}  // namespace

Finding discriminator_overpowers_generator() {
  return {.id = "discriminator-overpowers-generator",
          .title = "The discriminator has won against the generator",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 5, "values of each loss needed"},
                       {"fewest_to_compare", 10, "values needed to compare the end with the beginning"},
                       {"nearly_all", 0.85, "share of the values that must say so where the run began that way"},
                       {"hopeless", 4, "loss of a generator that is believed in one case of 55, exp(-4)"},
                       {"long", 0.3, "share of the values that is enough anywhere in the run"},
                       {"won", 0.2, "share of its first loss that a discriminator that has won keeps"},
                       {"nothing", 0.15, "loss of a discriminator that is nearly always right (0.69 is guessing)"},
                       {"climb", 2, "rise of the generator's loss that goes with it"}},
          .check = check,
          .judged_by = JudgedBy::adversarial};
}

}  // namespace osler::catalogue
