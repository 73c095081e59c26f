// Set-up: what the log betrays of how training was set up, beyond its configuration.
#pragma once

#include <optional>

#include "diagnosis/patient.h"

namespace osler {

/// The number of samples per logged training accuracy, when it is 4 or fewer: every value is a multiple of 1/n.
/// Nothing where the accuracy takes finer values or hardly any.
[[nodiscard]] std::optional<int> samples_per_accuracy(const Patient& patient);

/// Training and validation have a value each in every row: a row is an epoch, and the training loss its mean.
[[nodiscard]] bool averages_epochs(const Patient& patient);

/// The loss is one that takes no logarithm: squared or absolute errors, or a hinge, by its name, the configuration, or
/// the metric beside it.
[[nodiscard]] bool loss_without_logarithm(const Patient& patient);

/// The configuration names the loss, and it is a cross-entropy.
[[nodiscard]] bool configured_cross_entropy(const Patient& patient);

/// Training starts from weights that were trained before: the log of a fine-tuning framework, or the configuration.
[[nodiscard]] bool fine_tuning(const Patient& patient);

/// The log of a language model ends within its first epoch, after fewer updates than any of them needs to show a trend.
[[nodiscard]] bool hardly_begun(const Patient& patient);

/// A short log of successive updates: every step is there, its batches scatter beside what was gained, and nothing
/// speaks of epochs.
[[nodiscard]] bool few_single_batches(const Patient& patient, const Reading& loss);

}  // namespace osler
