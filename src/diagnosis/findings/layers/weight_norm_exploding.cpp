// weight-norm-exploding: the weights of a layer grow without bound.
#include <algorithm>
#include <cmath>

#include "diagnosis/layers.h"
#include "diagnosis/observe.h"
#include "diagnosis/recorded.h"
#include "diagnosis/weight_norms.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The norm of a layer's weights grows rapidly and shows no sign of levelling out.

## Signature
The norm has grown at least `growth` times above where it began (or above the usual initial size of the run's layers,
whichever is larger) and by `late_growth` over the last third of the run alone, with a significant trend; or it has
grown `explosion` times, however it got there; or it ended in NaN.

## Why it matters
Growing weights mean growing activations and logits: the loss surface sharpens, and overflow is next.

## When it is harmless
Norms grow slowly, like the square root of the steps, in healthy training, more so without weight decay. Biases, scales
and adapters start at or near zero and grow by any factor; they are measured against the other layers, and
weights that a monitor has seen start small against the usual size.

## References
- Merrill et al. 2021, Effects of Parameter Norm Growth During Transformer Training.
- Arora, Li, Lyu 2019, Theoretical Analysis of Auto Rate-Tuning by Batch Normalization.
)";

struct Grown {
  const WeightNorm* norm = nullptr;
  double growth = 0;
};

/// How many times its first size a layer must grow to reach the usual one: more than once where a monitor has seen it
/// start far below, as narrow transformers do.
double head_room(const Patient& patient, const std::string& layer, const SettingValues& settings) {
  const auto scale = recorded(patient, series_name::completed(series_name::kInitScaleOf, layer));
  if (!scale || !(scale->highest > 0) || scale->highest > settings["small_start"]) return 1;
  return settings["usual_start"] / scale->highest;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const WeightNorms norms = weight_norms(patient, settings["fewest_points"]);
  if (norms.layers.empty()) {
    return NotChecked{"no weight norm of a layer with at least " + number(settings["fewest_points"]) + " values"};
  }
  std::vector<Grown> grown;
  for (const WeightNorm& norm : norms.layers) {
    const double base = std::max(norm.early * head_room(patient, norm.layer, settings), norms.usual);
    if (!(base > 0)) continue;
    // A norm that stops being a number without having grown was spoiled, not blown up: that is weights-nonfinite.
    const bool grew = norm.late > settings["late_growth"] * base;
    const double growth = norm.ends_nonfinite && grew ? HUGE_VAL : norm.late / base;
    const bool runs_away = growth > settings["growth"] && norm.last_third > settings["late_growth"] &&
                           norm.trend.rises(settings["p_value"]);
    if (runs_away || growth > settings["explosion"]) grown.push_back({&norm, growth});
  }
  if (grown.empty()) return NotFound{};

  std::stable_sort(grown.begin(), grown.end(), [](const Grown& a, const Grown& b) { return a.growth > b.growth; });
  const WeightNorm& worst = *grown.front().norm;
  const bool critical = grown.front().growth > settings["explosion"];
  Observation seen =
      observe(critical ? Severity::critical : Severity::warning,
              confidence_of(grown.front().growth / settings["growth"]), worst.first_step, worst.last_step,
              "The weights of " + worst.layer + " grew from " + number(worst.early) + " to " + number(worst.late) +
                  " and keep growing" + (grown.size() > 1 ? "; " + std::to_string(grown.size()) + " layers do." : "."));
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < grown.size(); ++i) {
    const WeightNorm& norm = *grown[i].norm;
    seen.layers.push_back(norm.layer);
    if (i >= kShown) continue;
    seen.evidence.push_back(evidence(norm.series, norm.first_step, norm.last_step, norm.late,
                                     settings["growth"] * std::max(norm.early, norms.usual),
                                     "from " + number(norm.early) + " to " + number(norm.late) + ", " +
                                         times(norm.last_third) + " over the last third"));
  }
  return seen;
}

}  // namespace

Finding weight_norm_exploding() {
  return {"weight-norm-exploding",
          "The weights of a layer grow without bound",
          {Need::layer},
          kDoc,
          {{"fewest_points", 8, "logged norms needed to see growth"},
           {"growth", 10, "factor above the initial size; healthy training stays within about 3 to 5"},
           {"small_start", 0.2, "deviation over that of He's rule below which a layer starts small (chosen)"},
           {"usual_start", 0.41, "the same of PyTorch's default, up to which such a layer may grow first"},
           {"late_growth", 2, "factor over the last third of the run; growth like the square root gives 1.2"},
           {"p_value", 0.01, "significance of the growth"},
           {"explosion", 100, "factor that counts however it came about"}},
          check};
}

}  // namespace osler::catalogue
