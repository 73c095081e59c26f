// Faults of rates, schedules, batches and updates.
#include <algorithm>
#include <array>
#include <cmath>

#include "faults.h"

namespace osler::population {
namespace {

constexpr std::string_view kUnstable =
    "loss-diverging loss-oscillating loss-nonfinite-at-start loss-nonfinite-later loss-stuck-from-start loss-spikes "
    "exploding-gradients gradient-nonfinite updates-too-large late-loss-variance gradient-norm-oscillating "
    "dead-neurons "
    "weight-norm-exploding weights-nonfinite loss-stuck-after-drop loss-plateau initial-loss-wrong logit-growth "
    "metric-contradicts-loss confidence-without-learning overconfidence underfitting exploding-activations";
constexpr std::string_view kSlow =
    "loss-too-slow loss-stuck-from-start underfitting updates-too-small loss-plateau loss-stuck-after-drop";
constexpr std::string_view kSpent =
    "learning-rate-spent learning-rate-zero loss-plateau loss-stuck-after-drop loss-too-slow underfitting "
    "updates-too-small "
    "loss-stuck-from-start weights-frozen";

bool always(const Recipe& /*recipe*/) {
  return true;
}
bool is_plain(const Recipe& recipe) {
  return recipe.rule == Rule::sgd || recipe.rule == Rule::momentum;
}
bool falls(const Recipe& recipe) {
  return recipe.schedule != Schedule::constant && recipe.schedule != Schedule::restarts;
}
void runs_through(Recipe& recipe, Random& /*random*/) {
  recipe.patience = 0;
}
/// A rate that does not fall by itself: a schedule would mend what a high rate breaks.
void mostly_constant(Recipe& recipe, Random& random) {
  recipe.patience = 0;
  if (random.chance(0.6)) recipe.schedule = Schedule::constant;
}
void uncut(Recipe& recipe, Random& /*random*/) {
  recipe.patience = 0;
  recipe.steps = recipe.horizon;
  recipe.resumed = 0;
}
std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

Planted raise_rate(Recipe& recipe, Random& random, double low, double high) {
  const double factor = random.log_between(low, high);
  recipe.rate *= factor;
  return {"learning rate x " + number(factor), 0};
}

void high_rate_with_warmup(Recipe& recipe, Random& random) {
  runs_through(recipe, random);
  recipe.schedule = Schedule::warmup_cosine;
  recipe.warmup = random.between(0.1, 0.2);
  recipe.norm_first = false;
  recipe.clip = 0;
  recipe.rule = random.one_of({Rule::adam, Rule::adamw});
  recipe.rate = random.log_between(1e-2, 3e-2);
  recipe.depth = random.whole(3, 4);
}

void plain_rule(Recipe& recipe, Random& random) {
  runs_through(recipe, random);
  if (is_plain(recipe)) return;
  recipe.rule = Rule::momentum;
  recipe.rate = random.log_between(0.01, 0.05);
  recipe.weight_decay = 0;
  recipe.sum = false;
}

/// Rare batches of extreme inputs that only clipping makes harmless.
void with_outliers(Recipe& recipe, Random& random) {
  plain_rule(recipe, random);
  recipe.clip = random.one_of({0.5, 1.0, 2.0});
  recipe.bad_every = std::max(10L, recipe.steps / random.whole(4, 12));
  recipe.bad_from = recipe.bad_every / 2;
  recipe.bad_scale = random.log_between(50, 1000);
  recipe.bad_labels = recipe.task != Task::contrastive;
  recipe.norm = recipe.norm == Norm::batch ? Norm::none : recipe.norm;
}

void resumed_half_way(Recipe& recipe, Random& random) {
  uncut(recipe, random);
  if (!falls(recipe))
    recipe.schedule = random.one_of({Schedule::cosine, Schedule::linear, Schedule::steps, Schedule::exponential});
  // The noise of a rate that is high again is felt where batches are small.
  recipe.batch = std::min(recipe.batch, recipe.norm == Norm::batch ? 16L : 8L);
  recipe.rate *= random.log_between(2, 4);
  recipe.resumed = static_cast<long>(static_cast<double>(recipe.steps) * random.between(0.7, 0.95));
}

Planted lose_schedule(Recipe& recipe, Random& /*random*/) {
  recipe.schedule_lost = true;
  return {"schedule and optimizer state start over at the resume", recipe.resumed};
}

constexpr std::array kFaults = {
    Fault{"lr-too-high-mild", "lr-too-high", "warmup-missing no-clipping", kUnstable, kRate | kConfig | kNorm, false, false, 2, always, mostly_constant,
          [](Recipe& recipe, Random& random) { return raise_rate(recipe, random, 12, 80); }},
    Fault{"lr-too-high-strong", "lr-too-high", "no-clipping exploding-signal dead-units", kUnstable, kRate | kConfig | kNorm, false, false, 2, always,
          mostly_constant, [](Recipe& recipe, Random& random) { return raise_rate(recipe, random, 80, 2000); }},
    Fault{"lr-too-low", "lr-too-low", "", kSlow, kRate | kConfig, false, false, 2, always, runs_through,
          [](Recipe& recipe, Random& random) {
            const double factor = random.log_between(30, 1000);
            recipe.rate /= factor;
            return Planted{"learning rate / " + number(factor), 0};
          }},
    Fault{"warmup-missing", "warmup-missing", "lr-too-high no-clipping",
          "no-warmup loss-spikes loss-diverging loss-stuck-from-start loss-stuck-after-drop loss-plateau exploding-gradients "
          "loss-too-slow loss-oscillating updates-too-large underfitting late-loss-variance attention-entropy-collapse",
          kRate | kConfig, false, false, 1.5, [](const Recipe& recipe) { return recipe.model == Model::transformer; }, high_rate_with_warmup,
          [](Recipe& recipe, Random& /*random*/) {
            recipe.warmup = 0;
            return Planted{"no warm-up", 0};
          }},
    Fault{"missing-zero-grad", "missing-zero-grad", "lr-too-high",
          "gradients-accumulating exploding-gradients loss-diverging loss-oscillating loss-nonfinite-later loss-spikes "
          "weight-norm-exploding late-loss-variance loss-plateau loss-stuck-after-drop loss-stuck-from-start gradient-norm-oscillating "
          "metric-contradicts-loss overconfidence gradient-nonfinite",
          kNorm | kLayers, false, true, 1.5, always,
          [](Recipe& recipe, Random& random) {
            runs_through(recipe, random);
            recipe.clip = random.chance(0.8) ? 0 : recipe.clip;
          },
          [](Recipe& recipe, Random& /*random*/) {
            recipe.keep_gradients = true;
            return Planted{"gradients are never cleared", 0};
          }},
    Fault{"batch-of-one", "batch-too-small", "lr-too-high",
          "loss-oscillating gradient-noise-dominates late-loss-variance loss-too-slow gradient-norm-oscillating loss-spikes loss-plateau "
          "loss-stuck-from-start loss-diverging underfitting loss-stuck-after-drop overfitting",
          kConfig | kNorm, false, false, 1.2,
          [](const Recipe& recipe) { return recipe.batch >= 32 && recipe.task != Task::contrastive && recipe.norm != Norm::batch; },
          runs_through,
          [](Recipe& recipe, Random& random) {
            recipe.batch = random.whole(1, 2);
            return Planted{"batch of " + std::to_string(recipe.batch), 0};
          }},
    Fault{"batch-too-large", "batch-too-large", "lr-too-low",
          "loss-too-slow underfitting loss-stuck-from-start loss-plateau updates-too-small", kConfig, false, false, 1,
          [](const Recipe& recipe) { return recipe.batch <= 64 && recipe.steps >= 300; },
          [](Recipe& recipe, Random& random) {
            uncut(recipe, random);
            recipe.samples = std::max(recipe.samples, 40 * recipe.batch);
          },
          [](Recipe& recipe, Random& /*random*/) {
            const long epochs = std::max(1L, recipe.steps / epoch_steps(recipe));
            recipe.batch = std::min(recipe.samples, 2000L);
            recipe.steps = recipe.horizon = std::max(6L, epochs * (recipe.samples / recipe.batch));
            recipe.evaluations = std::min(recipe.evaluations, recipe.steps);
            return Planted{"batch of " + std::to_string(recipe.batch) + ", as many epochs", 0};
          }},
    Fault{"clip-too-small", "clip-threshold-too-small", "lr-too-low",
          "clipping-always loss-too-slow updates-too-small loss-stuck-from-start underfitting loss-plateau", kConfig | kNorm, false, false, 1.5,
          [](const Recipe& recipe) { return is_plain(recipe); }, plain_rule,
          [](Recipe& recipe, Random& random) {
            recipe.clip = random.log_between(3e-4, 1e-2) * (recipe.sum ? static_cast<double>(recipe.batch) : 1);
            return Planted{"clip limit " + number(recipe.clip), 0};
          }},
    Fault{"no-clipping", "no-clipping", "corrupt-data lr-too-high",
          "loss-spikes clipping-never exploding-gradients loss-diverging loss-nonfinite-later gradient-nonfinite loss-stuck-after-drop "
          "loss-stuck-from-start loss-oscillating updates-too-large late-loss-variance loss-plateau weight-norm-exploding batch-extreme",
          kNorm | kConfig, false, false, 1.2,
          [](const Recipe& recipe) { return recipe.model != Model::lstm && recipe.model != Model::transformer && recipe.model != Model::recurrent; },
          with_outliers,
          [](Recipe& recipe, Random& /*random*/) {
            recipe.clip = 0;
            return Planted{"no clipping, with rare extreme batches", recipe.bad_from};
          }},
    Fault{"no-clipping-recurrent", "no-clipping", "lr-too-high exploding-signal",
          "loss-spikes clipping-never exploding-gradients loss-diverging loss-nonfinite-later gradient-nonfinite loss-stuck-after-drop "
          "loss-stuck-from-start loss-oscillating updates-too-large late-loss-variance loss-plateau",
          kNorm | kConfig, false, false, 0.6, [](const Recipe& recipe) { return recipe.model == Model::recurrent; },
          [](Recipe& recipe, Random& random) {
            plain_rule(recipe, random);
            recipe.gain = random.between(2, 3.5);
            recipe.rate = random.log_between(0.3, 1);
            recipe.clip = 0.25;
          },
          [](Recipe& recipe, Random& /*random*/) {
            recipe.clip = 0;
            return Planted{"no clipping in a recurrent network", 0};
          }},
    Fault{"schedule-lost", "scheduler-state-lost", "", "learning-rate-jump scheduler-not-checkpointed loss-spikes loss-stuck-after-drop "
          "late-loss-variance loss-diverging loss-plateau loss-oscillating", kRate, false, true, 2, [](const Recipe& recipe) { return recipe.steps >= 100; },
          resumed_half_way, lose_schedule},
    Fault{"decayed-too-fast", "lr-decayed-too-fast", "lr-too-low", kSpent, kRate, false, false, 1.5,
          [](const Recipe& recipe) { return recipe.steps >= 100; },
          [](Recipe& recipe, Random& random) {
            uncut(recipe, random);
            if (!falls(recipe)) recipe.schedule = random.one_of({Schedule::cosine, Schedule::linear, Schedule::exponential});
          },
          [](Recipe& recipe, Random& random) {
            recipe.schedule_pace = random.log_between(4, 25);
            return Planted{"schedule runs " + number(recipe.schedule_pace) + " times too fast",
                           static_cast<long>(static_cast<double>(recipe.horizon) / recipe.schedule_pace * 0.7)};
          }},
    Fault{"rate-zero", "lr-decayed-too-fast", "lr-too-low scheduler-state-lost", kSpent, kRate, false, false, 0.7, always, uncut,
          [](Recipe& recipe, Random& random) {
            recipe.rate_zero_from = std::max(1L, static_cast<long>(static_cast<double>(recipe.steps) * random.between(0.02, 0.3)));
            return Planted{"the rate is zero from a step on", recipe.rate_zero_from};
          }},
    Fault{"decay-too-strong", "too-much-regularization", "", "weight-norm-collapsing underfitting loss-plateau loss-stuck-from-start loss-too-slow "
          "loss-stuck-after-drop collapsed-representation vanishing-activations vanishing-gradients", kConfig | kLayers, false, false, 1.2, always, runs_through,
          [](Recipe& recipe, Random& random) {
            const bool decoupled = recipe.rule == Rule::adamw || recipe.rule == Rule::lion;
            recipe.weight_decay = decoupled ? random.log_between(0.03, 0.3) / recipe.rate : random.log_between(0.1, 1);
            return Planted{"weight decay " + number(recipe.weight_decay), 0};
          }},
    Fault{"coarse-weights", "low-precision-update", "lr-too-low lr-decayed-too-fast",
          "updates-lost-to-precision loss-plateau loss-too-slow loss-stuck-after-drop underfitting updates-too-small loss-stuck-from-start", kLayers, false, false, 0.8,
          always, [](Recipe& recipe, Random& random) {
            runs_through(recipe, random);
            recipe.steps = recipe.horizon = std::min(4000L, recipe.horizon * 2);
            recipe.rate *= random.log_between(0.15, 0.4);
          },
          [](Recipe& recipe, Random& /*random*/) {
            recipe.coarse_weights = true;
            return Planted{"weights are kept in bfloat16", 0};
          }},
    Fault{"fp16-overflow", "fp16-overflow", "exploding-signal lr-too-high",
          "loss-nonfinite-at-start loss-nonfinite-later gradient-nonfinite loss-scale-collapsing weights-nonfinite", kCurveOnly, false, false, 1, always,
          [](Recipe& recipe, Random& random) {
            runs_through(recipe, random);
            recipe.half_precision = true;
          },
          [](Recipe& recipe, Random& random) {
            recipe.loss_scale = random.log_between(1e7, 1e11);
            return Planted{"loss scale " + number(recipe.loss_scale) + " in half precision", 0};
          }},
};

}  // namespace

std::span<const Fault> faults_of_steps() {
  return kFaults;
}

}  // namespace osler::population
