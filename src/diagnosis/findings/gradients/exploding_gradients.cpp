// exploding-gradients: the gradient norm runs away.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/chance.h"
#include "diagnosis/evidence/gradient_level.h"
#include "diagnosis/layers.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The norm of the gradient grows without bound, or leaps to many times its usual size and does harm. Factors above one in
the chain rule multiply up with depth or sequence length.

## Signature
The level of the last tenth is at least `growth` times the run's calm level (its lower quartile) and still rising; or
single norms reach `leap` times the calm level and `large` in absolute terms, and the loss is worse afterwards or not
finite, or there are at least `leaps` of them, each from a level that was there before it; or a single one is beyond
`absurd`, `leap` times what three quarters of the norms are, after the first `settling`. Steps that brought no gradient,
as in a batch whose answers all earned the same, say nothing of the calm level. A norm above `large` all
along is a matter of scale while the loss improves, and an illness when it has gained less than `little_gain` of its
level, or is that of a classifier and ends at `beyond_guessing` times what a guess costs; the share grows by itself once
more for every hundredfold that the norm lies above `large`. Where the log has norms of layers alone, the norm of the
whole is computed from them; layers that reach `carries` of the highest norm by themselves are named.

## Why it matters
One huge step throws the weights far from where they were; a few of them end in NaN.

## When it is harmless
Losses summed over tokens or pixels have norms in the hundreds all along. Norms that rise slowly late in training, by a
factor of a few, are common in healthy language models. Rare leaps that clipping catches leave no trace in the loss.
Networks that play against each other have gradients as large as the other player makes them: norms below `large` pass.

## References
- Pascanu, Mikolov, Bengio 2013, On the difficulty of training recurrent neural networks.
- Zhang et al. 2020, Why gradient clipping accelerates training.
)";

