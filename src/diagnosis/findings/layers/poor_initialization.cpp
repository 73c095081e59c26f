// poor-initialization: weights start at a size that does not fit their layer.
#include <algorithm>

#include "diagnosis/layers.h"
#include "diagnosis/movement.h"
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The weights of a layer start far larger or smaller than its number of inputs asks for, or all units start equal.

## Signature
The deviation of the first weights over that of He's rule, sqrt(2 / inputs), lies outside `least` to `most`; or the rows
of a weight matrix differ by less than `rows` of their size. Recurrent weights and embeddings follow other rules and are
left out. A layer of zeros is a note: residual branches start that way on purpose. So are weights that start small in a
training that clearly improves all the same.

## Why it matters
Signals and gradients grow or fade by that factor at every layer, forward and backward. Units that start equal receive
equal gradients and stay equal for ever.

## When it is harmless
Pretrained weights, single layers started at or near zero on purpose, and the small starts of narrow transformers, whose
normalisations make up for them.

## References
- He, Zhang, Ren, Sun 2015, Delving Deep into Rectifiers.
- Glorot, Bengio 2010, Understanding the Difficulty of Training Deep Feedforward Neural Networks.
)";

struct Start {
  std::string layer;
  Recorded record;
  bool equal_rows = false;
  bool zero = false;
};

/// The layers that start badly.
std::vector<Start> bad_starts(const Patient& patient, const SettingValues& settings) {
  std::vector<Start> bad;
  for (const std::string& layer : recorded_under(patient, series_name::kInitScaleOf)) {
    const auto scale = recorded(patient, series_name::completed(series_name::kInitScaleOf, layer));
    const auto rows = recorded(patient, series_name::completed(series_name::kInitRowsOf, layer));
    if (!scale || is_embedding(patient, layer)) continue;
    const bool zero = scale->highest == 0;
    const bool off = scale->highest < settings["least"] || scale->highest > settings["most"];
    const bool equal = !zero && rows && rows->highest < settings["rows"];
    if (off || equal) bad.push_back({layer, equal ? *rows : *scale, equal, zero});
  }
  return bad;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (recorded_under(patient, series_name::kInitScaleOf).empty()) {
    return NotChecked{"the first weights were not measured: the monitor in the training process does that"};
  }
  const std::vector<Start> bad = bad_starts(patient, settings);
  if (bad.empty()) return NotFound{};
  const auto worst = std::find_if(bad.begin(), bad.end(), [](const Start& start) { return !start.zero; });
  const Start& shown = worst == bad.end() ? bad.front() : *worst;
  const std::string how = shown.zero         ? "start at zero"
                          : shown.equal_rows ? "start with equal rows"
                                             : "start at " + times(shown.record.highest) + " the size that fits";
  // Small weights between normalisations do no harm: what they lead to decides.
  const bool small = std::all_of(bad.begin(), bad.end(), [&](const Start& start) {
    return !start.equal_rows && start.record.highest < settings["least"];
  });
  const bool harmless = shown.zero || (small && training_improves(patient));
  Observation seen = observe(harmless ? Severity::note : Severity::warning, shown.zero ? 0.6 : 0.9,
                             shown.record.first_step, shown.record.last_step,
                             "The weights of " + shown.layer + " " + how +
                                 (bad.size() > 1 ? "; so in " + std::to_string(bad.size()) + " layers." : "."));
  seen.qualifiers["kind"] = shown.zero ? "zero" : shown.equal_rows ? "equal rows" : "scale";
  for (const Start& start : bad) {
    seen.layers.push_back(start.layer);
    if (seen.evidence.size() >= 4) continue;
    seen.evidence.push_back(evidence(start.record.series, start.record.first_step, start.record.last_step,
                                     start.record.highest, settings[start.equal_rows ? "rows" : "most"],
                                     "measured before the first step: " + number(start.record.highest)));
  }
  return seen;
}

}  // namespace

Finding poor_initialization() {
  return {"poor-initialization",
          "Weights start at a size that does not fit",
          {Need::layer},
          kDoc,
          {{"least", 0.1, "smallest deviation over that of He's rule (chosen; PyTorch's default lies at 0.41)"},
           {"most", 10, "largest deviation over that of He's rule (chosen)"},
           {"rows", 1e-6, "share of their size by which the rows of a matrix must differ"}},
          check};
}

}  // namespace osler::catalogue
