// Remedies with numbers taken from the run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnosis/patient.h"
#include "diagnosis/verdicts.h"
#include "osler/diagnosis/report.h"

namespace osler {

/// The learning rate in force at `step`: from the log, else from the configuration.
[[nodiscard]] std::optional<double> learning_rate_at(const Patient& patient, double step);
/// The highest learning rate of the run: from the log, else from the configuration.
[[nodiscard]] std::optional<double> peak_learning_rate(const Patient& patient);
/// The first step at which the loss or the gradient went wrong, by the findings that give one.
[[nodiscard]] std::optional<std::int64_t> first_harm(const Verdicts& verdicts);

/// A remedy without numbers.
[[nodiscard]] Remedy advice(std::string text);
/// A remedy that a program could carry out: the setting called `name` becomes `to`, a word.
[[nodiscard]] Remedy switch_to(std::string text, std::string name, std::string to);
/// A remedy that changes one named setting; `from` is empty when the log does not say.
[[nodiscard]] Remedy change(std::string text, std::string name, std::string from, std::string to);

/// "Lower the learning rate by `factor`": with the numbers where the log has them.
[[nodiscard]] Remedy divide_learning_rate(const Patient& patient, double factor);
[[nodiscard]] Remedy multiply_learning_rate(const Patient& patient, double factor);
/// Find the rate by the LR range test.
[[nodiscard]] Remedy test_learning_rates();
/// Reach the peak slowly: over the first 5 to 10 % of the steps.
[[nodiscard]] Remedy warm_up(const Patient& patient);
/// "Clip the global norm at ...": at about the calm level of the run's own norms, 1.0 where the log has none.
[[nodiscard]] Remedy clip_gradients(const Patient& patient);
/// Another width, by a factor, where the configuration has one; `text` says so in words.
[[nodiscard]] Remedy widen(const Patient& patient, double factor, std::string text);
/// Stop at the best validation and keep that checkpoint.
[[nodiscard]] Remedy keep_best_checkpoint(const Patient& patient, const Verdicts& verdicts);
/// Weight decay, dropout and augmentation, from what the configuration has of them.
[[nodiscard]] Remedy regularise(const Patient& patient);
/// Go on from before the harm was done.
[[nodiscard]] Remedy return_to_checkpoint(const Verdicts& verdicts);
/// Weights whose size fits the activation.
[[nodiscard]] Remedy initialise_for_activation();
[[nodiscard]] Remedy add_residual_connections();
[[nodiscard]] Remedy replace_saturating_activations();
[[nodiscard]] Remedy normalise_layers();
/// Inputs with mean 0 and standard deviation 1.
[[nodiscard]] Remedy standardise_inputs();
/// Refuse bad batches before the forward pass.
[[nodiscard]] Remedy check_batches(const Verdicts& verdicts);
/// The loss functions that take logits and stay finite.
[[nodiscard]] Remedy compute_loss_from_logits();
/// Replay the step that broke, to see which operation did it.
[[nodiscard]] Remedy replay_break(const Verdicts& verdicts);

}  // namespace osler