/// Whether the loss became non-finite or clearly worse at or after `step`.
bool loss_harmed(const Patient& patient, double step) {
  const Reading* loss = patient.training();
  if (loss == nullptr || loss->curve.empty()) return false;
  if (loss->ends_nonfinite) return true;
  const std::size_t at = loss->index_at(step);
  const double before =
      *std::min_element(loss->smoothed.begin(), loss->smoothed.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  return loss->end > before + 6 * loss->noise.sigma && loss->end > before + 0.1 * std::abs(before);
}

/// The loss is hardly better at the end than at the start.
bool little_gained(const Patient& patient, double share) {
  const Reading* loss = patient.training();
  if (loss == nullptr || loss->size() < 8) return false;
  return loss->start - loss->end < std::max(share * loss->level, loss->noise.sigma);
}

/// The loss is that of a classifier, in nats, and ends at many times what guessing costs: its scale is known, so a
/// large norm is no matter of scale.
bool beyond_guessing(const Patient& patient, double factor) {
  const Reading* loss = patient.training();
  const auto classes = class_count(patient);
  return loss != nullptr && !loss->negated && classes && *classes > 1 && loss->end > factor * std::log(*classes);
}

/// Names the layers that make up the highest norm, where the log has norms of layers and few of them do.
void name_carriers(const Patient& patient, double highest, double share, Observation& seen) {
  const std::vector<Layer> layers = layers_in(patient, Role::layer_gradient);
  std::vector<std::pair<double, const Layer*>> carriers;
  for (const Layer& layer : layers) {
    const Series* norm = layer.find({"norm", "l2"});
    if (norm == nullptr) continue;
    const Bucket total = *norm->summary().total();
    if (total.count > 0 && total.max >= share * highest) carriers.emplace_back(total.max, &layer);
  }
  if (carriers.empty() || 2 * carriers.size() > layers.size()) return;
  std::stable_sort(carriers.begin(), carriers.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [most, layer] : carriers) {
    seen.layers.push_back(layer->name);
    if (seen.layers.size() > 3) continue;
    const Series* norm = layer->find({"norm", "l2"});
    const Bucket total = *norm->summary().total();
    seen.evidence.push_back(evidence(norm->name(), total.max_step, total.max_step, most, share * highest,
                                     layer->name + " alone reaches " + number(most)));
  }
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* norm = patient.gradient_norm();
  if (norm == nullptr) return NotChecked{"no gradient norm in the log"};
  const std::size_t n = norm->size();
  if (n < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " gradient norms"};
  }
  const std::vector<double> usual = norms_of_steps(norm->curve.value);
  const double calm = signal::quantile(usual, 0.25);
  const double highest = *std::max_element(norm->curve.high.begin(), norm->curve.high.end());
  if (!(calm > 0)) return NotFound{};
  const auto late = std::span(norm->curve.value).subspan(n / 2);
  std::vector<double> log_norm(late.begin(), late.end());
  for (double& value : log_norm) value = std::log(std::max(value, 1e-300));
  const signal::Trend growth = signal::trend_of(std::span(norm->curve.step).subspan(n / 2), log_norm);
  const bool runs_away = norm->end > settings["growth"] * calm && (growth.rises(0.01) || norm->ends_nonfinite);

  const auto leaping = [&](double high) { return high > settings["leap"] * calm && high > settings["large"]; };
  const auto& highs = norm->curve.high;
  const auto leap_at = static_cast<std::size_t>(std::find_if(highs.begin(), highs.end(), leaping) - highs.begin());
  // A norm that falls from where it began has not leapt: a leap is one from a level that was there before it.
  std::size_t leap_count = 0;
  double lowest = norm->curve.value.front();
  for (std::size_t i = 0; i < n; ++i) {
    if (leaping(highs[i]) && highs[i] > settings["leap"] * lowest) ++leap_count;
    lowest = std::min(lowest, norm->curve.value[i]);
  }
  const bool harmed = leap_at < n && loss_harmed(patient, norm->curve.step[leap_at]);
  const double level = std::max(settings["absurd"], settings["leap"] * signal::quantile(usual, 0.75));
  const auto settled = static_cast<std::size_t>(settings["settling"]);
  const bool absurd = settled < n && std::any_of(highs.begin() + static_cast<std::ptrdiff_t>(settled), highs.end(),
                                                 [&](double high) { return high > level; });
  const bool leaps = harmed || absurd || static_cast<double>(leap_count) >= settings["leaps"];
  // The farther a norm is beyond any usual scale, the more the loss must have gained to speak for it.
  const double wanted_gain = settings["little_gain"] * (1 + 0.5 * std::log10(std::max(calm / settings["large"], 1.0)));
  const bool beyond = beyond_guessing(patient, settings["beyond_guessing"]);
  const bool large_throughout = calm > settings["large"] && (beyond || little_gained(patient, wanted_gain));
  if (!runs_away && !leaps && !large_throughout) return NotFound{};
  // A player's gradient is as large as the other one makes it.
  if (patient.adversarial() && !norm->ends_nonfinite && highest < settings["large"]) return NotFound{};

  std::size_t since = leaps ? leap_at : large_throughout ? 0 : n - 1;
  if (runs_away && !large_throughout) {
    while (since > 0 && norm->smoothed[since - 1] > 3 * calm) --since;
  }
  const std::int64_t from = norm->step_at(since);
  const double ratio = highest / calm;
  Observation seen = observe(
      runs_away || harmed ? Severity::critical : Severity::warning,
      confidence_of(large_throughout ? calm / settings["large"] : ratio / settings["growth"]), from, norm->last_step,
      large_throughout ? norm->name + " is " + number(calm) + " and more all along, and the loss " +
                             (beyond ? "stays far above that of guessing." : "hardly improves.")
                       : norm->name + " grew from " + number(calm) + " to " + number(highest) + " (" + times(ratio) +
                             ") from " + at_step(from) + " on.");
  seen.evidence.push_back(evidence(norm->name, from, norm->last_step, highest, settings["growth"] * calm,
                                   "highest norm " + number(highest) + " against a calm level of " + number(calm)));
  name_carriers(patient, highest, settings["carries"], seen);
  return seen;
}

}  // namespace

Finding exploding_gradients() {
  return {
      "exploding-gradients",
      "The gradient norm runs away",
      {Need::curve},
      kDoc,
      {{"fewest_points", 8, "below this growth cannot be told from noise"},
       {"growth", 30, "factor above the calm level that counts as running away; healthy drifts stay within about 10"},
       {"leap", 50, "factor above the calm level for single leaps"},
       {"leaps", 3, "leaps that count even when the loss shows no harm"},
       {"large", 100, "absolute norm that leaps must reach (seeds: alert above 100)"},
       {"absurd", 1e6,
        "norm of which a single one is an accident: no usual loss, summed over its tokens or not, has it"},
       {"settling", 20, "first values in which a loss scale may still be sought"},
       {"carries", 0.7, "share of the highest norm from which a layer is named: it alone is half of the square"},
       {"beyond_guessing", 3, "times the loss of a guess at which the loss of a classifier is far too large"},
       {"little_gain", 0.15, "share of its level that the loss must gain for a large norm to be a matter of scale"}},
      check};
}

}  // namespace osler::catalogue
