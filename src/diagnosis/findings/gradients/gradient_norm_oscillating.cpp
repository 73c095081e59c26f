// gradient-norm-oscillating: the norm bounces between large and small.
#include <algorithm>
#include <cmath>

#include "diagnosis/domain.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"
#include "signal/oscillation.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The gradient norm jumps back and forth between large and small values, in a pattern and not at random.

## Signature
On a logarithmic scale the norms swing by a factor of `swing` to either side of the smoothed curve (10 to 90 per cent of them)
and the swings have structure that independent noise lacks: they turn at every step (more turning points than noise, by
`zigzag_z` standard errors), follow each other with opposite sign, or have a period. In long runs the newest norms are
judged, since averages over many steps would hide it. While the loss clearly improves it is a note.

## Why it matters
The optimizer overshoots: from one wall of the valley, where the gradient is large, across the bottom to the other. The
learning rate is at or beyond the limit that the curvature sets.

## When it is harmless
Norms scatter widely at random when batches are small. A run that has learned nearly all there is swings at its floor:
that is a note. Batches that alternate between two tasks or data sets alternate
in their norms as well.

## References
- LeCun, Bottou, Orr, Mueller 1998, Efficient BackProp.
- Cohen et al. 2021, Gradient Descent on Neural Networks Typically Occurs at the Edge of Stability.
)";

struct Norms {
  std::vector<double> logarithms;
  std::int64_t first_step = 0;
};

/// Single norms, not means over several: the whole run when it is short, its newest part otherwise.
Norms single_norms(const Patient& patient, const Reading& norm) {
  Norms norms;
  const auto take = [&](double step, double value) {
    if (!(value > 0) || !std::isfinite(value)) return;
    if (norms.logarithms.empty()) norms.first_step = std::llround(step);
    norms.logarithms.push_back(std::log(value));
  };
  const Series* series = patient.run().find(norm.name);
  if (series != nullptr && norm.curve.points() > static_cast<double>(norm.size())) {
    for (const Point& point : series->summary().recent()) take(static_cast<double>(point.step), point.value);
  } else {
    for (std::size_t i = 0; i < norm.size(); ++i) take(norm.curve.step[i], norm.curve.value[i]);
  }
  return norms;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (patient.adversarial()) return NotChecked{"networks play against each other: their gradients swing by design"};
  if (losses_take_turns(patient.run())) return NotChecked{"losses take turns: so do the sizes of their gradients"};
  const Reading* norm = patient.gradient_norm();
  if (norm == nullptr) return NotChecked{"no gradient norm in the log"};
  const Norms norms = single_norms(patient, *norm);
  if (static_cast<double>(norms.logarithms.size()) < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " gradient norms"};
  }
  const signal::Oscillation motion = signal::oscillation_of(norms.logarithms);
  const double swing = std::exp(motion.amplitude);
  const bool zigzags = motion.zigzag_z > settings["zigzag_z"] || motion.lag1 < -settings["alternation"];
  const bool periodic =
      motion.period_p_value < settings["p_value"] && motion.period < static_cast<double>(norms.logarithms.size()) / 8;
  if (swing < settings["swing"] || (!zigzags && !periodic)) return NotFound{};

  // Near the floor the steps of a constant rate are long against what is left to learn: gradients swing, the loss
  // hardly.
  const Reading* loss = patient.training();
  const bool learned =
      loss != nullptr && !loss->negated && loss->start > 0 && loss->end < settings["learned"] * loss->start;
  const double middle = std::exp(signal::median(norms.logarithms));
  Observation seen =
      observe(learned || training_improves(patient) ? Severity::note : Severity::warning,
              confidence_of(motion.amplitude / std::log(settings["swing"])), norms.first_step, norm->last_step,
              norm->name + " bounces between about " + number(middle / swing) + " and " + number(middle * swing) +
                  (zigzags ? " from step to step." : ", again and again."));
  seen.evidence.push_back(evidence(norm->name, norms.first_step, norm->last_step, swing, settings["swing"],
                                   "swings by " + times(swing) + " to either side; " + per_cent(motion.turning_share) +
                                       " of the values are turning points, 67 % would be chance"));
  return seen;
}

}  // namespace

Finding gradient_norm_oscillating() {
  return {"gradient-norm-oscillating",
          "The gradient norm bounces between large and small",
          {Need::curve},
          kDoc,
          {{"fewest_points", 30, "norms needed to tell a pattern from chance"},
           {"swing", 2.5,
            "factor to either side of the smoothed curve that counts as large; batch noise of norms is mostly below 2"},
           {"learned", 0.05, "share of its first loss to which a run has come that such swings do not hurt (chosen)"},
           {"zigzag_z", 5, "standard errors by which turning points must exceed those of independent noise"},
           {"alternation", 0.3, "negative correlation of neighbours that counts as bouncing"},
           {"p_value", 1e-6, "significance of a period (Fisher's g)"}},
          check};
}

}  // namespace osler::catalogue
