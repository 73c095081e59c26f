// Remedies that several causes share.
#include "diagnosis/remedy.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/configured.h"
#include "diagnosis/evidence/gradient_level.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/facts.h"
#include "diagnosis/rates.h"
#include "diagnosis/wording.h"
#include "signal/robust.h"

namespace osler {
namespace {

std::optional<double> configured_rate(const Patient& patient) {
  return configured_number(patient, {"learning_rate", "lr", "max_lr", "base_lr", "lr0", "peak_lr"});
}

Remedy change_rate(const Patient& patient, double factor, const std::string& verb) {
  const auto rate = peak_learning_rate(patient);
  if (!rate || !(*rate > 0)) return advice(verb + ".");
  const std::string from = number(*rate);
  const std::string to = number(*rate * factor);
  return change(verb + ": lr " + from + " -> " + to + ".", "lr", from, to);
}

/// " of step 4102", or nothing when no finding names a step.
std::string of_harm(const Verdicts& verdicts) {
  const auto step = first_harm(verdicts);
  return step ? " of " + at_step(*step) : "";
}

/// The norms up to the best loss: what came after it, where training broke, is what clipping is to prevent.
std::span<const double> calm_norms(const Patient& patient) {
  const Reading* norm = patient.gradient_norm();
  if (norm == nullptr || norm->curve.empty()) return {};
  const std::span<const double> all(norm->curve.value);
  const Reading* loss = patient.training();
  constexpr std::size_t kFewest = 5;
  if (loss == nullptr || loss->curve.empty()) return all;
  const std::size_t until = norm->index_at(loss->curve.step[loss->best_at]) + 1;
  return until < kFewest ? all : all.first(until);
}

}  // namespace

std::optional<double> learning_rate_at(const Patient& patient, double step) {
  const Reading* rate = patient.learning_rate();
  if (rate != nullptr && !rate->curve.empty()) return rate->curve.value[rate->index_at(step)];
  return configured_rate(patient);
}

std::optional<double> peak_learning_rate(const Patient& patient) {
  const Reading* rate = patient.learning_rate();
  if (rate != nullptr && !rate->curve.empty()) {
    return *std::max_element(rate->curve.high.begin(), rate->curve.high.end());
  }
  return configured_rate(patient);
}

std::optional<std::int64_t> first_harm(const Verdicts& verdicts) {
  std::optional<std::int64_t> first;
  for (const std::string_view id : {"loss-nonfinite-at-start", "loss-nonfinite-later", "loss-diverging", "loss-spikes",
                                    "exploding-gradients", "loss-scale-collapsing", "reward-collapse"}) {
    const Observation* seen = verdicts.found(id);
    if (seen != nullptr && (!first || seen->first_step < *first)) first = seen->first_step;
  }
  return first;
}

Remedy advice(std::string text) {
  Remedy remedy;
  remedy.text = std::move(text);
  return remedy;
}

Remedy change(std::string text, std::string name, std::string from, std::string to) {
  Remedy remedy = advice(std::move(text));
  remedy.change = Remedy::Change{std::move(name), std::move(from), std::move(to)};
  return remedy;
}

Remedy switch_to(std::string text, std::string name, std::string to) {
  return change(std::move(text), std::move(name), "", std::move(to));
}

Remedy divide_learning_rate(const Patient& patient, double factor) {
  return change_rate(patient, 1 / factor, "Divide the learning rate by " + number(factor));
}

Remedy multiply_learning_rate(const Patient& patient, double factor) {
  // Not beyond what works elsewhere: Devlin et al. 2019 fine-tune with 2e-5 to 5e-5, twice that is the most one meets.
  constexpr double kFineTuning = 1e-4;
  const double high = std::min(highest_usual_rate(patient), fine_tuning(patient) ? kFineTuning : 1.0);
  const auto rate = peak_learning_rate(patient);
  if (rate && *rate > 0 && *rate<high&& * rate * factor> high) {
    return change(
        "Raise the learning rate to the upper end of what is usual: lr " + number(*rate) + " -> " + number(high) + ".",
        "lr", number(*rate), number(high));
  }
  return change_rate(patient, factor, "Multiply the learning rate by " + number(factor));
}

Remedy test_learning_rates() {
  return advice(
      "Find the rate by a test: raise it from 1e-7 over 100 steps and take the one where the loss falls most steeply, "
      "about a tenth of the one where it turns up.");
}

Remedy warm_up(const Patient& patient) {
  constexpr double kLeastShare = 0.05;  // seeds: 5 to 10 % of training
  constexpr double kMostShare = 0.1;
  const StepRange range = patient.run().steps();
  const double length = configured_number(patient, {"max_steps", "total_steps", "num_training_steps", "max_iters"})
                            .value_or(static_cast<double>(range.last - range.first + 1));
  const double least = std::max(1.0, std::round(kLeastShare * length));
  const double most = std::max(least + 1, std::round(kMostShare * length));
  return change("Warm the learning rate up from near zero over the first " + number(least) + " to " + number(most) +
                    " steps (5 to 10 % of " + number(length) + ").",
                "warmup_steps", "", number(least));
}

Remedy clip_gradients(const Patient& patient) {
  const std::span<const double> norms = calm_norms(patient);
  const double calm = norms.empty() ? 0 : signal::median(norms_of_steps(norms));
  const bool before = patient.gradient_norm() != nullptr && norms.size() < patient.gradient_norm()->size();
  const auto set = clip_limit(patient);
  const std::string from = set ? number(*set) : "";
  if (!(calm > 0)) {
    return change("Clip the gradient by its global norm (not by value), at 1.0 to begin with.", "clip_norm", from, "1");
  }
  // The calm level, rounded up to one digit: clips the leaps and leaves ordinary steps alone.
  const double unit = std::pow(10.0, std::floor(std::log10(calm)));
  const std::string limit = number(std::ceil(calm / unit) * unit);
  return change("Clip the gradient by its global norm (not by value) at " + limit + ": the median norm " +
                    (before ? "up to the best loss" : "here") + " is " + number(calm) + ".",
                "clip_norm", from, limit);
}

Remedy widen(const Patient& patient, double factor, std::string text) {
  const auto width = configured_number(patient, {"width", "hidden_size", "hidden_dim", "n_embd", "d_model"});
  if (!width || !(*width > 0)) return advice(std::move(text));
  const double to = std::max(1.0, std::round(*width * factor));
  return change(text + " Width " + number(*width) + " -> " + number(to) + ".", "width", number(*width), number(to));
}

Remedy keep_best_checkpoint(const Patient& patient, const Verdicts& verdicts) {
  const Observation* seen = verdicts.found("overfitting");
  if (seen == nullptr) seen = verdicts.found("overconfidence");
  const std::string_view told = qualifier(seen, "best_step");
  const Reading* validation = patient.validation();
  std::string best(told);
  if (best.empty() && validation != nullptr && !validation->curve.empty()) {
    best = std::to_string(validation->step_at(validation->best_at));
  }
  if (best.empty()) return advice("Stop early: keep the checkpoint with the best validation result.");
  return change("Keep the checkpoint of step " + best + " and stop there next time (early stopping).", "stop_step",
                std::to_string(patient.run().steps().last), best);
}

Remedy regularise(const Patient& patient) {
  const auto decay = weight_decay(patient);
  const auto drop = dropout(patient);
  if (decay && *decay < 0.01) {
    return change("Regularise: weight decay " + number(*decay) +
                      " -> 0.01 to 0.1; dropout 0.1 to 0.5 and augmentation beside it.",
                  "weight_decay", number(*decay), "0.01");
  }
  if (drop && *drop < 0.3) {
    return change("Regularise: dropout " + number(*drop) + " -> " + number(*drop + 0.1) +
                      " or more; augmentation and label smoothing 0.1 beside it.",
                  "dropout", number(*drop), number(*drop + 0.1));
  }
  return advice("Regularise: weight decay 0.01 to 0.1, dropout 0.1 to 0.5, label smoothing 0.1, augmentation.");
}

Remedy return_to_checkpoint(const Verdicts& verdicts) {
  const auto step = first_harm(verdicts);
  if (!step) return advice("Go on from the last good checkpoint.");
  return advice("Go on from the last checkpoint before " + at_step(*step) + ": what was trained after it is damaged.");
}

Remedy initialise_for_activation() {
  return switch_to(
      "Initialise for the activation: He (std sqrt(2 / fan_in)) for ReLU and its kin, Xavier (std sqrt(2 / (fan_in + "
      "fan_out))) for tanh; never all equal.",
      "init", "he");
}

Remedy add_residual_connections() {
  return switch_to("Add residual connections, so that the gradient has a path around each layer.", "residual", "on");
}

Remedy replace_saturating_activations() {
  return switch_to("Use ReLU, GELU or SiLU in place of sigmoid or tanh.", "activation", "relu");
}

Remedy normalise_layers() {
  return switch_to("Normalise between layers: LayerNorm (before each block in a transformer), BatchNorm in a CNN.",
                   "normalization", "layer");
}

Remedy standardise_inputs() {
  return switch_to(
      "Bring the inputs to mean 0 and standard deviation 1 with the training set's statistics, and use the same ones "
      "for validation; scale regression targets likewise.",
      "input_normalization", "on");
}

Remedy check_batches(const Verdicts& verdicts) {
  return switch_to(
      "Check every batch before the forward pass (NaN, Inf, absolute values above 100, labels out of range) "
      "and look at the samples" +
          of_harm(verdicts) + ".",
      "check_batches", "on");
}

Remedy compute_loss_from_logits() {
  return switch_to(
      "Compute the loss from logits with the library's own function (cross_entropy, bce_with_logits): it never takes "
      "the logarithm of a probability.",
      "loss", "standard");
}

Remedy replay_break(const Verdicts& verdicts) {
  return advice("Replay the batch" + of_harm(verdicts) +
                " with NaN tracing (or autograd's anomaly mode): it names the first operation that fails.");
}

}  // namespace osler
