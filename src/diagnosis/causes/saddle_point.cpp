// saddle-point: the gradient is near zero, but a way down exists.
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
At a saddle the gradient is zero while some directions still lead down. With many parameters such points far outnumber
local minima, and around them the surface is so flat that plain descent crawls for a long time before it finds the way
out.

## How it shows
A plateau, often ended by a sudden drop; a gradient norm far below its earlier level; a learning rate that is still
high. Typical for symmetric or zero initialisation, tied units and long-range tasks.

## What else looks like it
Convergence (no direction leads down), a spent learning rate (the gradient is not small), fading gradients (only the
early layers are small).

## References
- Dauphin et al. 2014, Identifying and Attacking the Saddle Point Problem in High-Dimensional Non-Convex Optimization.
- Jin et al. 2017, How to Escape Saddle Points Efficiently.
- Saxe, McClelland, Ganguli 2014, Exact Solutions to the Nonlinear Dynamics of Learning in Deep Linear Networks.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  const Reading* norm = patient.gradient_norm();
  if (norm != nullptr && !norm->curve.empty() && norm->top > 0) {
    const double left = norm->end / norm->top;
    if (left < 0.05) found.push_back({0.8, "the gradient norm is down to " + per_cent(left) + " of its highest level"});
  }
  weigh_ordinary_norms(patient, verdicts, -0.6, found);
  const auto schedule = rate_schedule(patient);
  if (schedule && schedule->left() < 0.05) {
    found.push_back({-0.6, "the learning rate is only " + per_cent(schedule->left()) + " of its peak"});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts& verdicts) {
  if (verdicts.found("saddle-point") != nullptr || !training_goes_on(patient, verdicts)) return std::nullopt;
  return fall_in_words(*patient.training()) + ": a saddle would hold training too";
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  return {multiply_learning_rate(patient, 3),
          advice("Add noise: a smaller batch, or a warm restart of the schedule, shakes the weights off the saddle."),
          switch_to("Use momentum 0.9 or Adam: both gather speed along the direction that leads down.", "optimizer",
                    "adam"),
          initialise_for_activation()};
}

}  // namespace

Cause saddle_point() {
  return {"saddle-point",
          "Training rests on a saddle point",
          kDoc,
          -3.3,
          {{"saddle-point", 5.0, -3.0, "a direction bends down where the gradient is near zero"},
           {"loss-plateau", 2.9, 0, "a saddle holds the loss in place for a long time"},
           {"loss-stuck-after-drop", 1.6, 0, "the first descent can end on a saddle"},
           {"loss-stuck-from-start", -0.5, 0, "most runs that never move have a simpler reason"},
           {"vanishing-gradients", 1.0, 0, "the gradient is near zero, as at any stationary point"},
           {"loss-too-slow", 0.6, 0, "leaving a saddle begins very slowly"},
           {"learning-rate-spent", -1.2, 0, "progress ended with the learning rate"},
           {"vanishing-by-depth", -0.8, 0, "only the early layers are small"},
           {"exploding-gradients", -2.5, 0, "the gradient is large"},
           {"loss-oscillating", -1.0, 0, "a saddle is calm"}},
          "curvature",
          "Measure the extreme Hessian eigenvalues: a small gradient with a clearly negative eigenvalue is a saddle.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
