// updates-too-large: single steps rewrite the weights.
#include <algorithm>
#include <array>
#include <optional>

#include "diagnosis/evidence/solved.h"
#include "diagnosis/measuring.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"
#include "diagnosis/update_ratios.h"

namespace osler::catalogue {
namespace {

/// Optimizers that divide the gradient by its own size.
constexpr std::array<std::string_view, 5> kNormalised = {"adam", "rmsprop", "lion", "lamb", "adafactor"};

constexpr std::string_view kDoc = R"(
## What it is
Each update changes the weights by a large part of their own size.

## Signature
For three quarters of the run the update-to-weight ratio of a layer lies above `ratio`. It is a warning when the loss
does not clearly improve, or when it holds for at least `layers_share` of the layers; otherwise a note.

Adam, RMSprop, Lion and their kin move every weight by about the learning rate in each step, whatever the gradient. So a
rate above `rate` says the same without any ratio in the log: weights are of the size of 0.1 and less when training
begins. It is a warning unless the training set is solved all the same.

## Why it matters
A ratio of about 0.001 per step is healthy. At 0.1 ten steps replace a layer: nothing learned is kept, and the loss
jumps or diverges.

## When it is harmless
Layers that start at or near zero have large ratios in their first steps; biases and normalisation parameters are left
out. LBFGS searches along lines: its steps may be long while the loss falls.

## References
- Karpathy 2015, CS231n course notes: ratio of weights to updates.
- You, Gitman, Ginsburg 2017, Large Batch Training of Convolutional Networks.
- Kingma and Ba 2015, Adam, section 2.1: the size of a step is bounded by the rate.
- He et al. 2015, Delving Deep into Rectifiers: the size of weights at the start.
)";

/// Each step of the optimizer is about as long as the rate, in every weight, and the rate is larger than weights are.
std::optional<Observation> longer_than_weights(const Patient& patient, const SettingValues& settings) {
  const auto rate = highest_rate(patient);
  const std::string optimizer = optimizer_of(patient).value_or("");
  // Beside plain SGD the rate may be that of either.
  const bool normalised = optimizer.find("sgd") == std::string::npos &&
                          std::any_of(kNormalised.begin(), kNormalised.end(),
                                      [&](std::string_view name) { return optimizer.find(name) != std::string::npos; });
  const Reading* loss = patient.training();
  if (!rate || !normalised || *rate < settings["rate"] || loss == nullptr || loss->size() < settings["fewest_points"] ||
      solved(patient)) {
    return std::nullopt;
  }
  Observation seen =
      observe(Severity::warning, confidence_of(*rate / settings["rate"] + 1), loss->first_step, loss->last_step,
              "The learning rate is " + number(*rate) + ": each step of " + optimizer +
                  " moves every weight by about as much, and weights are mostly smaller than that.");
  const Reading* logged = patient.learning_rate();
  seen.evidence.push_back(evidence(logged != nullptr ? logged->name : loss->name, loss->first_step, loss->last_step,
                                   *rate, settings["rate"], "working set-ups have rates of 0.00001 to 0.005"));
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (auto seen = longer_than_weights(patient, settings)) return std::move(*seen);
  std::vector<UpdateRatio> ratios = update_ratios(patient, settings["fewest_points"]);
  if (ratios.empty()) {
    return NotChecked{"no update of a layer beside its weights with at least " + number(settings["fewest_points"]) +
                      " values"};
  }
  const auto all = static_cast<double>(ratios.size());
  std::erase_if(ratios, [&](const UpdateRatio& ratio) { return ratio.low <= settings["ratio"]; });
  if (ratios.empty()) return NotFound{};

  std::stable_sort(ratios.begin(), ratios.end(),
                   [](const UpdateRatio& a, const UpdateRatio& b) { return a.median > b.median; });
  // Each step of LBFGS is a search along a line, or many steps: it may go far and get somewhere.
  const bool searches = optimizer_of(patient).value_or("").find("lbfgs") != std::string::npos;
  const bool widespread = !searches && static_cast<double>(ratios.size()) >= settings["layers_share"] * all;
  const bool harmful = widespread || (patient.training() != nullptr && !training_improves(patient));
  const UpdateRatio& worst = ratios.front();
  Observation seen = observe(harmful ? Severity::warning : Severity::note,
                             confidence_of(worst.median / settings["ratio"]), worst.first_step, worst.last_step,
                             "Each step changes " + worst.layer + " by " + per_cent(worst.median) +
                                 " of its weights, about 0.1 % is healthy" +
                                 (ratios.size() > 1 ? "; so in " + std::to_string(ratios.size()) + " layers." : "."));
  name_layers(ratios, settings["ratio"], seen);
  return seen;
}

}  // namespace

Finding updates_too_large() {
  return {"updates-too-large",
          "Updates are too large against the weights",
          {Need::layer},
          kDoc,
          {{"fewest_points", 4, "logged updates needed to call it lasting"},
           {"ratio", 0.1, "update-to-weight ratio beyond which a few steps replace a layer (healthy: 1e-3)"},
           {"rate", 0.1, "learning rate of an optimizer with normalised steps that no weight is small enough for"},
           {"layers_share", 0.5, "share of the layers for which it is a warning whatever the loss does"}},
          check};
}

}  // namespace osler::catalogue
